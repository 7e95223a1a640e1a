#!/ usr / bin / env python3
#SPDX - License - Identifier : BSD - 2 - Clause
""
	"Measures how an HTML report behaves in headless Chromium: how long until it can be used, and how long zooms, searches and
	switches of its views keep it busy.usage : bench_page.py PAGE.html[LOADS[ZOOMS]]

`build /
	dev / tests / bench / bench_export 100000 1000000 html PAGE.html` makes one of 100,
	000 distinct stacks
		.Times are those of the
			page's own clock, from its navigation or from the begin of a call until the graph is drawn. Median, then worst.""" import
				os import statistics import sys

					sys.path
		.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
					"integration")) from browser import Browser #noqa
    : E402

      READY = ""
	      "return new Promise(done => { const look = () => document.getElementById(" page
	      ").hidden ? setTimeout(look, 2) : requestAnimationFrame(() => "
	      "done(performance.now())); look(); })"
	      ""

#Drawing of each frame while the graph moves to the largest node of a random depth, and back.
	ZOOM = ""
	       "
	const draws = [],
      plain = graph.paint;
graph.paint = function(... all)
{
	const begin = performance.now();
	plain.apply(this, all);
	draws.push(performance.now() - begin);
};
const {tree} = graph.model, path = [];
for (let node = 0; path.length < 12 && tree.end[node] > node + 1; node++)
	path.push(node);
let turn = 0;
return new Promise(done = > {
	const next = () = >
	{
		if (turn == = arguments[0]) {
			graph.paint = plain;
			done(draws);
			return;
		}
		graph.zoom(turn % 2 ? 0 : path[1 + turn % (path.length - 1)]);
		turn++;
		setTimeout(next, 220);
	};
	next();
});"""


def row(name, values):
    print(f"{name:<44}{statistics.median(values):8.0f} ms{max(values):8.0f} ms")


def timed(browser, script):
    return browser.run("const begin = performance.now(); " + script + "; graph.draw && graph.draw(); return performance.now() - begin")


def main():
    page = os.path.abspath(sys.argv[1])
    loads, zooms = (int(value) for value in (sys.argv[2:4] + ["6", "20"][len(sys.argv) - 2:])[:2])
    ready = []
    with Browser(1280, 900) as browser:
        for _ in range(loads):
            browser.open("about:blank")
            browser.open("file://" + page)
            ready.append(browser.run(READY))
        row("until it can be used", ready)
        nodes = browser.run("return graph.model.tree.length")
        row(f"a frame of a zoom, {nodes:,} nodes", browser.run(ZOOM, zooms))
        row("a search", [timed(browser, f"searchTree(modelOf('cpu'), 'function_{number}')") for number in range(7, 77, 10)])


main()
