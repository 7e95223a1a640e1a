// SPDX-License-Identifier: BSD-2-Clause
/* The table of resources: rows of the report, alone or joined by name or container. */
const at = (object, ...keys) => keys.reduce((value, key) => value === undefined || value === null ? undefined : value[key], object);
const addUp = (a, b) => a === undefined ? b : b === undefined ? a : a + b;
const larger = (a, b) => a === undefined ? b : b === undefined ? a : Math.max(a, b);

const rate = value => value < 10 ? value.toFixed(1) : count(value);

/* key, title, classes, value of a row of the report, how rows join, format */
const COLUMNS = [
	["cpu", "%CPU", "", row => at(row, "cpu", "total_ns") === undefined ? undefined : row.cpu.total_ns / profile.durationNs, addUp, value => (100 * value).toFixed(1)],
	["on", "On-CPU", "c1", row => onCpu(row), addUp, time],
	["queue", "Run queue", "c1", row => at(row, "waiting", "runqueue_ns"), addUp, time],
	["disk", "Disk wait", "c1", row => at(row, "offcpu", "disk_ns"), addUp, time],
	["sleep", "Sleep", "c2", row => at(row, "offcpu", "sleep_ns"), addUp, time],
	["gpu", "GPU wait", "c2", row => at(row, "gpu", "state_ns"), addUp, time],
	["p99", "I/O p99", "c2", row => at(row, "blockio", "p99_ns"), larger, time, "of joined rows the largest of their p99: theirs together is no larger"],
	["read", "Read", "c3", row => at(row, "blockio", "read_bytes"), addUp, bytes],
	["written", "Written", "c2", row => at(row, "blockio", "written_bytes"), addUp, bytes],
	["cswch", "cswch/s", "c4", row => perSecond(at(row, "cpu", "voluntary")), addUp, rate],
	["nvcswch", "nvcswch/s", "c4", row => perSecond(at(row, "cpu", "involuntary")), addUp, rate],
	["minor", "minflt/s", "c4", row => perSecond(at(row, "memory", "minor_faults")), addUp, rate],
	["rss", "RSS", "c3", row => at(row, "memory", "rss_bytes"), addUp, bytes],
];
const onCpu = row => at(row, "offcpu", "oncpu_ns") === undefined ? at(row, "cpu", "total_ns") : row.offcpu.oncpu_ns;
const perSecond = number => number === undefined ? undefined : number * 1e9 / profile.durationNs;
const nameOf = row => row.comm || row.region || row.label || row.container || "[unknown]";

/* Of a Python program the innermost function of Python's, whatever native code it calls. */
function ownNode(tree, node) {
	for (let at = node; at > 0; at = tree.parent[at]) if (profile.marks[tree.name[at]] === MARK_PYTHON) return at;
	return node;
}
/* The function in which each row of the report was met most often on a CPU: Map row -> Map function -> weight. */
let hottest;
function findHottest() {
	const kind = profile.kinds.cpu;
	hottest = new Map();
	if (!kind) return;
	eachValue(kind, (i, value) => {
		let functions = hottest.get(kind.row[i]);
		if (!functions) hottest.set(kind.row[i], functions = new Map());
		const name = kind.tree.name[ownNode(kind.tree, kind.node[i])];
		functions.set(name, (functions.get(name) || 0) + value);
	});
}
function hottestOf(rows) {
	const functions = new Map();
	let all = 0, best = null;
	for (const row of rows) for (const [name, value] of hottest.get(row) || []) {
		functions.set(name, (functions.get(name) || 0) + value);
		all += value;
	}
	for (const entry of functions) if (!best || entry[1] > best[1]) best = entry;
	return best && all >= 10 ? {name: profile.names[best[0]], share: best[1] / all} : null;
}

/* By node of a tree: 2: below a call that only waits for a GPU; 1: below one that may sleep for it; 0: neither. */
function gpuWaitsOf(tree) {
	if (!tree.gpuWaits) {
		tree.gpuWaits = new Uint8Array(tree.name.length);
		for (let node = 1; node < tree.name.length; node++) tree.gpuWaits[node] = Math.max(tree.gpuWaits[tree.parent[node]], profile.gpuWaits[tree.name[node]] || 0);
	}
	return tree.gpuWaits;
}

/* Of a range, what stacks know: Map row -> times. CPU time is that of samples; the rest is only known of the whole interval. */
function timesInRange() {
	const rows = new Map(), {kinds, report} = profile, hz = report.sampling && report.sampling.frequency_hz, names = {runqueue: "queue", disk: "disk", sleep: "sleep"}, hasGpuWaits = report.rows.some(row => at(row, "gpu", "state_ns"));
	const add = (row, key, value) => {
		if (!rows.has(row)) rows.set(row, {});
		rows.get(row)[key] = (rows.get(row)[key] || 0) + value;
	};
	if (kinds.cpu && hz) eachValue(kinds.cpu, (i, value) => {
		add(kinds.cpu.row[i], "all", value * 1e9 / hz);
		add(kinds.cpu.row[i], hasGpuWaits && gpuWaitsOf(kinds.cpu.tree)[kinds.cpu.node[i]] === 2 ? "gpu" : "on", value * 1e9 / hz);
	});
	if (kinds.offcpu) eachValue(kinds.offcpu, (i, value) => {
		const key = names[kinds.offcpu.states[kinds.offcpu.state[i]]];
		if (key) add(kinds.offcpu.row[i], key === "sleep" && hasGpuWaits && gpuWaitsOf(kinds.offcpu.tree)[kinds.offcpu.node[i]] ? "gpu" : key, value);
	});
	for (const times of rows.values()) if (times.all !== undefined) times.cpu = times.all / rangeNs();
	return rows;
}

function joinRows() {
	const groups = new Map(), inRange = isWholeRange() ? null : timesInRange();
	profile.report.rows.forEach((row, index) => {
		const key = state.by === "row" ? index : state.by === "name" ? nameOf(row) : row.container || "no container";
		let group = groups.get(key);
		if (!group) groups.set(key, group = {name: state.by === "container" ? key : nameOf(row), pid: state.by === "row" ? row.tid || row.pid : 0, container: row.container || "", number: 0, rows: new Set()});
		group.number += row.processes || 1;
		group.rows.add(index);
		for (const [column, , , value, join] of COLUMNS) group[column] = join(group[column], inRange ? (inRange.get(index) || {})[column] : value(row));
	});
	for (const group of groups.values()) {
		group.active = (group.on || 0) + (group.queue || 0) + (group.disk || 0);
		group.hot = hottestOf(group.rows);
	}
	return [...groups.values()];
}

const STATES = [["on", "on-CPU", "on"], ["queue", "run queue", "rq"], ["disk", "disk wait", "dk"], ["sleep", "sleep", "sl"], ["gpu", "GPU wait", "gp"]];
/* Without a wait for a GPU there is no such state. */
const shownStates = () => state.bars === "wall" ? STATES.filter(([key]) => key !== "gpu" || profile.report.rows.some(row => at(row, "gpu", "state_ns"))) : STATES.slice(0, 3);
function stateBar(group, largest) {
	const states = shownStates(), whole = state.bars === "wall" ? group.active + (group.sleep || 0) + (group.gpu || 0) : largest;
	let left = 0;
	const parts = states.map(([key, , color]) => {
		const width = 100 * (group[key] || 0) / (whole || 1), part = width > .2 ? el("i", {style: `left:${left.toFixed(2)}%;width:calc(${width.toFixed(2)}% - ${width > 2 ? 1 : 0}px);background:var(--s-${color})`}) : null;
		left += width;
		return part;
	});
	return el("span", {class: "sb", role: "img", "aria-label": states.map(([key, name]) => name + " " + time(group[key] || 0)).join(", ")}, parts);
}

/* A column of which no row has a figure says nothing. */
let columns;
const shownColumns = () => columns || (columns = COLUMNS.filter(([, , , value]) => profile.report.rows.some(row => value(row))));
const hasContainers = () => state.by !== "container" && profile.report.rows.some(row => row.container);
const isPicked = group => state.pick && group.rows.size === state.pick.rows.size && [...group.rows].every(row => state.pick.rows.has(row));
function pickRow(group) {
	change(() => state.pick = isPicked(group) ? null : {rows: group.rows, text: group.name + (group.pid ? " " + group.pid : "")});
}

function headCell(key, title, classes) {
	const [sorted, direction] = state.sort, first = ["name", "container", "hot"].includes(key) ? 1 : -1;
	return el("th", {class: classes, scope: "col", "aria-sort": sorted === key ? (direction < 0 ? "descending" : "ascending") : null},
		  el("button", {type: "button", onclick() { change(() => state.sort = [key, sorted === key ? -direction : first]); }}, title));
}
function bodyRow(group, largest) {
	return el("tr", {class: "pick", tabindex: "0", "aria-selected": String(!!isPicked(group)), onclick() { pickRow(group); },
		onkeydown(event) {
			if (event.key !== "Enter" && event.key !== " ") return;
			event.preventDefault();
			pickRow(group);
		}},
		el("td", {class: "l"}, el("span", {class: "nm"}, group.name), el("span", {class: "pid"}, group.pid || (group.number > 1 ? "\u00d7 " + count(group.number) : ""))),
		hasContainers() ? el("td", {class: "l c3 muted"}, group.container) : null, el("td", {class: "l"}, stateBar(group, largest)),
		shownColumns().map(([key, , classes, , , format, bound]) => el("td", {class: classes, title: bound && group.rows.size > 1 ? bound : null}, bound && group.rows.size > 1 && group[key] ? "\u2264" + NARROW : null, cell(group[key], format))),
		el("td", {class: "l fn c3", title: group.hot ? group.hot.name : null}, group.hot ? [el("span", {class: "muted"}, (100 * group.hot.share).toFixed(0) + NARROW + "% "), shortName(group.hot.name)] : ""));
}

const sortKey = (group, key) => key === "hot" ? (group.hot ? group.hot.name : "") : group[key];
function compareGroups(a, b) {
	const [key, direction] = state.sort, x = sortKey(a, key), y = sortKey(b, key);
	return (typeof x === "string" ? x.localeCompare(y) : (x || 0) - (y || 0)) * direction || b.active - a.active;
}

const ROWS_SHOWN = 12;
function showProcesses() {
	const groups = joinRows(), wanted = state.rowFilter.toLowerCase();
	const found = groups.filter(group => `${group.name} ${group.pid} ${group.container}`.toLowerCase().includes(wanted)).sort(compareGroups);
	const shown = state.allRows ? found : found.slice(0, ROWS_SHOWN), largest = Math.max(...found.map(group => group.active), 1);
	const by = profile.report.by || "process", title = {row: by[0].toUpperCase() + by.slice(1), name: "Name", container: "Container"};
	fill("processes", head("processes", by === "label" ? "Labels" : by === "region" ? "Regions" : "Processes",
		choice("Rows", Object.entries(title), () => state.by, value => { state.by = value; state.pick = null; }),
		choice("Bars", [["active", "Active time"], ["wall", "Wall time"]], () => state.bars, value => state.bars = value),
		el("div", {class: "key"}, shownStates().map(([, name, color]) => el("span", {}, el("i", {style: `background:var(--s-${color})`}), name))),
		el("input", {class: "fld sp", type: "search", placeholder: "Filter rows", value: state.rowFilter, "aria-label": "Filter rows", "data-key": "rows", oninput(event) { state.rowFilter = event.target.value; showProcesses(); }})),
		el("div", {class: "scroll"}, el("table", {}, el("caption", {class: "vh"}, "Time and resources by " + title[state.by].toLowerCase()),
			el("thead", {}, el("tr", {}, headCell("name", title[state.by], "l"), hasContainers() ? headCell("container", "Container", "l c3") : null, headCell("active", state.bars === "wall" ? "Thread states" : "Active time", "l"),
				shownColumns().map(([key, name, classes]) => headCell(key, name, classes)), headCell("hot", "Hottest function on CPU", "l c3 wide"))),
			el("tbody", {}, shown.map(group => bodyRow(group, largest))))),
		shown.length ? null : el("p", {class: "empty"}, state.rowFilter ? `No row matches \u201c${state.rowFilter}\u201d.` : "Nothing of the targets ran, or waited for what was recorded."),
		found.length > ROWS_SHOWN ? el("div", {class: "pb", style: "padding-top:8px"}, el("button", {class: "link", type: "button", onclick() { change(() => state.allRows = !state.allRows); }},
			state.allRows ? `Show the first ${ROWS_SHOWN}` : `Show ${count(found.length - ROWS_SHOWN)} more`)) : null);
}
