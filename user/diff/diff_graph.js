// SPDX-License-Identifier: BSD-2-Clause
/* One side of a comparison, as #side=base or #side=new says, and one zoom with the other side. */
(function () {
const root = document.documentElement, graph = root.flameGraph, side = new URLSearchParams(location.hash.slice(1)).get("side");
if (side === "base" || side === "new") {
	for (const f of graph.frames) [f.x, f.w] = f.e.dataset[side].split(" ").map(Number);
	const [title, base, next] = graph.head, whole = /^(.*?), base (.*?), new (.*?) per (.*?)(,|$)/.exec(title.text);
	if (whole) title.text = `${whole[1]}, ${side} ${side === "base" ? whole[2] : whole[3]} per ${whole[4]}`;
	title.e.textContent = title.text;
	/* The line of the other side makes room for the legend, which wraps here. */
	(side === "base" ? next : base).e.remove();
	next.e.setAttribute("y", 40);
	document.getElementById("width").remove();
	/* A frame that is being laid out is narrow for a moment. */
	const keys = [...document.querySelectorAll("#head .key")], lengths = keys.map((key, i) => i + 1 < keys.length ? keys[i + 1].getAttribute("x") - key.getAttribute("x") : 60), rows = [51, 69];
	const placeKeys = () => {
		let x = 10, row = 0;
		keys.forEach((key, i) => {
			if (x > 10 && x + lengths[i] > root.clientWidth && row === 0) [x, row] = [10, 1];
			key.setAttribute("x", x);
			key.setAttribute("y", rows[row]);
			key.nextElementSibling.setAttribute("x", x + 15);
			key.nextElementSibling.setAttribute("y", rows[row] + 9);
			x += lengths[i];
		});
	};
	placeKeys();
	addEventListener("resize", placeKeys);
	graph.draw();
}
root.addEventListener("zoomed", event => { if (parent !== window) parent.postMessage({zoom: event.detail}, "*"); });
addEventListener("message", event => {
	if (event.source === parent && event.data && graph.frames[event.data.zoom]) graph.show(event.data.zoom);
});
})();
