// SPDX-License-Identifier: BSD-2-Clause
// The history: a figure over time; an interval of it that is chosen; its report.
"use strict";

const FIGURES = [
	["cpu.share", "CPU, % of one CPU", (v) => v.toFixed(v < 10 ? 1 : 0) + " %"],
	["waiting.runqueue", "run queue, s per second", seconds],
	["offcpu.disk", "disk wait, s per second", seconds],
	["blockio.read", "read, bytes per second", bytes],
	["blockio.written", "written, bytes per second", bytes],
	["blockio.p99", "block I/O p99", (v) => seconds(v)],
	["memory.rss", "resident memory", bytes],
	["memory.minor_faults", "page faults per second", count],
	["cpu.voluntary", "voluntary switches per second", count],
	["region[*].p99", "regions, p99", seconds],
	["region[*].mean", "regions, average", seconds],
	["region[*].count", "regions per second", count],
	["region[*].violations", "regions over their limit", count],
];
const RANGES = [["900", "15 minutes"], ["3600", "hour"], ["21600", "6 hours"], ["86400", "day"], ["604800", "week"]];
const BASES = [["", "nothing"], ["before", "as long before"], ["hour", "an hour before"], ["yesterday", "yesterday"], ["lastweek", "a week ago"], ["marked", "the marked interval"]];
// Distinguishable with colour-vision deficiencies (Okabe and Ito), in both themes.
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800", "#7f7f7f"];
const NS = "http://www.w3.org/2000/svg";
const $ = (id) => document.getElementById(id);

const view = { figure: "cpu.share", by: "comm", range: 900, end: 0, from: 0, to: 0, lanes: "process", pid: 0, comm: "", container: "", now: 0, base: "", baseFrom: 0, baseTo: 0 };
// Objectives are held against windows of a minute at least.
const OBJECTIVES_MS = 30000;
let alerts = [], objectives = [], objectivesDue = 0, data = null, from = 0, to = 0, timer = 0, asked = 0, loading = 0, loaded = "";

function seconds(ns) {
	const s = ns / 1e9;
	return s >= 1 ? s.toFixed(2) + " s" : s >= 1e-3 ? (s * 1e3).toFixed(1) + " ms" : (s * 1e6).toFixed(0) + " µs";
}
function bytes(v) {
	const units = ["B", "KiB", "MiB", "GiB", "TiB"];
	let i = 0;
	while (v >= 1000 && i < 4) { v /= 1024; i++; }
	return v.toFixed(v < 10 && i ? 1 : 0) + " " + units[i];
}
function count(v) {
	return v >= 1e6 ? (v / 1e6).toFixed(1) + " M" : v >= 1e3 ? (v / 1e3).toFixed(1) + " k" : v.toFixed(0);
}
const ofRegions = () => view.figure.startsWith("region[");
const clock = (s) => new Date(s * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = (s) => new Date(s * 1000).toLocaleString();

// ---- the address holds what is seen ----

function readAddress() {
	const parts = new URLSearchParams(location.hash.slice(1));
	if (FIGURES.some((f) => f[0] === parts.get("figure"))) view.figure = parts.get("figure");
	if (["comm", "container"].includes(parts.get("by"))) view.by = parts.get("by");
	view.lanes = LANE_BYS.some(([by]) => by === parts.get("lanes")) ? parts.get("lanes") : parts.get("lanes") === "off" ? "" : "process";
	view.now = parts.get("now") === "1" ? 1 : 0;
	for (const name of ["comm", "container"]) view[name] = (parts.get(name) || "").slice(0, 250);
	view.pid = /^[1-9]\d{0,6}$/.test(parts.get("pid") || "") ? Number(parts.get("pid")) : 0;
	view.base = BASES.some((b) => b[0] === parts.get("base")) ? parts.get("base") : "";
	for (const name of ["range", "end", "from", "to", "baseFrom", "baseTo"]) {
		const value = Number(parts.get(name));
		if (Number.isFinite(value) && value > 0) view[name] = value;
		else if (name !== "range") view[name] = 0;
	}
	if (view.base === "marked" && !(view.baseFrom && view.baseTo > view.baseFrom)) view.base = "";
}

function writeAddress() {
	const parts = new URLSearchParams();
	for (const [name, value] of Object.entries(view)) if (value) parts.set(name, value);
	if (!view.lanes) parts.set("lanes", "off");
	/* It moves on. */
	if (view.now) for (const name of ["from", "to"]) parts.delete(name);
	history.replaceState(null, "", "#" + parts);
}

// ---- drawing ----

function element(name, attributes, parent, text) {
	const made = document.createElementNS(NS, name);
	for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
	if (text !== undefined) made.textContent = text;
	parent.append(made);
	return made;
}

const width = () => $("chart").clientWidth || 800;
const xOf = (s) => (s - from) / (to - from) * width();
const timeAt = (x) => from + x / width() * (to - from);

function drawGaps(svg, height) {
	let at = from;
	for (const [begin, end] of [...data.windows, [to, to]]) {
		if (begin - at > Math.max(2, (to - from) / 100)) {
			const gap = element("rect", { class: "gap", x: xOf(at), y: 0, width: Math.max(0, xOf(begin) - xOf(at)), height }, svg);
			element("title", {}, gap, `nothing was recorded\n${clock(at)} to ${clock(begin)}`);
		}
		at = Math.max(at, end);
	}
}

function drawMachine() {
	const svg = $("machine"), height = 44;
	svg.replaceChildren();
	drawGaps(svg, height);
	data.windows.forEach(([begin, end], i) => {
		const busy = data.machine_busy_percent[i];
		if (busy !== null)
			element("rect", { class: "busy", x: xOf(begin), width: Math.max(1, xOf(end) - xOf(begin)), y: height - busy / 100 * (height - 14), height: busy / 100 * (height - 14) }, svg);
	});
	data.windows.forEach(([begin, end], i) => {
		if (!data.left_out[i]) return;
		const mark = element("rect", { class: "shed", x: xOf(begin), width: Math.max(1, xOf(end) - xOf(begin)), y: height - 3, height: 3 }, svg);
		element("title", {}, mark, `left out to stay within --max-cpu: ${data.left_out[i]}\n${clock(begin)} to ${clock(end)}`);
	});
	const last = data.machine_busy_percent.filter((v) => v !== null).pop();
	drawTicks(svg, height);
	drawMisses(svg, height);
	element("text", { x: 4, y: 11 }, svg, "machine" + (last === undefined ? "" : ": " + last.toFixed(0) + " % busy"));
}

// A figure of a part of a window says of how much.
function watched(series, i) {
	const [begin, end] = data.windows[i], s = series.watched_seconds && series.watched_seconds[i];
	return s === undefined || s >= (end - begin) * 0.999 ? "" : ` (watched ${seconds(s * 1e9)} of ${seconds((end - begin) * 1e9)})`;
}

function drawChart() {
	const svg = $("chart"), height = 200, foot = 16, top = 12;
	// Lengths of different series are no parts of a sum: each is a mark of its own.
	const isStacked = !/\.(p\d+|mean|max)$/.test(view.figure);
	const sums = data.windows.map((_, i) => isStacked ? data.series.slice(0, COLOURS.length).reduce((sum, s) => sum + s.values[i], 0) : largestOf(data.series.slice(0, COLOURS.length).map((s) => s.values[i])));
	const most = largestOf(sums) || 1e-9, yOf = (v) => height - foot - v / most * (height - foot - top);
	const format = FIGURES.find((f) => f[0] === view.figure)[2];
	svg.replaceChildren();
	drawGaps(svg, height - foot);
	for (const part of [0.5, 1]) {
		element("line", { class: "grid", x1: 0, x2: width(), y1: yOf(most * part), y2: yOf(most * part) }, svg);
		element("text", { x: 4, y: yOf(most * part) - 2 }, svg, format(most * part));
	}
	if (data.recorded_seconds && !data.recorded_seconds.some((s) => s > 0))
		element("text", { x: width() / 2, y: height / 2, "text-anchor": "middle" }, svg, "not watched: pkbpf serve --regions records regions");
	const below = data.windows.map(() => 0);
	data.series.slice(0, COLOURS.length).forEach((series, n) => {
		const group = element("g", { fill: COLOURS[n % COLOURS.length] }, svg);
		data.windows.forEach(([begin, end], i) => {
			const value = series.values[i];
			if (!(value > 0)) return;
			const bar = element("rect", { x: xOf(begin), width: Math.max(1, xOf(end) - xOf(begin) - 0.5), y: yOf(below[i] + value), height: isStacked ? Math.max(0, yOf(below[i]) - yOf(below[i] + value)) : 3 }, group);
			element("title", {}, bar, `${series.name}: ${format(value)}${watched(series, i)}\n${clock(begin)} to ${clock(end)}`);
			if (isStacked) below[i] += value;
		});
	});
	for (let i = 0; i <= 4; i += width() < 520 ? 2 : 1)
		element("text", { x: width() * i / 4, y: height - 3, "text-anchor": ["start", "middle", "middle", "middle", "end"][i] }, svg, to - from > 86400 ? day(from + (to - from) * i / 4) : clock(from + (to - from) * i / 4));
	drawBrush();
}

// ---- alerts ----

function alertLink(rule, alert) {
	const link = document.createElement("a"), end = alert.ended || Date.now() / 1000;
	const begin = alert.fired - Math.max(rule.over_s, 10) - rule.for_s;
	link.href = "#";
	link.textContent = "show";
	link.onclick = (event) => {
		event.preventDefault();
		view.base = rule.base;
		choose(begin, Math.min(end, alert.fired + 60));
	};
	return link;
}

function showAlerts() {
	const firing = alerts.filter(([, alert]) => !alert.ended);
	$("alerts").hidden = !firing.length;
	$("alerts").replaceChildren(...firing.map(([rule, alert]) => {
		const item = document.createElement("li"), name = document.createElement("b");
		name.textContent = rule.name;
		item.append(name, ` ${alert.who}${alert.who ? ": " : ""}${alert.text} (${rule.when}) since ${clock(alert.fired)} `, alertLink(rule, alert));
		return item;
	}));
}

function drawTicks(svg, height) {
	for (const [rule, alert] of alerts) {
		if (alert.fired < from || alert.fired > to) continue;
		const tick = element("line", { class: "tick", x1: xOf(alert.fired), x2: xOf(alert.fired), y1: 0, y2: height }, svg);
		element("title", {}, tick, `alert ${rule.name} ${alert.who}\n${clock(alert.fired)}`);
	}
}

// ---- objectives ----

function drawMisses(svg, height) {
	for (const objective of objectives)
		for (const miss of objective.misses) {
			const mark = element("rect", { class: "miss", x: xOf(Math.max(miss.from, from)), width: Math.max(2, xOf(Math.min(miss.to, to)) - xOf(Math.max(miss.from, from))), y: height - 4, height: 4 }, svg);
			element("title", {}, mark, `${objective.name} missed\n${clock(miss.from)} to ${clock(miss.to)}`);
		}
}

function showObjectives() {
	$("objectives").hidden = !objectives.length;
	$("objectives").replaceChildren(...objectives.map((objective) => {
		const item = document.createElement("li"), name = document.createElement("b"), known = objective.kept_percent !== undefined;
		name.textContent = objective.name;
		item.className = known ? (objective.met ? "met" : "missed") : "";
		item.title = `${objective.when} over ${objective.over}`;
		item.append(name, known ? ` ${objective.met ? "met" : "missed"}: kept in ${objective.kept_percent.toFixed(2)} % of ${objective.kept + objective.missed} windows, target ${objective.target_percent} % ` : " nothing known in this interval ");
		for (const miss of objective.misses.slice(-1)) {
			const link = document.createElement("a");
			link.href = "#";
			link.textContent = "last miss";
			link.onclick = (event) => { event.preventDefault(); choose(miss.from, miss.to); };
			item.append(link);
		}
		return item;
	}));
}

async function loadObjectives() {
	objectivesDue = Date.now() + OBJECTIVES_MS;
	const answer = await ask(`api/v1/objectives?from=${Math.floor(from)}&to=${Math.ceil(to)}`);
	if (!answer.ok) return;
	objectives = (await answer.json()).objectives;
	showObjectives();
}

function showNotices(state) {
	const sentences = state.rules.filter((rule) => rule.postponed).map((rule) => `Alert rule ${rule.name} takes ${rule.look_s.toFixed(1)} s of CPU time: it is held against the history less often than it asks for.`);
	if (state.skipped_slices) sentences.push(`Alert rules took too long: ${state.skipped_slices} slices are stored, but no rule was held against them.`);
	if (state.clock_ahead_s) sentences.push(`The clock was ${Math.abs(state.clock_ahead_s / 86400).toFixed(1)} days ${state.clock_ahead_s > 0 ? "ahead of" : "behind"} the history when it was last written: nothing is deleted by age until the age limits have followed it.`);
	$("notices").hidden = !sentences.length;
	$("notices").replaceChildren(...sentences.map((sentence) => {
		const item = document.createElement("li");
		item.textContent = sentence;
		return item;
	}));
}

async function loadAlerts() {
	const answer = await ask("api/v1/alerts");
	if (!answer.ok) return;
	const state = await answer.json();
	showNotices(state);
	alerts = state.rules.flatMap((rule) => rule.alerts.filter((alert) => alert.fired).map((alert) => [rule, alert]));
	showAlerts();
}

function drawBrush() {
	$("chart").querySelector(".brush")?.remove();
	if (view.from && view.to > from && view.from < to)
		element("rect", { class: "brush", x: xOf(view.from), y: 0, width: Math.max(2, xOf(view.to) - xOf(view.from)), height: 184 }, $("chart"));
	$("chart").querySelector(".marked")?.remove();
	if (view.baseFrom && view.baseTo > from && view.baseFrom < to)
		element("rect", { class: "marked", x: xOf(view.baseFrom), y: 0, width: Math.max(2, xOf(view.baseTo) - xOf(view.baseFrom)), height: 184 }, $("chart"));
}

function drawLegend() {
	const format = FIGURES.find((f) => f[0] === view.figure)[2];
	$("legend").replaceChildren(...data.series.slice(0, COLOURS.length).map((series, n) => {
		const item = document.createElement("li"), swatch = document.createElement("i"), name = document.createElement("span"), value = document.createElement("b");
		swatch.style.background = COLOURS[n % COLOURS.length];
		name.textContent = series.name;
		name.title = series.name;
		value.textContent = format(series.values[series.values.length - 1] || 0);
		item.append(swatch, name, value);
		return item;
	}));
}

// ---- asking ----

async function load() {
	const mine = ++asked;
	loading++;
	try {
		const isNew = await isNews(), what = [view.figure, view.by, view.range, view.lanes].join(), isMore = data && what === loaded && !view.end && !ofRegions() && data.windows.length && data.windows.length < SERIES_MOST;
		if (!isMore || isNew) {
			to = view.end || live.last || Date.now() / 1000 - 2 * live.length;
			from = to - view.range;
			const answer = await ask(`api/v1/series?top=100&figure=${encodeURIComponent(view.figure)}&by=${ofRegions() ? "region" : view.by}&from=${isMore ? data.windows[data.windows.length - 1][1] : Math.floor(from)}&to=${Math.ceil(to)}`);
			if (!answer.ok) throw new Error(await answer.text());
			const got = await answer.json();
			if (mine !== asked) return;
			data = isMore ? appendSeries(data, got, from) : got;
			data.series.splice(ofRegions() ? COLOURS.length : 100);
			loaded = what;
			await Promise.all([loadAlerts(), isMore && Date.now() < objectivesDue ? null : loadObjectives(), loadLanes()]);
			// Opening a page is no renewal.
			if (!isMore && !ofRegions()) live.saved = COST_SAVED;
			if (view.now) await renewReport();
		}
		$("state").textContent = data.windows.length ? `${data.windows.length} windows, up to ${clock(data.windows[data.windows.length - 1][1])}` : "no history of this interval yet";
		drawMachine();
		drawChart();
		drawLegend();
	} catch (error) {
		if (mine === asked) $("state").textContent = "no answer: " + error.message;
	} finally {
		loading--;
	}
	clearTimeout(timer);
	// A hidden page asks nothing.
	if (!view.end && !document.hidden) timer = setTimeout(load, nextAsk(Date.now()));
}

// Whole seconds, of which the API takes every window that is touched: rounded inwards, so that the neighbours stay out.
function interval(begin, end, name) {
	const first = Math.ceil(begin);
	return `${name}from=${first}&${name}to=${Math.max(Math.floor(end), first + 1)}`;
}

// The base of a difference, as the API names it.
function baseQuery() {
	if (view.base === "marked") return "&" + interval(view.baseFrom, view.baseTo, "base_");
	return view.base ? "&base=" + view.base : "";
}

function mark() {
	view.baseFrom = view.from;
	view.baseTo = view.to;
	view.base = "";
	writeAddress();
	drawBrush();
	showReport();
}

function showReport() {
	const frame = $("report");
	showChosen();
	frame.hidden = $("against").hidden = !view.from;
	$("base").value = view.base;
	$("base").querySelector("[value=marked]").disabled = !view.baseFrom;
	if (!view.from) {
		live.isLoading = false;
		frame.removeAttribute("src");
		return;
	}
	live.isLoading = true;
	frame.src = reportPath("html");
}

// Of the processes that were asked for alone.
const choiceQuery = () => (view.pid ? `&pid=${view.pid}` : "") + ["comm", "container"].map((name) => view[name] ? `&${name}=${encodeURIComponent(view[name])}` : "").join("");
const reportPath = (format, more) => `api/v1/${view.base ? "diff" : "profile"}?${interval(view.from, view.to, "")}${baseQuery()}${choiceQuery()}&format=${format}${more || ""}`;

function showChosen() {
	const chosen = $("chosen");
	showLive();
	if (!view.from) {
		chosen.textContent = "Drag over the picture to choose an interval.";
		return;
	}
	const of = view.pid ? `, pid ${view.pid}` : view.comm || view.container ? `, ${view.comm || view.container}` : "";
	chosen.replaceChildren(`${day(view.from)} to ${clock(view.to)}${of}${view.now ? ", renewed with each window" : ""}`);
	const formats = view.base ? [["html", "difference"], ["json", "JSON"], ["folded", "folded", "&kind=cpu"], ["svg", "SVG", "&kind=cpu"], ["markdown", "Markdown"]] : [["html", "report"], ["pprof", "pprof", "&kind=cpu"], ["folded", "folded", "&kind=cpu"], ["recording", "recording"], ["json", "JSON"]];
	for (const [format, text, more] of formats) {
		const link = document.createElement("a");
		link.href = reportPath(format, more);
		link.textContent = text;
		link.target = "_blank";
		link.rel = "noopener";
		chosen.append(link);
	}
}

function choose(a, b, keepsChoice) {
	view.now = 0;
	if (!keepsChoice) {
		view.pid = 0;
		view.comm = view.container = "";
	}
	view.from = Math.min(a, b);
	view.to = Math.max(a, b, view.from + 1);
	writeAddress();
	drawBrush();
	showReport();
}

function changed() {
	writeAddress();
	load();
}

// ---- hands ----

// The picture stays as it is.
function stopFollowing() {
	view.end = Math.round(to || Date.now() / 1000);
	clearTimeout(timer);
	$("live").setAttribute("aria-pressed", "false");
}
function follow(isLive) {
	view.end = isLive ? 0 : Math.round(to || Date.now() / 1000);
	if (!isLive) view.now = 0;
	showLive();
	$("live").setAttribute("aria-pressed", String(isLive));
	changed();
}

function listenToPointer() {
	const chart = $("chart");
	let start = null;
	const at = (event) => timeAt(event.clientX - chart.getBoundingClientRect().left);
	chart.addEventListener("pointerdown", (event) => { start = at(event); chart.setPointerCapture(event.pointerId); });
	chart.addEventListener("pointermove", (event) => {
		if (start === null) return;
		view.from = Math.min(start, at(event));
		view.to = Math.max(start, at(event));
		drawBrush();
	});
	chart.addEventListener("pointerup", (event) => {
		const end = at(event);
		const least = (to - from) / 100;
		// A click chooses the window under it.
		if (Math.abs(end - start) < least) {
			const window = data?.windows.find(([begin, finish]) => begin <= end && end < finish);
			if (window) choose(window[0], window[1]);
		} else choose(start, end);
		start = null;
	});
}

function listenToKeys() {
	$("chart").addEventListener("keydown", (event) => {
		const step = (to - from) / 30, sign = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
		if (event.key === "Enter") showReport();
		if (!sign) return;
		event.preventDefault();
		if (!view.from) { view.from = to - 2 * step; view.to = to - step; }
		if (!event.shiftKey) view.from += sign * step;
		view.to = Math.max(view.to + sign * step, view.from + 1);
		writeAddress();
		drawBrush();
	});
}

function begin() {
	readAddress();
	for (const [name, text] of FIGURES) $("figure").add(new Option(text, name));
	for (const [value, text] of RANGES) $("range").add(new Option(text, value));
	for (const [value, text] of BASES) $("base").add(new Option(text, value));
	$("figure").value = view.figure;
	$("by").value = view.by;
	if (!RANGES.some((r) => r[0] === String(view.range))) $("range").add(new Option(`${view.range} s`, view.range));
	$("range").value = String(view.range);
	$("figure").onchange = (event) => { view.figure = event.target.value; changed(); };
	$("by").onchange = (event) => { view.by = event.target.value; changed(); };
	$("range").onchange = (event) => { view.range = Number(event.target.value); changed(); };
	$("base").onchange = (event) => { view.base = event.target.value; writeAddress(); showReport(); };
	$("mark").onclick = mark;
	$("live").onclick = () => follow($("live").getAttribute("aria-pressed") !== "true");
	$("live").setAttribute("aria-pressed", String(!view.end));
	addEventListener("resize", () => { if (data) { drawMachine(); drawChart(); drawLanes(); } });
	addEventListener("hashchange", () => { readAddress(); $("lane-by").value = view.lanes; load(); showReport(); });
	addEventListener("visibilitychange", () => {
		if (document.hidden) clearTimeout(timer);
		else if (!view.end) load();
	});
	listenToLanes();
	listenToLive();
	listenToPointer();
	listenToKeys();
	load();
	showReport();
	if (view.now) setNow(true);
}
begin();
