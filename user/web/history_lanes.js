// SPDX-License-Identifier: BSD-2-Clause
// Lanes: what processes or threads did in each window, as sums by state.
"use strict";

// In the order of the API's states: word, variable of its color. Sleep of many threads would hide all else: it is drawn of single ones.
const STATES = [["on-CPU", "--s-on"], ["run queue", "--s-rq"], ["disk wait", "--s-dk"], ["D state (not I/O)", "--s-kn"], ["GPU wait", "--s-gp"], ["sleep", "--s-sl"], ["stopped", "--s-sp"], ["off-CPU, state not known", "--s-bt"]];
const LANE_BYS = [["", "off"], ["process", "processes"], ["thread", "threads"], ["container", "containers"], ["comm", "names"], ["name", "names without digits"]];
const LANE_ROWS = 30, LANE_NAME = 15, LANE_BAR = 20, LANE_BAND = 13, LANE_HEIGHT = LANE_NAME + LANE_BAR + 4, ACTIVE_STATES = 5;

// windows: {begin, end, covered, watched: ns with regions, shed, lanes: Map of key to sums by state, regions: Map of key to the longest one, others: such sums, left: number of lanes in them}; band: height of the regions' band
const lanes = { windows: [], known: new Map(), by: "", loaded: "", hasWaits: false, shown: [], at: null, band: 0 };
const laneHeight = () => LANE_HEIGHT + lanes.band;

const largestOf = (values) => values.reduce((most, value) => value > most ? value : most, 0);
const laneKey = (lane) => [lane.pid || 0, lane.tid || 0, lane.container || "", lane.name].join("\0");
const laneTitle = (lane) => `${lane.name || lane.container || "no container"}${lane.tid ? " " + lane.tid : lane.pid ? " " + lane.pid : ""}`;

// One answer as windows; those that are there already, of another level, are left out.
function windowsOfLanes(answer, after) {
	const valuesAt = (lane, i) => lane.values.map((values) => values ? values[i] : 0), added = [];
	answer.windows.forEach(([begin, end], i) => {
		if (begin < after - 0.001) return;
		const window = { begin, end, covered: answer.covered_ns[i], shed: answer.left_out[i], watched: answer.regions_ns?.[i] || 0, lanes: new Map(), regions: new Map(), others: valuesAt(answer.others.lane, i), left: answer.others.lanes };
		for (const lane of answer.lanes) {
			const values = valuesAt(lane, i), region = lane.regions?.[i];
			if (values.some((value) => value)) window.lanes.set(laneKey(lane), values);
			if (region) window.regions.set(laneKey(lane), { name: answer.region_names[region[0]], wall: region[1], count: region[2], missed: region[3] });
		}
		added.push(window);
	});
	return added;
}

// The most active ones of the windows that are there.
function rankLanes(windows, known) {
	const sums = new Map();
	for (const window of windows)
		for (const [key, values] of window.lanes)
			sums.set(key, (sums.get(key) || 0) + values.slice(0, ACTIVE_STATES).reduce((sum, value) => sum + value, 0));
	return [...sums].sort((a, b) => b[1] - a[1]).slice(0, LANE_ROWS).map(([key, active]) => ({ key, active, lane: known.get(key) }));
}

const isDrawn = (state) => state < ACTIVE_STATES || view.lanes === "thread";
// Threads at a time, of which a lane had at most so many.
const activeAt = (window, values) => values.slice(0, ACTIVE_STATES).reduce((sum, value) => sum + value, 0) / Math.max(1, window.covered);
function scaleOf(key, windows, by) {
	const peak = largestOf(windows.map((window) => window.lanes.has(key) ? activeAt(window, window.lanes.get(key)) : 0));
	return by === "thread" ? 1 : peak || 1;
}

// Of neighbours with the same region: {name, begin, end}.
function regionRuns(key, windows) {
	const runs = [];
	for (const window of windows) {
		const region = window.regions.get(key), last = runs[runs.length - 1];
		if (!region) continue;
		if (last && last.name === region.name && window.begin - last.end < 0.001) last.end = window.end;
		else runs.push({ name: region.name, begin: window.begin, end: window.end });
	}
	return runs;
}
const percent = (part, all) => `${(100 * part / Math.max(1, all)).toFixed(0)} %`;
// Of a window; of threads that are in it at once, the share is above 100 %.
const regionWords = (region, covered) => `region ${region.name}: left ${region.count}×, wall time ${percent(region.wall, covered)} of the window${region.missed ? `, not watched for ${seconds(region.missed)}` : ""}`;
// The longest of all windows in sight, of those that were the longest of one; null: none.
function longestRegion(key, windows) {
	const sums = new Map();
	for (const window of windows) {
		const region = window.regions.get(key);
		if (!region) continue;
		const sum = sums.get(region.name) || { name: region.name, wall: 0, count: 0 };
		sums.set(region.name, { ...sum, wall: sum.wall + region.wall, count: sum.count + region.count });
	}
	return [...sums.values()].sort((a, b) => b.wall - a.wall)[0] || null;
}

// What lanes are, without their figures. Of a page that stays open, only those of windows that are there.
function knowLanes(known, answer, windows) {
	for (const lane of answer) known.set(laneKey(lane), { name: lane.name, pid: lane.pid, tid: lane.tid, container: lane.container });
	for (const key of [...known.keys()]) if (!windows.some((window) => window.lanes.has(key))) known.delete(key);
}

async function loadLanes() {
	$("lanes").hidden = !view.lanes;
	if (!view.lanes) return;
	const what = [view.lanes, view.range, view.end].join(), isNew = lanes.loaded !== what || !lanes.windows.length || lanes.windows.length >= LANES_MOST || view.end;
	const after = isNew ? 0 : lanes.windows[lanes.windows.length - 1].end, by = view.lanes;
	const answer = await ask(`api/v1/lanes?by=${by}&top=100&from=${isNew ? Math.floor(from) : after}&to=${Math.ceil(to)}`);
	if (!answer.ok) throw new Error(await answer.text());
	const got = await answer.json();
	if (by !== view.lanes) return;
	if (isNew) Object.assign(lanes, { windows: [], known: new Map(), by, loaded: what });
	lanes.windows.push(...windowsOfLanes(got, after));
	lanes.windows = lanes.windows.filter((window) => window.end > from && window.begin < to);
	knowLanes(lanes.known, got.lanes, lanes.windows);
	lanes.hasWaits = lanes.hasWaits && !isNew || got.has_waits;
	drawLanes();
}

function laneNote() {
	const left = largestOf(lanes.windows.map((window) => window.left)) + Math.max(0, lanes.known.size - lanes.shown.length);
	const parts = [`A history keeps sums by slice: a click tells no stack, waker or lock holder of a moment; record with --trace for those. ${view.lanes === "thread" ? "A lane is as high as one thread." : "Each lane has its own scale, its peak is at the right."}`];
	if (!lanes.hasWaits) parts.push("Waits were not recorded (events = offcpu): only on-CPU and run queue are known.");
	else if (view.lanes !== "thread") parts.push("Sleep is in words only.");
	if (lanes.windows.some((window) => window.watched)) parts.push(view.lanes === "thread" ? "Regions are kept by process: threads have none." : "Above a lane is the outermost region with the most wall time; regions count in the slice in which they are left.");
	if (left) parts.push(`The ${lanes.shown.length} most active are shown.`);
	return parts.join(" ");
}

function drawLanes() {
	if (!view.lanes) return;
	const canvas = $("lane-picture"), context = canvas.getContext("2d"), ratio = devicePixelRatio || 1, style = getComputedStyle(document.documentElement), color = (name) => style.getPropertyValue(name).trim();
	lanes.shown = rankLanes(lanes.windows, lanes.known);
	lanes.band = lanes.shown.some(({ key }) => lanes.windows.some((window) => window.regions.has(key))) ? LANE_BAND : 0;
	const wide = width(), high = Math.max(1, lanes.shown.length) * laneHeight();
	if (canvas.width !== Math.round(wide * ratio) || canvas.height !== Math.round(high * ratio)) {
		canvas.width = Math.round(wide * ratio);
		canvas.height = Math.round(high * ratio);
		canvas.style.width = wide + "px";
		canvas.style.height = high + "px";
	}
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.clearRect(0, 0, wide, high);
	context.font = "11px system-ui, sans-serif";
	lanes.shown.forEach((shown, row) => drawLane(context, shown, row * laneHeight(), wide, color));
	drawLaneCursor(context, color);
	canvas.setAttribute("aria-label", `Lanes of ${lanes.shown.length} ${(LANE_BYS.find(([by]) => by === view.lanes) || ["", ""])[1]}. Arrows choose a lane and a window, Enter opens its report.`);
	$("lane-note").textContent = lanes.shown.length ? laneNote() : "No history of this interval yet.";
	$("lane-legend").replaceChildren(...STATES.filter((_, i) => isDrawn(i) && (lanes.hasWaits || i < 2 || i === STATES.length - 1)).map(([word, name]) => {
		const item = document.createElement("li"), swatch = document.createElement("i");
		swatch.style.background = color(name);
		item.append(swatch, word);
		return item;
	}));
	if ($("lane-table")) drawLaneTable();
}

function drawLane(context, { key, lane }, top, wide, color) {
	const scale = scaleOf(key, lanes.windows, view.lanes), roof = top + LANE_NAME + lanes.band, foot = roof + LANE_BAR, peak = view.lanes === "thread" ? "" : `peak ${scale < 0.005 ? "<0.01" : scale.toFixed(2)} threads`, room = context.measureText(peak).width;
	context.fillStyle = color("--text");
	context.fillText(fitLane(context, laneTitle(lane), wide - room - 24), 0, top + 11);
	context.fillStyle = color("--dim");
	context.fillText(peak, wide - room, top + 11);
	context.fillStyle = color("--gap");
	context.fillRect(0, roof, wide, LANE_BAR);
	drawRegions(context, key, top + LANE_NAME, color);
	for (const window of lanes.windows) {
		const values = window.lanes.get(key), x = xOf(window.begin), end = xOf(window.end);
		if (!values) continue;
		let y = foot;
		STATES.forEach(([, name], state) => {
			if (!isDrawn(state) || !values[state]) return;
			const part = Math.min(y - roof, values[state] / Math.max(1, window.covered) / scale * LANE_BAR);
			context.fillStyle = color(name);
			context.fillRect(x, y - part, Math.max(1, end - x - (end - x > 4 ? 0.5 : 0)), part);
			y -= part;
		});
	}
}
// A band, with the name where three letters fit.
function drawRegions(context, key, top, color) {
	for (const { name, begin, end } of regionRuns(key, lanes.windows)) {
		const x = Math.max(0, xOf(begin)), wide = Math.max(1, xOf(end) - x - 0.5), shown = fitLane(context, name, wide - 14);
		context.fillStyle = color("--band");
		context.fillRect(x, top, wide, LANE_BAND - 1);
		context.fillStyle = color("--text");
		if (shown === name ? context.measureText(name).width < wide - 4 : [...shown].length > 3) context.fillText(shown, x + 2, top + 10);
	}
}
function fitLane(context, text, room) {
	let shown = [...text].slice(0, 200);
	while (shown.length > 1 && context.measureText(shown.join("")).width > room) shown = shown.slice(0, -1);
	return shown.length < [...text].length ? shown.join("") + "…" : text;
}
function drawLaneCursor(context, color) {
	const row = lanes.at ? lanes.shown.findIndex(({ key }) => key === lanes.at.key) : -1, window = row >= 0 && lanes.windows.find((one) => one.begin <= lanes.at.time && lanes.at.time < one.end);
	if (!window) return;
	context.strokeStyle = color("--text");
	context.lineWidth = 1.5;
	context.strokeRect(xOf(window.begin), row * laneHeight() + LANE_NAME - 1, Math.max(3, xOf(window.end) - xOf(window.begin)), lanes.band + LANE_BAR + 2);
}

// ---- a moment ----

const wordsOf = (values) => STATES.map(([word], state) => values[state] ? `${word} ${seconds(values[state])}` : "").filter(Boolean).join(", ") || "nothing";
function describeLane() {
	const { at } = lanes, lane = at && lanes.known.get(at.key), window = at && lanes.windows.find((one) => one.begin <= at.time && at.time < one.end);
	if (!lane) return $("lane-text").replaceChildren();
	const values = window && window.lanes.get(at.key), region = window && window.regions.get(at.key), text = `${laneTitle(lane)}, ${window ? `${clock(window.begin)} to ${clock(window.end)}` : clock(at.time)}: ${!window ? "nothing was recorded" : values ? wordsOf(values) : "not among the most active, or idle"}${region ? `; ${regionWords(region, window.covered)}` : ""}${window && window.shed ? `; left out to stay within --max-cpu: ${window.shed}` : ""}. `;
	const open = document.createElement("button");
	open.type = "button";
	open.textContent = "its report";
	open.onclick = () => openLane();
	$("lane-text").replaceChildren(text, ...window && hasReport(lanes.by) ? [open] : []);
}
// Reports are chosen by pid, program and container: of several programs with names alike there is none.
const hasReport = (by) => by !== "name";
// The report of a window, of the process, program or container alone.
function openLane() {
	const { at } = lanes, lane = at && lanes.known.get(at.key), window = at && lanes.windows.find((one) => one.begin <= at.time && at.time < one.end);
	if (!lane || !window || !hasReport(lanes.by)) return;
	view.pid = lane.pid || 0;
	view.comm = !lane.pid && lanes.by === "comm" ? lane.name : "";
	view.container = !lane.pid && lanes.by === "container" ? lane.container || lane.name : "";
	choose(window.begin, window.end, true);
}
function chooseLane(key, time) {
	lanes.at = { key, time };
	drawLanes();
	describeLane();
}

function drawLaneTable() {
	const line = (cells, tag) => {
		const row = document.createElement("tr");
		for (const text of cells) {
			const cell = document.createElement(tag);
			cell.textContent = text;
			row.append(cell);
		}
		return row;
	};
	const ns = lanes.windows.reduce((sum, window) => sum + window.covered, 0), regionText = (region) => region ? `${region.name}, ${region.count}×, ${percent(region.wall, ns)}` : "·";
	$("lane-table").replaceChildren(line(["", ...STATES.map(([word]) => word), ...lanes.band ? ["longest region, left, wall time"] : []], "th"), ...lanes.shown.map(({ key, lane }) => {
		const sums = STATES.map(() => 0);
		for (const window of lanes.windows) (window.lanes.get(key) || []).forEach((value, state) => { sums[state] += value; });
		return line([laneTitle(lane), ...sums.map((value) => value ? seconds(value) : "·"), ...lanes.band ? [regionText(longestRegion(key, lanes.windows))] : []], "td");
	}));
}

function listenToLanes() {
	const canvas = $("lane-picture");
	$("lane-by").append(...LANE_BYS.map(([value, text]) => new Option(text, value)));
	$("lane-by").value = view.lanes;
	$("lane-by").onchange = (event) => { view.lanes = event.target.value; lanes.at = null; describeLane(); changed(); };
	$("lane-numbers").onclick = () => {
		const isShown = $("lane-table") !== null;
		$("lane-numbers").setAttribute("aria-pressed", String(!isShown));
		if (isShown) return $("lane-table").remove();
		const table = document.createElement("table");
		table.id = "lane-table";
		$("lane-text").after(table);
		drawLaneTable();
	};
	canvas.addEventListener("click", (event) => {
		const box = canvas.getBoundingClientRect(), shown = lanes.shown[Math.floor((event.clientY - box.top) / laneHeight())];
		if (shown) chooseLane(shown.key, timeAt(event.clientX - box.left));
	});
	canvas.addEventListener("dblclick", openLane);
	canvas.addEventListener("keydown", (event) => {
		const row = lanes.at ? lanes.shown.findIndex(({ key }) => key === lanes.at.key) : -1, down = { ArrowUp: -1, ArrowDown: 1 }[event.key], along = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
		if (event.key === "Enter") openLane();
		else if (!down && !along || !lanes.windows.length || !lanes.shown.length) return;
		else {
			const at = lanes.at ? lanes.windows.findIndex((one) => lanes.at.time < one.end) : -1, bound = (number, count) => Math.max(0, Math.min(count - 1, number));
			const window = lanes.windows[bound((at < 0 ? lanes.windows.length - 1 : at) + (along || 0), lanes.windows.length)];
			chooseLane(lanes.shown[bound(row + (down || 0), lanes.shown.length)].key, (window.begin + window.end) / 2);
			const top = bound(row + (down || 0), lanes.shown.length) * laneHeight(), box = $("lane-box");
			if (top < box.scrollTop) box.scrollTop = top;
			else if (top + laneHeight() > box.scrollTop + box.clientHeight) box.scrollTop = top + laneHeight() - box.clientHeight;
		}
		event.preventDefault();
	});
}
