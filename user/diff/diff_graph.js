// SPDX-License-Identifier: BSD-2-Clause
/* One side of a comparison, as #side=base or #side=new says, and one zoom with the other side. */
(function () {
const root = document.documentElement, graph = root.flameGraph, places = [], side = new URLSearchParams(location.hash.slice(1)).get("side");
if (side === "base" || side === "new") {
	for (const f of graph.frames) [f.x, f.w] = f.e.dataset[side].split(" ").map(Number);
	const [title, base, next] = graph.head, whole = /^(.*?), base (.*?), new (.*?) per (.*?)(,|$)/.exec(title.text);
	if (whole) title.text = `${whole[1]}, ${side} ${side === "base" ? whole[2] : whole[3]} per ${whole[4]}`;
	title.e.textContent = title.text;
	/* The line of the other side makes room for the legend, which wraps here. */
	(side === "base" ? next : base).e.remove();
	next.e.setAttribute("y", 40);
	document.getElementById("width").remove();
	const keys = [...document.querySelectorAll("#head .key")], room = root.clientWidth - 170, rows = [46, 64];
	let x = 10, row = 0;
	keys.forEach((key, i) => {
		const text = key.nextElementSibling, columns = i + 1 < keys.length ? keys[i + 1].getAttribute("x") - key.getAttribute("x") : 60;
		if (x > 10 && x > room && row === 0) [x, row] = [10, 1];
		places.push([key, text, x, rows[row]]);
		x += columns;
	});
	for (const [key, text, left, top] of places) {
		key.setAttribute("x", left);
		key.setAttribute("y", top);
		text.setAttribute("x", left + 15);
		text.setAttribute("y", top + 9);
	}
	graph.draw();
}
root.addEventListener("zoomed", event => { if (parent !== window) parent.postMessage({zoom: event.detail}, "*"); });
addEventListener("message", event => {
	if (event.source === parent && event.data && graph.frames[event.data.zoom]) graph.show(event.data.zoom);
});
})();
