// SPDX-License-Identifier: BSD-2-Clause
/* One side of a comparison, as #side=base or #side=new says, and one zoom with the other side. */
(function () {
const root = document.documentElement, graph = root.flameGraph, side = new URLSearchParams(location.hash.slice(1)).get("side");
if (side === "base" || side === "new") {
	for (const f of graph.frames) [f.x, f.w] = f.e.dataset[side].split(" ").map(Number);
	const title = document.querySelector("#head .title");
	title.textContent = (side === "base" ? "Base of " : "New of ") + title.textContent;
	document.getElementById("width").remove();
	graph.draw();
}
root.addEventListener("zoomed", event => { if (parent !== window) parent.postMessage({zoom: event.detail}, "*"); });
addEventListener("message", event => {
	if (event.source === parent && event.data && graph.frames[event.data.zoom]) graph.show(event.data.zoom);
});
})();
