// SPDX-License-Identifier: BSD-2-Clause
/* One selection for all sections, the keys, the address. */
const state = {
	kind: "", view: "graph", rootBelow: false, allFrames: false, reversed: false, byModule: false, zoom: null, pick: null, waits: new Set(), search: "", chosen: -1, range: null, lanes: "resource",
	by: "row", bars: "active", sort: ["active", -1], rowFilter: "", allRows: false, functionFilter: "", functionSort: "self", latency: "device_time", peerSort: ["waited", -1], allPeers: false
};

const KEYS = [["/", "search functions"], ["1 \u2026 4", "kinds of events"], ["f", "flame graph: arrows move, Enter zooms, Backspace goes out, Esc returns"], ["t", "table of functions with callers and callees"],
	      ["s", "callers and callees of the chosen frame"], ["i", "root below or on top"], ["v", "reversed: leaves with their callers"], ["m", "one frame for each module"], ["p", "all frames"], ["c", "copy the stack of the chosen frame"], ["d", "dark or light"], ["\u2190 \u2192", "on a handle of the time line: one slice, with Shift ten; on threads: the wait before or after, with Shift the picture moves"], ["\u2191 \u2193 + \u2212 0 w r", "on threads: another thread, zoom, show all, go to the waker, choose the time in view"], ["Esc", "remove the filters"], ["?", "this list"]];

const head = (id, title, ...tools) => el("div", {class: "ph"}, el("h2", {id: id + "-h"}, title), ...tools);
/* Draws a section anew; what had the focus has it again. */
function fill(id, ...children) {
	const section = $("#" + id), active = document.activeElement, had = active && section.contains(active);
	focused = had ? {key: keyOf(active), tag: active.tagName, caret: active.selectionStart} : null;
	section.setAttribute("aria-labelledby", id + "-h");
	section.replaceChildren(...children.flat(9).filter(Boolean));
	refocus(id);
}
const keyOf = element => element.dataset.key || element.getAttribute("aria-label") || element.textContent;
let focused = null;
/* Also for what is appended later than fill(). */
function refocus(id) {
	const again = focused && $$(focused.tag, $("#" + id)).find(element => keyOf(element) === focused.key), caret = focused && focused.caret;
	if (!again) return;
	focused = null;
	again.focus({preventScroll: true});
	if (caret !== null && caret !== undefined && again.setSelectionRange) again.setSelectionRange(caret, caret);
}
function choice(label, options, get, set) {
	return el("div", {class: "seg", role: "group", "aria-label": label}, options.map(([value, text, note]) =>
		el("button", {type: "button", "data-key": label + value, "aria-pressed": String(get() === value), onclick() { change(() => set(value)); }}, text, note ? el("span", {class: "n"}, note) : null)));
}

function showChips() {
	const chip = (text, remove) => el("button", {class: "chip", type: "button", "aria-label": "Remove filter " + text, onclick() { change(remove); }}, el("span", {}, text), el("i", {"aria-hidden": "true"}, "\u00d7"));
	const chips = [isWholeRange() ? null : chip(rangeText(), () => state.range = null), state.pick ? chip(state.pick.text, () => state.pick = null) : null].filter(Boolean);
	$("#chips").replaceChildren(...chips.length ? chips : [el("span", {class: "chip none"}, `whole interval, ${time(profile.durationNs)}, all processes`)]);
}
function change(how) {
	const y = scrollY;
	how();
	findHottest();
	showChips();
	showTimeLine();
	showLanes();
	showProcesses();
	showStacks();
	showLatency();
	showPeers();
	showRequests();
	showGpuCalls();
	showMemory();
	saveAddress();
	scrollTo(0, y);
}

function setTheme(theme) {
	document.documentElement.dataset.theme = theme;
	$("#theme").textContent = theme === "dark" ? "Light" : "Dark";
	readPalette();
	if (!profile) return;
	showTimeLine();
	showLanes();
	showStacks();
}
function swapTheme() {
	const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
	try { localStorage.pkbpfTheme = theme; } catch { /* then it holds for this page only */ }
	setTheme(theme);
}

function handleKey(event) {
	if (event.ctrlKey || event.metaKey || event.altKey || $("#help").open) return;
	if (event.target.matches("input")) {
		if (event.key === "Escape") event.target.blur();
		return;
	}
	const kind = profile.kindNames[event.key - 1];
	if (kind) change(() => state.kind = kind);
	else if (event.key === "/") {
		if (state.view !== "graph") change(() => state.view = "graph");
		if ($("#search")) $("#search").focus();
	} else if (event.key === "?") $("#help").showModal();
	else if (event.key === "f") {
		if (state.view !== "graph") change(() => state.view = "graph");
		if (graph) graph.scroller.focus();
	} else if (event.key === "t") change(() => state.view = "functions");
	else if (event.key === "i") change(() => state.rootBelow = !state.rootBelow);
	else if (event.key === "v") change(() => state.reversed = !state.reversed);
	else if (event.key === "m") change(() => state.byModule = !state.byModule);
	else if (event.key === "c" && graph) copyStack(graph);
	else if (event.key === "p") change(() => state.allFrames = !state.allFrames);
	else if (event.key === "d") swapTheme();
	else if (event.key === "Escape") change(() => { state.pick = null; state.range = null; });
	else return;
	event.preventDefault();
}

/* The section at the top of the window is the current one. */
function followSections() {
	const seen = new Set(), observer = new IntersectionObserver(entries => {
		for (const entry of entries) entry.isIntersecting ? seen.add(entry.target.id) : seen.delete(entry.target.id);
		const first = $$("section.p").find(section => seen.has(section.id));
		for (const link of $$(".bar nav a")) {
			if (first && link.getAttribute("href") === "#" + first.id) link.setAttribute("aria-current", "true");
			else link.removeAttribute("aria-current");
		}
	}, {rootMargin: "-60px 0px -70% 0px"});
	for (const section of $$("section.p")) observer.observe(section);
}

/* The address keeps what was chosen: links within the page go to their section without it. An address that is typed or pasted is heeded. */
function followAddress() {
	addEventListener("click", event => {
		const link = event.target.closest("a[href^='#']"), target = link && document.getElementById(link.getAttribute("href").slice(1));
		if (!target) return;
		event.preventDefault();
		target.scrollIntoView();
		if (target.tabIndex < 0) target.tabIndex = -1;
		target.focus({preventScroll: true});
	});
	addEventListener("hashchange", () => {
		loadAddress();
		change(() => {});
	});
}

function showSections() {
	for (const [id, isThere] of [["network", profile.report.peers], ["gpu-calls", profile.report.gpu_calls], ["memory", profile.report.memory_over_time], ["latency", profile.report.devices], ["requests", profile.report.requests], ["time", hasTimes()], ["threads", hasLanes()]])
		for (const element of $$(`#${id}, nav a[href='#${id}']`)) element.hidden = !isThere;
	showHeader();
	showResources();
	showFindings();
	showLosses();
}

/* What was chosen of one profile, in another one: rows and functions by their names. */
const rowKey = row => JSON.stringify([row.pid, row.tid, row.comm, row.container, row.region, row.name]);
function carryChosen(before) {
	const ids = new Map(profile.names.map((name, id) => [name, id]).reverse()), rows = new Map(profile.report.rows.map((row, i) => [rowKey(row), i])), idOf = id => ids.has(before.names[id]) ? ids.get(before.names[id]) : -1;
	if (state.pick) {
		const kept = [...state.pick.rows].map(row => rows.get(rowKey(before.report.rows[row]))).filter(row => row !== undefined);
		/* Of a process that has ended nothing is left: it stays chosen, and its graph says so. */
		state.pick = {rows: new Set(kept), text: state.pick.text};
	}
	if (state.zoom) {
		/* A profile that lacks the place does not end the wish for it. */
		const wished = state.zoom.wished || state.zoom.path.map(id => before.names[id]);
		state.zoom = {...state.zoom, wished, path: wished.map(name => ids.has(name) ? ids.get(name) : -1)};
	}
	state.chosen = state.chosen < 0 ? -1 : idOf(state.chosen);
	state.range = null;
	if (!profile.kindNames.includes(state.kind)) state.kind = profile.kindNames[0] || "";
	if (!before.kinds.offcpu && !state.waits.size) state.waits = new Set(usualWaits());
}
/* For the page of a history, which shows what is new without opening this one anew. */
async function renewProfile(text) {
	const before = profile, old = $("#data").textContent;
	if (!before) return;
	$("#data").textContent = text;
	try {
		profile = await readProfile();
	} catch (error) {
		$("#data").textContent = old;
		throw error;
	}
	carryChosen(before);
	showSections();
	change(() => {});
}

function open() {
	loadAddress();
	$("#load").remove();
	$("#page").hidden = false;
	$("#keys").append(...KEYS.flatMap(([key, text]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, text)]));
	$("#helpb").addEventListener("click", () => $("#help").showModal());
	$("#theme").addEventListener("click", swapTheme);
	$("#link").addEventListener("click", () => {
		saveAddress();
		copyText(location.href, "Link");
	});
	matchMedia("(prefers-color-scheme:dark)").addEventListener("change", event => {
		let chosen = null;
		try { chosen = localStorage.pkbpfTheme; } catch { /* none */ }
		if (!chosen) setTheme(event.matches ? "dark" : "light");
	});
	/* Paper is light. */
	let onScreen = "light";
	addEventListener("beforeprint", () => {
		onScreen = document.documentElement.dataset.theme;
		setTheme("light");
		/* No frame is drawn any more before the paper is. */
		if (graph) graph.paint();
	});
	addEventListener("afterprint", () => setTheme(onScreen));
	readPalette();
	$("#theme").textContent = document.documentElement.dataset.theme === "dark" ? "Light" : "Dark";
	showSections();
	change(() => {});
	addEventListener("keydown", handleKey);
	let width = innerWidth;
	addEventListener("resize", () => {
		if (width === innerWidth) return;
		width = innerWidth;
		showTimeLine();
		showLanes();
	});
	followSections();
	followAddress();
	performance.mark("ready");
}

(async () => {
	try {
		profile = await readProfile();
	} catch (error) {
		$("#load").textContent = "This report cannot be read: " + (typeof DecompressionStream === "undefined" ? "the browser is too old. Firefox 113, Chrome 103 and Safari 16.4 or newer can."
			: `the file is damaged or incomplete (${error.message}). Write it again.`);
		throw error;
	}
	open();
})();
