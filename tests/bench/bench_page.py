#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Measures how an HTML report behaves in headless Chromium: how long until it can be used, how long a zoom keeps it busy, and a search.
usage: bench_page.py PAGE.html [LOADS [ZOOMS]]

`bench_export 100000 1000000 html PAGE.html` makes one of 100,000 distinct stacks. Each row: median and worst by the page's own clock, from
its navigation or from the begin of a call until it is drawn."""
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
from browser import Browser  # noqa: E402

READY = """
return new Promise(done => {
	const look = () => document.getElementById("page").hidden ? setTimeout(look, 2) : requestAnimationFrame(() => done(performance.now()));
	look();
})"""

# How long each frame takes while the graph moves to a node on the heaviest path, and back.
ZOOM = """
const times = [], plain = graph.paint, {tree} = graph.model, path = [];
graph.paint = function (...all) {
	const begin = performance.now();
	plain.apply(this, all);
	times.push(performance.now() - begin);
};
for (let node = 1; path.length < 12 && tree.end[node] > node + 1; node++) path.push(node);
let turn = 0;
return new Promise(done => {
	const next = () => {
		if (turn === arguments[0]) {
			graph.paint = plain;
			done(times);
			return;
		}
		graph.zoom(turn % 2 ? 0 : path[turn % path.length]);
		turn++;
		setTimeout(next, 220);
	};
	next();
});"""

SEARCH = """
const begin = performance.now();
searchTree(modelOf(state.kind), "function_" + arguments[0]);
return performance.now() - begin"""


def row(name, times):
    print(f"{name:<40}{statistics.median(times):8.0f} ms{max(times):8.0f} ms")


def load(browser, page):
    browser.open("about:blank")
    browser.open("file://" + page)
    return browser.run(READY)


def main():
    page = os.path.abspath(sys.argv[1])
    loads = int(sys.argv[2]) if len(sys.argv) > 2 else 6
    zooms = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    with Browser(1280, 900) as browser:
        row("until it can be used", [load(browser, page) for _ in range(loads)])
        print(f"{browser.run('return graph.model.tree.length'):,} nodes")
        row("a frame of a zoom", browser.run(ZOOM, zooms))
        row("a search", [browser.run(SEARCH, number) for number in range(7, 77, 10)])


main()
