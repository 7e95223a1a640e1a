// SPDX-License-Identifier: BSD-2-Clause
/* The section of lanes: the picture, what it says of a moment, and the same as tables. */
const LANE_ROWS = 200;
const LANE_HINTS = [" Wheel, + and \u2212 zoom; a drag chooses the slices that it touches; a click shows what a thread did.", " Two fingers zoom, one moves the picture; a tap shows what a thread did."];
const hasLanes = () => profile.lanes && profile.lanes.waits > 0;
/* What the picture shows; it stays when all is drawn anew. */
const laneState = {by: "process", isTable: false, from: 0, to: 0, whole: 0, cursor: null, moved() {}, chosen() {}};
let laneView = null;

const atTime = ns => (ns / 1e9).toFixed(6) + NARROW + "s";
/* The slices that an interval touches. */
function rangeOfTimes(from, to) {
	if (!hasTimes()) return null;
	let first = 0, end = profile.slices.length;
	while (first < end - 1 && profile.slices[first][1] <= from) first++;
	while (end > first + 1 && profile.slices[end - 1][0] >= to) end--;
	return rangeBetween(first, end);
}

/* In words, as the events say it. */
function momentText(lanes, moment) {
	const length = moment.end - moment.begin;
	if (moment.wait < 0) {
		const rest = length - moment.ran, few = `waits ${lanes.missing ? "that are shorter or missing" : "of less than " + time(lanes.leastNs)}`;
		return `on a CPU for ${time(moment.ran)} of ${time(length)}` + (rest >= 1 ? `; ${few} for the rest` : "");
	}
	const wait = moment.wait, cause = lanes.causes[lanes.cause[wait]], queue = lanes.queue[wait];
	if (lanes.state[wait] === 1) return `in the run queue for ${time(lanes.length[wait])}: preempted, or new`;
	return `${lanes.state[wait] === 5 ? "stopped by a signal, a debugger or a freezer" : `${cause} (${WAIT_NAMES[lanes.state[wait]]})`} for ${time(lanes.length[wait])}` + (queue ? `, then in the run queue for ${time(queue)}` : "");
}

const laneName = (lane, tid) => lane ? `${profile.lanes.threads[lane - 1].comm} ${tid}` : `thread ${tid}, which was not recorded`;
function laneLink(text, lane, ns) {
	return lane ? el("button", {class: "link", type: "button", onclick() {
		laneView.choose(profile.lanes.threads[lane - 1], ns);
		laneView.canvas.focus({preventScroll: true});
	}}, text) : text;
}
function wakeLine(lanes, wait) {
	const waker = lanes.waker[wait], lane = lanes.wakerLane[wait], ns = lanes.begin[wait] + lanes.length[wait];
	if (!lanes.wake[wait]) return null;
	if (lanes.wake[wait] === WAKE_THREAD) return el("p", {}, "Woken by ", laneLink(laneName(lane, waker), lane, ns), ".");
	return el("p", {}, "Woken in an interrupt (a timer, a device, the network)" + (waker ? " or a page fault, while " : ", on an idle CPU."), waker ? [laneLink(laneName(lane, waker), lane, ns), " ran."] : null);
}

function describeMoment(lanes, {lane, ns}) {
	const moment = laneMoment(lanes, lane, ns), title = el("h3", {}, `${lane.comm} ${lane.tid} at ${atTime(ns)}`);
	if (!moment) return [title];
	const {wait} = moment, stack = wait >= 0 ? lanes.stack[wait] : moment.sample >= 0 ? lanes.sampleStack[moment.sample] : -1, frames = stack < 0 ? [] : laneStack(lanes, stack);
	return [title, el("p", {}, capital(momentText(lanes, moment)) + "."), el("p", {class: "sub num"}, `From ${atTime(moment.begin)} to ${atTime(moment.end)}.`), wait >= 0 ? wakeLine(lanes, wait) : null,
		wait >= 0 && lanes.owner[wait] ? el("p", {}, "When it began, the lock was held by ", laneLink(laneName(lanes.ownerLane[wait], lanes.owner[wait]), lanes.ownerLane[wait], lanes.begin[wait]), ".") : null,
		frames.length ? el("p", {class: "sub num"}, wait >= 0 ? "Stack of the wait " : `Stack of the CPU sample at ${atTime(lanes.sampleBegin[moment.sample])} `, el("button", {class: "link", type: "button", onclick() { copyText(frames.map(frameLine).concat(title.textContent).join("\n").replaceAll(NARROW, " ") + "\n", "Stack"); }}, "Copy stack")) : el("p", {class: "sub"}, wait >= 0 ? "Without a stack." : "No CPU sample was taken in this time."),
		el("ol", {class: "frames"}, frames.map(name => el("li", {}, el("code", {}, profile.names[name]))))];
}

/* ---- tables ---- */

function laneTable(lanes, groups, from, to) {
	const all = groups.flatMap(group => group.lanes.map(lane => ({group, lane}))), kinds = LANE_ORDER.filter(kind => all.some(({lane}) => sumBetween(lanes, lane, lane.begin, lane.end)[kind] > 0));
	const line = ({group, lane}) => {
		const sums = sumBetween(lanes, lane, from, to);
		return el("tr", {}, el("td", {class: "l"}, el("button", {class: "link", type: "button", onclick() { laneView.choose(lane, Math.max(lane.begin, laneState.from)); }}, `${lane.comm} ${lane.tid}`)), el("td", {class: "l muted"}, group.title), el("td", {}, atTime(lane.begin)), el("td", {}, atTime(lane.end)),
			kinds.map(kind => el("td", {}, cell(sums[kind], time))));
	};
	return el("div", {class: "scroll"}, el("table", {class: "num"}, el("caption", {class: "sub"}, `What each thread did from ${atTime(from)} to ${atTime(to)}` + (all.length > LANE_ROWS ? `; the first ${LANE_ROWS} of ${count(all.length)} threads` : "")),
		el("thead", {}, el("tr", {}, ["Thread", "Of", "Begin", "End"].concat(kinds.map(kind => capital(LANE_KINDS[kind][0]))).map((text, i) => el("th", {scope: "col", class: i < 2 ? "l" : null}, text)))), el("tbody", {}, all.slice(0, LANE_ROWS).map(line))));
}

/* Waits of the chosen thread in the picture. */
function waitTable(lanes, lane, from, to) {
	const first = Math.max(0, waitAt(lanes, lane, from)), end = waitAt(lanes, lane, to) + 1, shown = Array.from({length: Math.max(0, Math.min(LANE_ROWS, end - first))}, (_, i) => first + i);
	const line = at => {
		const wait = lane.first + at, frames = laneStack(lanes, lanes.stack[wait]);
		return el("tr", {}, el("td", {}, atTime(lanes.begin[wait])), el("td", {}, time(lanes.length[wait])), el("td", {}, cell(lanes.queue[wait], time)), el("td", {class: "l"}, LANE_KINDS[lanes.kind[wait]][0]), el("td", {class: "l"}, lanes.state[wait] === 1 ? "" : lanes.causes[lanes.cause[wait]]),
			el("td", {class: "l"}, lanes.wake[wait] === WAKE_THREAD ? laneName(lanes.wakerLane[wait], lanes.waker[wait]) : lanes.wake[wait] ? "an interrupt" : ""), el("td", {class: "l"}, frames.length ? profile.names[frames[0]] : ""));
	};
	return el("div", {class: "scroll"}, el("table", {class: "num"}, el("caption", {class: "sub"}, `Waits of ${lane.comm} ${lane.tid} in this time` + (end - first > LANE_ROWS ? `; the first ${LANE_ROWS} of ${count(end - first)}` : "")),
		el("thead", {}, el("tr", {}, ["Begin", "Length", "Run queue", "Kind", "For", "Woken by", "Function"].map((text, i) => el("th", {scope: "col", class: i > 2 ? "l" : null}, text)))), el("tbody", {}, shown.map(line))));
}

/* ---- the section ---- */

function laneNote(lanes) {
	const all = lanes.waits + lanes.samples, parts = [`${plural(lanes.waits, "waits")} of ${time(lanes.leastNs)} or more and ${plural(lanes.samples, "CPU samples")} of ${plural(lanes.threads.length, "threads")}.`];
	if (lanes.missing) parts.push(`${count(all)} of ${count(all + lanes.missing)} events are shown: there was no room for ${count(lanes.missing)}.`);
	if (lanes.threads.some(lane => !lane.isComplete)) parts.push("Of some threads begin and end are not known: their lanes go from their first event to their last.");
	if (lanes.regions.length) parts.push(`Above lanes: the ${lanes.regions.length} slowest regions.`);
	return parts.join(" ");
}
function laneTools(redraw) {
	const view = (text, label, act) => el("button", {class: "btn", type: "button", "aria-label": label, onclick: act}, text), middle = () => (laneState.from + laneState.to) / 2;
	return [choice("Group", [["process", "Process"], ["container", "Container"], ["name", "Name"]], () => laneState.by, value => laneState.by = value),
		el("div", {class: "tools"}, view("\u2212", "Zoom out", () => laneView.zoom(2, middle())), view("+", "Zoom in", () => laneView.zoom(.5, middle())), view("\u2190", "Earlier", () => laneView.pan(-.5)), view("\u2192", "Later", () => laneView.pan(.5)),
			view("All", "The whole time", () => laneView.show(0, laneState.whole)), hasTimes() ? view("Choose", "Choose this time as the range of the page", () => change(() => state.range = rangeOfTimes(laneState.from, laneState.to))) : null,
			el("button", {class: "btn", type: "button", "aria-pressed": String(laneState.isTable), onclick() { laneState.isTable = !laneState.isTable; redraw(); }}, "Table"))];
}

function boundLanes() {
	if (laneState.whole) return;
	laneState.whole = profile.lanes.threads.reduce((end, lane) => Math.max(end, lane.end), 1);
	laneState.to = laneState.whole;
}
function showLanes() {
	if (!hasLanes()) return;
	const {lanes} = profile, box = el("div", {class: "pb"}), text = el("div", {class: "moment", id: "lane-text", "aria-live": "polite"}), tables = el("div", {}), scroll = laneView ? laneView.scroller.scrollTop : 0;
	boundLanes();
	const groups = groupLanes(lanes, laneState.by, lane => lane.row < 0 || isPickedRow(lane.row)), legend = el("div", {class: "key"}, LANE_ORDER.map(kind => el("span", {}, el("i", {style: `background:var(--s-${LANE_KINDS[kind][1]})`}), LANE_KINDS[kind][0])));
	fill("threads", head("threads", "Threads", laneTools(showLanes)), el("div", {class: "pb"}, legend, el("p", {class: "sub", style: "margin-top:6px"}, laneNote(lanes), LANE_HINTS[Number(matchMedia("(pointer:coarse)").matches)])), box);
	laneView = new LaneView(lanes, groups, box, laneState);
	laneView.scroller.scrollTop = scroll;
	box.append(text, tables);
	const showTables = () => tables.replaceChildren(...laneState.isTable ? [laneTable(lanes, groups, laneState.from, laneState.to), laneState.cursor ? waitTable(lanes, laneState.cursor.lane, laneState.from, laneState.to) : ""] : []);
	let asked = 0;
	laneState.moved = () => {
		saveAddressSoon();
		if (!laneState.isTable) return;
		clearTimeout(asked);
		asked = setTimeout(showTables, 150);
	};
	laneState.chosen = () => {
		text.replaceChildren(...laneState.cursor ? describeMoment(lanes, laneState.cursor).filter(Boolean) : []);
		laneState.moved();
	};
	laneState.chosen();
	if (laneState.isTable) showTables();
	refocus("threads");
}
