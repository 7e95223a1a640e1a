// SPDX-License-Identifier: BSD-2-Clause
/* How the weights lie in time: lanes of the chosen rows, and a range of slices that everything else
 * follows. */
const LANE_HEIGHT = 38, ROW_LANE_HEIGHT = 24, LANE_GAP = 7, ROW_LANES = 7, AXIS_HEIGHT = 20;
const hasTimes = () => profile.slices.length > 1;
const isWholeRange = () => !state.range;
const rangeOf = () => state.range || [0, profile.slices.length];
const sliceLength = index => Math.max(1, profile.slices[index][1] - profile.slices[index][0]);
/* Nanoseconds that were recorded in the range. */
function rangeNs() {
	if (isWholeRange()) return profile.durationNs;
	let sum = 0;
	for (let i = state.range[0]; i < state.range[1]; i++) sum += sliceLength(i);
	return sum;
}
function rangeText() {
	const [from, to] = rangeOf(), seconds = ns => (ns / 1e9).toFixed(profile.slices[1][0] < 5e8 ? 2 : 1);
	return `${seconds(profile.slices[from][0])} \u2013 ${seconds(profile.slices[to - 1][1])}${NARROW}s`;
}
/* Of a whole number of slices, at least one; null is all. */
function rangeBetween(from, to) {
	const count = profile.slices.length, first = Math.max(0, Math.min(count - 1, from)), end = Math.max(first + 1, Math.min(count, to));
	return first === 0 && end === count ? null : [first, end];
}

/* Levels at the end of the range: parts are their changes. */
function eachLevel(kind, take) {
	const levels = new Float64Array(kind.value.length), end = state.range[1];
	for (let i = 0; i < kind.part.length; i++) if (kind.slice[i] < end) levels[kind.part[i]] += kind.weight[i];
	/* Changes are rounded to single precision. */
	for (let i = 0; i < levels.length; i++) if (levels[i] >= 1) take(i, levels[i]);
}

/* take(value, weight) of everything of a kind that lies in the range. */
function eachValue(kind, take) {
	if (isWholeRange()) {
		for (let i = 0; i < kind.value.length; i++) take(i, kind.value[i]);
		return;
	}
	if (kind.is_level) {
		eachLevel(kind, take);
		return;
	}
	const [from, to] = state.range;
	for (let i = 0; i < kind.part.length; i++) if (kind.slice[i] >= from && kind.slice[i] < to) take(kind.part[i], kind.weight[i]);
}

/* What one nanosecond of each slice holds of a kind: threads, CPUs or requests; events of a second when it counts events. */
function timesOf(kindName, isWanted) {
	const kind = profile.kinds[kindName], sums = new Float64Array(profile.slices.length), hz = profile.report.sampling && profile.report.sampling.frequency_hz;
	if (!kind) return sums;
	const scale = kind.is_time ? 1 : kindName === "cpu" && hz ? 1e9 / hz : 1e9;
	for (let i = 0; i < kind.part.length; i++) if (isWanted(kind.row[kind.part[i]], kind.state[kind.part[i]])) sums[kind.slice[i]] += kind.weight[i] * scale;
	for (let i = 0; i < sums.length; i++) sums[i] /= sliceLength(i);
	return sums;
}

const waitState = name => profile.kinds.offcpu ? profile.kinds.offcpu.states.indexOf(name) : -1;
const isPickedRow = row => !state.pick || state.pick.rows.has(row);
const few = value => value >= 100 ? count(value) : value >= 10 ? value.toFixed(1) : value >= .01 || !value ? value.toFixed(2) : "<0.01";

function resourceLanes() {
	const lanes = [], add = (title, unit, kindName, parts, least, format) => profile.kinds[kindName] && lanes.push({title, unit, parts, least, format, height: LANE_HEIGHT});
	const waits = name => timesOf("offcpu", (row, index) => isPickedRow(row) && index === waitState(name));
	add("On-CPU", "CPUs", "cpu", [[timesOf("cpu", isPickedRow), "--s-on"]], profile.report.host.cpus || 1, few);
	add("Run queue", "threads", "offcpu", [[waits("runqueue"), "--s-rq"]], 0, few);
	add("Disk wait", "threads", "offcpu", [[waits("disk"), "--s-dk"]], 0, few);
	add("Block I/O", "in flight", "blockio", [[timesOf("blockio", isPickedRow), "--edge"]], 0, few);
	add("Page faults", "faults/s", "faults", [[timesOf("faults", isPickedRow), "--edge"]], 0, count);
	if (state.waits.has("sleep")) add("Sleep", "threads", "offcpu", [[waits("sleep"), "--s-sl"]], 0, few);
	return lanes;
}

/* The names that were active most, each with its states. */
function rowLanes() {
	const names = new Map(), states = [["cpu", -1, "--s-on"], ["offcpu", waitState("runqueue"), "--s-rq"], ["offcpu", waitState("disk"), "--s-dk"]];
	profile.report.rows.forEach((row, index) => {
		if (!isPickedRow(index)) return;
		const name = nameOf(row);
		if (!names.has(name)) names.set(name, {rows: new Set(), active: 0});
		const item = names.get(name);
		item.rows.add(index);
		item.active += (onCpu(row) || 0) + (at(row, "waiting", "runqueue_ns") || 0) + (at(row, "offcpu", "disk_ns") || 0);
	});
	return [...names].sort((a, b) => b[1].active - a[1].active).slice(0, ROW_LANES).map(([title, item]) => ({
		title, unit: "threads", least: 0, format: few, height: ROW_LANE_HEIGHT,
		parts: states.filter(([kindName]) => profile.kinds[kindName]).map(([kindName, wanted, color]) => [timesOf(kindName, (row, index) => item.rows.has(row) && (wanted < 0 || index === wanted)), color])
	}));
}

const sumAt = (lane, index) => lane.parts.reduce((sum, [values]) => sum + values[index], 0);

/* Draws a lane as steps, one part on the other. */
function drawLane(svg, lane, top, {left, right, x}) {
	const {slices} = profile, base = new Float64Array(slices.length), peak = slices.reduce((most, _, i) => Math.max(most, sumAt(lane, i)), 0);
	/* What there is of it at most, where that does not make lines of steps. */
	const isNearLeast = peak > lane.least / 4, most = (isNearLeast ? Math.max(lane.least, peak) : peak) || 1;
	const y = value => (top + lane.height - value / most * (lane.height - 2)).toFixed(1);
	const isTall = lane.height > 30, isNarrow = left < 120;
	/* A long name ends where its figure begins. */
	const room = isTall ? 22 : isNarrow ? 8 : 14, title = lane.title.length > room ? lane.title.slice(0, room - 1) + "\u2026" : lane.title;
	svg.append(el("text", {class: "lab", x: 0, y: top + 13}, title, el("title", {}, lane.title)));
	svg.append(isTall ? el("text", {x: 0, y: top + 27}, `peak ${lane.format(peak)}` + (isNarrow ? "" : " " + lane.unit)) : el("text", {x: left - 10, y: top + 13, "text-anchor": "end"}, lane.format(peak)));
	for (const [values, color] of lane.parts) {
		let path = "";
		for (let i = 0; i < slices.length; i++) {
			if (!values[i]) continue;
			const from = x(slices[i][0]).toFixed(1), to = x(slices[i][1]).toFixed(1);
			path += `M${from} ${y(base[i])}V${y(base[i] + values[i])}H${to}V${y(base[i])}Z`;
			base[i] += values[i];
		}
		if (path) svg.append(el("path", {d: path, style: `fill:var(${color})`, "shape-rendering": "crispEdges"}));
	}
	svg.append(el("line", {class: "axis", x1: left, x2: right, y1: top + lane.height + .5, y2: top + lane.height + .5}));
	if (lane.least && isNearLeast && peak <= lane.least * 1.5) svg.append(el("line", {class: "cap", x1: left, x2: right, y1: y(lane.least), y2: y(lane.least)}));
}

/* Marks at round times, as many as have room. */
function drawAxis(svg, {left, right, x}, bottom) {
	const whole = profile.slices[profile.slices.length - 1][1], wanted = whole / Math.max(2, (right - left) / 90);
	let step = 10 ** Math.floor(Math.log10(wanted));
	step *= [1, 2, 5, 10].find(times => step * times >= wanted);
	for (let at = 0; at <= whole; at += step) {
		const place = x(at), seconds = +(at / 1e9).toPrecision(6);
		svg.append(el("line", {class: "axis", x1: place, x2: place, y1: 0, y2: bottom}));
		if (place < right - 12) svg.append(el("text", {x: place, y: bottom + 14, "text-anchor": at ? "middle" : "start"}, at ? seconds : "0 s"));
	}
}

/* The range as handles, with what lies outside of it covered. */
class Brush {
	constructor(svg, scale, bottom) {
		Object.assign(this, {svg, scale});
		this.covers = [0, 1].map(() => el("rect", {class: "out", y: 0, height: bottom}));
		this.handles = [0, 1].map(which => el("rect", {class: "hd", y: 0, width: 3, height: bottom, rx: 1.5, tabindex: "0", role: "slider", "data-key": "handle" + which,
			"aria-label": which ? "End of the range" : "Begin of the range", "aria-valuemin": 0, "aria-valuemax": profile.slices.length, onkeydown: event => this.key(event, which)}));
		this.svg.append(...this.covers, ...this.handles);
		this.svg.addEventListener("pointerdown", event => this.press(event));
		this.place();
	}

	place() {
		const {left, right, x} = this.scale, [from, to] = rangeOf(), places = [x(profile.slices[from][0]), x(profile.slices[to - 1][1])];
		const spans = isWholeRange() ? [[left, left], [right, right]] : [[left, places[0]], [places[1], right]];
		this.covers.forEach((cover, i) => {
			cover.setAttribute("x", spans[i][0]);
			cover.setAttribute("width", Math.max(0, spans[i][1] - spans[i][0]));
		});
		this.handles.forEach((handle, i) => {
			const ns = i ? profile.slices[to - 1][1] : profile.slices[from][0];
			handle.setAttribute("x", places[i] - 1.5);
			handle.setAttribute("opacity", isWholeRange() ? .35 : 1);
			handle.setAttribute("aria-valuenow", i ? to : from);
			handle.setAttribute("aria-valuetext", (ns / 1e9).toFixed(1) + " seconds");
		});
	}

	key(event, which) {
		const step = (event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0) * (event.shiftKey ? 10 : 1), [from, to] = rangeOf();
		if (!step) return;
		event.preventDefault();
		event.stopPropagation();
		change(() => state.range = which ? rangeBetween(from, Math.max(from + 1, to + step)) : rangeBetween(Math.min(to - 1, from + step), to));
	}

	sliceAt(event) {
		const box = this.svg.getBoundingClientRect(), ns = this.scale.time((event.clientX - box.left) * this.scale.width / box.width);
		let slice = 0;
		while (slice < profile.slices.length - 1 && profile.slices[slice][1] <= ns) slice++;
		return slice;
	}

	/* A drag chooses; beside a handle it moves that one; a click chooses all. */
	press(event) {
		const box = this.svg.getBoundingClientRect(), place = (event.clientX - box.left) * this.scale.width / box.width, first = this.sliceAt(event), [from, to] = rangeOf();
		if (event.button || place < this.scale.left - 6) return;
		event.preventDefault();
		const near = handle => !isWholeRange() && Math.abs(place - Number(this.handles[handle].getAttribute("x")) - 1.5) < 6;
		const anchor = near(0) ? to - 1 : near(1) ? from : first;
		let isMoved = false, shown = 0;
		const move = moved => {
			const slice = this.sliceAt(moved);
			if (!isMoved && Math.abs(moved.clientX - event.clientX) < 4) return;
			isMoved = true;
			state.range = rangeBetween(Math.min(anchor, slice), Math.max(anchor, slice) + 1);
			this.place();
			tip();
			/* As often as drawing keeps up with it. */
			if (performance.now() < shown) return;
			const began = performance.now();
			showChips();
			showStacks();
			shown = performance.now() + 2 * (performance.now() - began) + 30;
		};
		const release = () => {
			removeEventListener("pointermove", move);
			removeEventListener("pointerup", release);
			removeEventListener("pointercancel", release);
			change(() => { if (!isMoved) state.range = null; });
		};
		addEventListener("pointermove", move);
		addEventListener("pointerup", release);
		addEventListener("pointercancel", release);
	}
}

function showTimeTip(event, lanes, brush) {
	const {left, right, width} = brush.scale, box = brush.svg.getBoundingClientRect(), place = (event.clientX - box.left) * width / box.width;
	if (event.buttons || event.pointerType === "touch" || place < left || place > right) return tip();
	const slice = brush.sliceAt(event), [begin, end] = profile.slices[slice];
	tip([el("div", {class: "sub num"}, `${(begin / 1e9).toFixed(2)} \u2013 ${(end / 1e9).toFixed(2)}${NARROW}s`),
	     el("dl", {}, lanes.flatMap(lane => [el("dt", {}, lane.title), el("dd", {}, lane.format(sumAt(lane, slice))), el("dt", {class: "muted"}, lane.unit)]))], event.clientX, event.clientY);
}

function showTimeLine() {
	if (!hasTimes()) return;
	const isWide = innerWidth >= 1800, isHeat = hasSamples() && state.lanes === "heat", resources = isWide || state.lanes !== "row" ? resourceLanes() : [], lanes = isWide || state.lanes === "row" ? resources.concat(rowLanes()) : resources;
	const box = el("div", {class: "pb", id: "lanes"}), legend = el("div", {class: "key"}, STATES.slice(0, 3).map(([, name, color]) => el("span", {}, el("i", {style: `background:var(--s-${color})`}), name)));
	const choices = isWide ? [["resource", "By resource and process"]] : [["resource", "By resource"], ["row", profile.report.by === "region" ? "By region" : "By process"]], chosen = () => isHeat ? "heat" : isWide ? "resource" : state.lanes === "row" ? "row" : "resource";
	if (hasSamples()) choices.push(["heat", "CPU samples"]);
	fill("time", head("time", "Time line", choices.length > 1 ? choice("Lanes", choices, chosen, value => state.lanes = value) : null, isHeat ? null : legend,
		el("span", {class: "sub sp num"}, isWholeRange() ? "Drag to choose a range; everything follows it" : rangeText()),
		isWholeRange() ? null : el("button", {class: "btn", type: "button", onclick() { change(() => state.range = null); }}, "Whole interval")), box);
	const width = Math.max(280, box.clientWidth - 32), left = width < 520 ? 92 : 150, right = width - 2, whole = profile.slices[profile.slices.length - 1][1];
	const scale = {left, right, width, x: ns => left + ns / whole * (right - left), time: place => (place - left) / (right - left) * whole};
	if (isHeat) {
		showHeat(box, scale);
		return refocus("time");
	}
	let top = 0;
	const tops = lanes.map((lane, i) => {
		const begin = top += i && i === resources.length ? 10 : 0;
		top += lane.height + LANE_GAP;
		return begin;
	});
	const svg = el("svg", {class: "time", viewBox: `0 0 ${width} ${top + AXIS_HEIGHT}`, height: top + AXIS_HEIGHT, role: "group", "aria-label": "Time line"});
	drawAxis(svg, scale, top);
	lanes.forEach((lane, i) => drawLane(svg, lane, tops[i], scale));
	const brush = new Brush(svg, scale, top);
	svg.addEventListener("pointermove", event => showTimeTip(event, lanes, brush));
	svg.addEventListener("pointerleave", () => tip());
	box.append(svg);
	refocus("time");
}
