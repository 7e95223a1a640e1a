// SPDX-License-Identifier: BSD-2-Clause
"use strict";
(function () {
const root = document.documentElement, NS = root.namespaceURI;
const id = name => document.getElementById(name);
const status = id("status"), share = id("share");
const COLUMN = 6.63;
const frames = [...id("frames").children].map((e, i) => ({
	e, i, x: parseFloat(e.getAttribute("x")), w: parseFloat(e.getAttribute("width")),
	y: +e.getAttribute("y"), text: e.querySelector("text"),
	title: e.querySelector("title").textContent, name: e.querySelector("title").textContent.split("\n")[0]
}));
const path = [];
frames.forEach(f => {
	f.depth = Math.round(Math.abs(f.y - frames[0].y) / 20);
	f.parent = f.depth ? path[f.depth - 1] : -1;
	path[f.depth] = f.i;
	f.end = f.i + 1;
	for (let p = f.parent; p >= 0; p = frames[p].parent) frames[p].end = f.end;
});
let zoomed = 0, current = 0, term = "";

function label(name, columns) {
	columns = Math.floor(columns);
	if (columns < 4) return "";
	let n = [...name].length;
	const file = n > columns && /^(\S+) \([^()]*\)$/.exec(name);
	if (file) {
		name = file[1];
		n = [...name].length;
	} else if (n > columns) {
		let out = "", depth = 0;
		for (let i = 0; i < name.length; i++) {
			const c = name[i];
			if (depth) depth += c === "<" || c === "(" ? 1 : (c === ">" && name[i - 1] !== "-") || c === ")" ? -1 : 0;
			else if ((c === "<" || c === "(") && /([\w>\u0080-\uffff]|\boperator\W+)$/.test(name.slice(0, i)) && !/\boperator$/.test(name.slice(0, i))) depth = 1;
			else out += c;
		}
		if (!depth) name = out;
		n = [...name].length;
	}
	if (n <= columns) return name;
	for (let i = 1; i < name.length; i++) {
		const rest = name.startsWith("::", i) ? name.slice(i + 2) : name[i] === "." || name[i] === "/" ? name.slice(i + 1) : "";
		if (rest && !/^(\d|part|isra|constprop|cold|lto_priv|llvm|(so|py|cpython)\b)/.test(rest) && [...rest].length < columns) return "\u2026" + rest;
	}
	return [...name].slice(0, columns - 1).join("") + "\u2026";
}

/* Lines of the head end where the window or the search does. */
const head = [...document.querySelectorAll("#head>.title,#head>.line")].filter(e => !e.id && !e.previousElementSibling.matches(".key")).map(e => ({e, text: e.textContent, isTitle: e.matches(".title")}));
function fitHead() {
	const width = root.clientWidth || 1200;
	for (const line of head) {
		const columns = Math.max(8, Math.floor(line.isTitle ? (width - 240) / 8.4 : (width - 20) / 6.6));
		if (line.text.length > columns) line.e.textContent = line.text.slice(0, columns - 1) + "\u2026";
		else if (line.e.textContent !== line.text) line.e.textContent = line.text;
	}
}

function draw() {
	fitHead();
	/* In a comparison, a frame may have no width on one side. */
	const z = frames[zoomed], whole = z.w || 1, width = root.clientWidth || 1200;
	frames.forEach(f => {
		const above = f.i < zoomed && f.end > zoomed, inside = f.i >= zoomed && f.i < z.end;
		const x = above ? 0 : (f.x - z.x) / whole * 100, w = above ? 100 : f.w / whole * 100;
		f.e.style.display = above || (inside && w * width > 30) ? "" : "none";
		if (!above && !inside) return;
		f.e.setAttribute("x", x + "%");
		f.e.setAttribute("width", w + "%");
		f.e.classList.toggle("above", above);
		f.text.textContent = label(f.name, (w * width / 100 - 6) / COLUMN);
	});
}

function matcher() {
	if (!term) return null;
	try {
		if (/^\/.+\/$/.test(term)) { const r = new RegExp(term.slice(1, -1), "i"); return n => r.test(n); }
	} catch (e) { /* half typed: taken literally */ }
	const t = term.toLowerCase();
	return n => n.toLowerCase().includes(t);
}

function search() {
	const test = matcher();
	let sum = 0, done = 0;
	const below = new Array(frames.length + 1).fill(0);
	frames.forEach((f, i) => {
		f.hit = !!test && i > 0 && test(f.name);
		below[i + 1] = below[i] + f.hit;
		/* Each stack once: the outermost match counts. */
		if (f.hit && i >= done) { sum += f.w; done = f.end; }
	});
	frames.forEach(f => {
		let bar = f.e.querySelector(".mark");
		f.e.classList.toggle("faded", !!test && below[f.end] === below[f.i]);
		if (bar && !f.hit) bar.remove();
		if (bar || !f.hit) return;
		bar = document.createElementNS(NS, "rect");
		bar.setAttribute("class", "mark");
		bar.setAttribute("y", 16);
		bar.setAttribute("width", "100%");
		bar.setAttribute("height", 3);
		f.e.append(bar);
	});
	share.textContent = test ? "matched " + sum.toFixed(1) + "%" : "";
}

function save() {
	const p = [];
	if (zoomed) p.push("zoom=" + zoomed);
	if (term && !/^\/.+\/$/.test(term)) p.push("search=" + encodeURIComponent(term));
	try { history.replaceState(null, "", "#" + p.join("&")); } catch (e) { /* some viewers have no address */ }
}

function load() {
	const p = new URLSearchParams(location.hash.slice(1));
	zoomed = Math.min(Math.max(p.get("zoom") | 0, 0), frames.length - 1);
	/* Of a link no expression: some take for ever. */
	field.value = term = (p.get("search") || "").replace(/^\/.+\/$/s, "");
	draw();
	search();
}

function tell(f) {
	status.textContent = f.title.replace(/\n/g, " \u2013 ") +
		(zoomed && f.i >= zoomed ? ", " + (f.w / (frames[zoomed].w || 1) * 100).toFixed(1) + "% of the zoom" : "");
}

function move(i) {
	if (i === undefined || i < 0 || i >= frames.length || frames[i].e.style.display === "none") return;
	frames[current].e.setAttribute("tabindex", -1);
	current = i;
	frames[i].e.setAttribute("tabindex", 0);
	frames[i].e.focus();
	tell(frames[i]);
}

function show(i) {
	zoomed = i;
	draw();
	save();
}

function zoom(i) {
	show(i);
	move(i);
	root.dispatchEvent(new CustomEvent("zoomed", {detail: i}));
}

function sibling(step) {
	const f = frames[current];
	for (let i = current + step; i > f.parent && i < frames[Math.max(f.parent, 0)].end; i += step)
		if (frames[i].parent === f.parent) return i;
}

const foreign = document.createElementNS(NS, "foreignObject"), field = document.createElementNS("http://www.w3.org/1999/xhtml", "input");
foreign.setAttribute("x", "100%");
foreign.setAttribute("y", 6);
foreign.setAttribute("width", 210);
foreign.setAttribute("height", 28);
foreign.setAttribute("transform", "translate(-220)");
field.type = "search";
field.placeholder = "Search ( / )";
field.setAttribute("aria-label", "Search functions");
field.style.cssText = "width:200px;font:12px system-ui,sans-serif";
foreign.append(field);
id("head").append(foreign);
field.addEventListener("input", () => { term = field.value; search(); save(); });
field.addEventListener("keydown", e => { e.stopPropagation(); if (e.key === "Escape" || e.key === "Enter") move(current); });

const frame = e => frames.find(f => f.e === e.target.closest("#frames>svg"));
id("frames").addEventListener("click", e => { const f = frame(e); if (f) zoom(f.i); });
id("frames").addEventListener("mouseover", e => { const f = frame(e); if (f) tell(f); });
root.addEventListener("keydown", e => {
	const up = root.dataset.icicle ? "ArrowUp" : "ArrowDown", down = root.dataset.icicle ? "ArrowDown" : "ArrowUp";
	if (e.key === "/" || (e.key === "f" && e.ctrlKey)) field.focus();
	else if (e.ctrlKey || e.altKey || e.metaKey) return;
	else if (e.key === up) move(frames[current].parent);
	else if (e.key === down) move(frames[current].end > current + 1 ? current + 1 : -1);
	else if (e.key === "ArrowLeft") move(sibling(-1));
	else if (e.key === "ArrowRight") move(sibling(1));
	else if (e.key === "Enter") zoom(current);
	else if (e.key === "Backspace") zoom(Math.max(frames[zoomed].parent, 0));
	else if (e.key === "Escape") { field.value = term = ""; search(); zoom(0); }
	else return;
	e.preventDefault();
});
const stick = () => id("head").setAttribute("transform", "translate(0," + scrollY + ")");
addEventListener("scroll", stick);
addEventListener("resize", draw);
addEventListener("hashchange", load);
addEventListener("beforeprint", () => { root.setAttribute("viewBox", "0 0 " + root.clientWidth + " " + root.getAttribute("height")); });
addEventListener("afterprint", () => root.removeAttribute("viewBox"));
root.removeAttribute("viewBox");
root.setAttribute("width", "100%");
root.setAttribute("role", "application");
root.setAttribute("aria-roledescription", "flame graph");
frames[0].e.setAttribute("tabindex", 0);
load();
root.flameGraph = {frames, draw, show, head};
if (!root.dataset.icicle) scrollTo(0, root.getAttribute("height"));
})();
