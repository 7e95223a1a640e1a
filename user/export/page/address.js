// SPDX-License-Identifier: BSD-2-Clause
/* What is chosen, in the address: whoever opens it sees the same. And texts to copy. */

/* A link brings no expressions: some take for ever, and links are not trusted. */
const literalSearch = text => /^\/.+\/$/s.test(text) ? "" : text;
/* Numbers of a link, "1.20.300": as many as there may be, none below zero; null: something else stands there. */
function numbersOf(text, least, most) {
	const numbers = text ? text.split(".") : [];
	return numbers.length >= least && numbers.length <= most && numbers.every(number => /^\d{1,15}$/.test(number)) ? numbers.map(Number) : null;
}
/* What stands in an address when it is chosen: [name, key of the state]. */
const SWITCHES = [["reversed", "reversed"], ["modules", "byModule"], ["frames", "allFrames"], ["below", "rootBelow"]];
const usualWaits = () => profile.kinds.offcpu ? profile.kinds.offcpu.states.filter(name => name !== "sleep") : [];

function addressOf() {
	const address = new URLSearchParams(), usual = usualWaits();
	if (state.pick) {
		address.set("rows", [...state.pick.rows].join("."));
		address.set("name", state.pick.text);
	}
	if (state.range) address.set("range", state.range.join("."));
	if (state.kind !== profile.kindNames[0]) address.set("kind", state.kind);
	if (state.view !== "graph") address.set("view", state.view);
	for (const [name, key] of SWITCHES) if (state[key]) address.set(name, "1");
	if (usual.length !== state.waits.size || usual.some(name => !state.waits.has(name))) address.set("waits", [...state.waits].join("."));
	if (state.view === "functions" && state.chosen >= 0) address.set("function", state.chosen);
	if (state.zoom && state.zoom.kind === state.kind) address.set("zoom", state.zoom.path.join("."));
	if (literalSearch(state.search)) address.set("search", state.search);
	if (hasLanes()) addLaneAddress(address);
	return address;
}
/* By the picture's times in ns; the thread by its number in the file. */
function addLaneAddress(address) {
	const {by, from, to, whole, cursor} = laneState;
	if (by !== "process") address.set("group", by);
	if (whole && (from > 0 || to < whole)) address.set("lanes", [from, to].map(Math.round).join("."));
	if (cursor) address.set("moment", [cursor.lane.index, cursor.ns].map(Math.round).join("."));
}
let addressAsked = 0;
function saveAddress() {
	clearTimeout(addressAsked);
	addressAsked = 0;
	try { history.replaceState(null, "", "#" + addressOf()); } catch { /* a page in a frame may have no address */ }
}
/* While something moves: browsers allow few changes of the address. */
function saveAddressSoon() {
	clearTimeout(addressAsked);
	addressAsked = setTimeout(saveAddress, 300);
}

/* Whatever an address says that this profile does not have is left out. */
function loadAddress() {
	const address = new URLSearchParams(location.hash.slice(1)), get = name => address.get(name) || "";
	const rows = (numbersOf(get("rows"), 1, 1e6) || []).filter(row => profile.report.rows[row]), range = numbersOf(get("range"), 2, 2), zoom = numbersOf(get("zoom"), 1, DEEPEST), chosen = numbersOf(get("function"), 1, 1);
	state.kind = profile.kindNames.includes(get("kind")) ? get("kind") : profile.kindNames[0] || "";
	state.view = ["functions", "lines"].includes(get("view")) ? get("view") : "graph";
	for (const [name, key] of SWITCHES) state[key] = get(name) === "1";
	state.waits = new Set(address.has("waits") && profile.kinds.offcpu ? get("waits").split(".").filter(name => profile.kinds.offcpu.states.includes(name)) : usualWaits());
	state.search = literalSearch(get("search"));
	state.range = hasTimes() && range && range[0] < range[1] ? rangeBetween(...range) : null;
	state.pick = rows.length ? {rows: new Set(rows), text: get("name") || "chosen rows"} : null;
	state.chosen = chosen && chosen[0] < profile.names.length ? chosen[0] : -1;
	state.zoom = state.kind && zoom ? {kind: state.kind, key: shapeKey(), path: zoom} : null;
	if (hasLanes()) loadLaneAddress(get);
}
function loadLaneAddress(get) {
	const view = numbersOf(get("lanes"), 2, 2), moment = numbersOf(get("moment"), 2, 2), lane = moment && profile.lanes.threads[moment[0]];
	boundLanes();
	laneState.by = ["container", "name"].includes(get("group")) ? get("group") : "process";
	const [from, to] = view && view[0] < view[1] && view[1] - view[0] >= LANE_SPAN_LEAST && view[1] <= laneState.whole ? view : [0, laneState.whole];
	Object.assign(laneState, {from, to, cursor: lane ? {lane, ns: Math.max(lane.begin, Math.min(lane.end, moment[1]))} : null});
}

/* ---- to copy ---- */

/* What a terminal would act on, and what turns text around. */
const plainText = text => text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, "?");
async function copyText(text, what) {
	let isCopied = true;
	try {
		await navigator.clipboard.writeText(text);
	} catch {
		/* Without a secure context, or where a frame may not. */
		const area = el("textarea", {value: text, style: "position:fixed;opacity:0", "aria-hidden": "true"}), active = document.activeElement;
		document.body.append(area);
		area.select();
		isCopied = document.execCommand("copy");
		area.remove();
		if (active) active.focus({preventScroll: true});
	}
	$("#copied").textContent = isCopied ? what + " copied" : "The browser does not allow to copy";
	setTimeout(() => $("#copied").textContent = "", 3000);
	return isCopied;
}
/* One frame a line, leaf first, as in the stacks of debuggers. */
const frameLine = id => plainText(profile.names[id].replace(/[\t\n]/g, "?") + (profile.modules[id] && !profile.names[id].includes(profile.modules[id]) ? ` (${profile.modules[id].replace(/[\t\n]/g, "?")})` : ""));
function stackText(flame, node) {
	const {tree, total, isReversed} = flame.model, path = [];
	for (let i = node; i > 0; i = tree.parent[i]) path.push(frameLine(tree.name[i]));
	if (isReversed) path.reverse();
	return [...path, `${profile.kinds[flame.kind].title}: ${flame.options.format(total[node])}, ${percent(total[node] / total[0])}`].join("\n").replaceAll(NARROW, " ") + "\n";
}
const copyStack = flame => flame && copyText(stackText(flame, flame.selected || flame.zoomed), "Stack");
