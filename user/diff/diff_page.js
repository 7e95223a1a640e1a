// SPDX-License-Identifier: BSD-2-Clause
/* Each graph as wide as base and new together, as one of them, or both beside each other with one zoom. */
"use strict";
(function () {
const views = [["Base + new", [""]], ["Base", ["base"]], ["New", ["new"]], ["Side by side", ["base", "new"]]];
for (const graph of document.querySelectorAll(".graph")) {
	const first = graph.querySelector("iframe"), source = first.src, title = first.title, bar = document.createElement("p");
	bar.className = "views";
	bar.setAttribute("role", "group");
	bar.setAttribute("aria-label", "Width of frames");
	for (const [name, sides] of views) {
		const button = document.createElement("button");
		button.type = "button";
		button.textContent = name;
		button.setAttribute("aria-pressed", sides[0] === "");
		button.addEventListener("click", () => {
			for (const other of bar.children) other.setAttribute("aria-pressed", other === button);
			graph.querySelectorAll("iframe").forEach(frame => frame.remove());
			for (const side of sides) {
				const frame = document.createElement("iframe");
				frame.title = title + (side ? ", " + side : "");
				frame.style.cssText = first.style.cssText;
				frame.src = source + (side ? "#side=" + side : "");
				graph.querySelector(".sides").append(frame);
			}
		});
		bar.append(button);
	}
	graph.prepend(bar);
}
addEventListener("message", event => {
	for (const graph of document.querySelectorAll(".graph")) {
		const windows = [...graph.querySelectorAll("iframe")].map(frame => frame.contentWindow);
		if (windows.includes(event.source)) windows.forEach(other => { if (other !== event.source) other.postMessage(event.data, "*"); });
	}
});
})();
