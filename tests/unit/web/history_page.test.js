// SPDX-License-Identifier: BSD-2-Clause
/* Lanes and series of the history as answers come in one after the other. usage: node history_page.test.js WEB_FOLDER */
const {readFileSync} = require("fs"), assert = require("assert");
const [folder] = process.argv.slice(2), read = name => readFileSync(`${folder}/${name}`, "utf8");
const view = {lanes: "process"};
const page = new Function("view", `${read("history_lanes.js")}\n${read("history_live.js")}
const seconds = ns => ns / 1e9 + " s";
return {windowsOfLanes, rankLanes, scaleOf, laneTitle, wordsOf, isDrawn, appendSeries, nextAsk, live, knowLanes, largestOf, hasReport, newsQuery, payFor, COST_OWED, regionRuns, regionWords, longestRegion, laneHeight, lanes};`)(view);

const lane = (name, pid, ...values) => ({name, pid, values: [values, null, values.map(value => value / 2), null, null, null, null]});
const answer = (begins, lanes, left = 0) => ({windows: begins.map(begin => [begin, begin + 10]), covered_ns: begins.map(() => 1e10), left_out: begins.map(() => null), lanes,
	others: {lanes: left, lane: {name: "others", values: [null, null, null, null, null, null, null]}}});

/* Windows follow each other; those that are there already, and lanes that were idle, are not in them. */
const first = page.windowsOfLanes(answer([100, 110], [lane("a", 1, 4e9, 2e9), lane("b", 2, 0, 3e9)], 5), 0);
assert.deepEqual(first.map(window => [window.begin, window.end, window.lanes.size, window.left]), [[100, 110, 1, 5], [110, 120, 2, 5]]);
const next = page.windowsOfLanes(answer([110, 120.0004], [lane("b", 2, 9e9, 6e9)]), 120);
assert.deepEqual(next.map(window => [window.begin, [...window.lanes.values()][0][0]]), [[120.0004, 6e9]]);

/* The longest region of each window; neighbours with the same one are one run, and a gap parts them. */
const marked = {...answer([100, 110, 130, 140, 150], [{...lane("a", 1, 4e9, 2e9, 1e9, 1e9, 1e9), regions: [[0, 4e9, 8, 0], [0, 1e9, 2, 5e8], [0, 2e9, 1, 0], null, [1, 6e9, 3, 0]]}, lane("b", 2, 1e9, 1e9, 1e9, 1e9, 1e9)]),
	region_names: ["<b>step</b>", "save"], regions_ns: [1e10, 1e10, 1e10, 0, 1e10]};
const tiles = page.windowsOfLanes(marked, 0), [markedKey, plainKey] = tiles[0].lanes.keys();
assert.deepEqual(tiles.map(window => window.watched), [1e10, 1e10, 1e10, 0, 1e10]);
assert.deepEqual(page.regionRuns(markedKey, tiles), [{name: "<b>step</b>", begin: 100, end: 120}, {name: "<b>step</b>", begin: 130, end: 140}, {name: "save", begin: 150, end: 160}]);
assert.deepEqual(page.regionRuns(plainKey, tiles), []);
assert.equal(page.regionWords(tiles[1].regions.get(markedKey), tiles[1].covered), "region <b>step</b>: left 2×, wall time 10 % of the window, not watched for 0.5 s");
assert.equal(page.regionWords(tiles[0].regions.get(markedKey), tiles[0].covered), "region <b>step</b>: left 8×, wall time 40 % of the window");
assert.deepEqual(page.longestRegion(markedKey, tiles), {name: "<b>step</b>", wall: 7e9, count: 11});
assert.equal(page.longestRegion(plainKey, tiles), null);
assert.equal(first[0].watched, 0);
assert.equal(page.laneHeight(), 39);
page.lanes.band = 13;
assert.equal(page.laneHeight(), 52);

/* The most active first, by what is in sight. */
const windows = [...first, ...next], known = new Map([...answer([], [lane("a", 1), lane("b", 2)]).lanes].map(one => [["" + one.pid, 0, "", one.name].join("\0"), one]));
assert.deepEqual(page.rankLanes(windows, known).map(({lane, active}) => [lane.name, active]), [["b", 13.5e9], ["a", 9e9]]);
assert.deepEqual(page.rankLanes(windows.slice(0, 1), known).map(({lane}) => lane.name), ["a"]);
/* Known are lanes of windows that are there, without their figures. */
const names = new Map();
page.knowLanes(names, [lane("a", 1, 4e9), lane("b", 2, 3e9)], windows);
assert.deepEqual([...names.values()].map(one => one.name), ["a", "b"]);
page.knowLanes(names, [], next);
assert.deepEqual([...names.values()], [{name: "b", pid: 2, tid: undefined, container: undefined}]);
assert.equal(page.largestOf([]), 0);
assert.equal(page.largestOf(Array.from({length: 1e6}, (_, i) => i)), 999999);
/* No report is chosen by a name without its digits: it would be of all programs. */
assert.deepEqual(["process", "thread", "container", "comm", "name"].map(page.hasReport), [true, true, true, true, false]);

/* A lane of a process has its own scale, a thread is as high as it is. */
const key = page.rankLanes(windows, known)[0].key;
assert(Math.abs(page.scaleOf(key, windows, "process") - .9) < 1e-9);
assert.equal(page.scaleOf(key, windows, "thread"), 1);
assert.equal(page.scaleOf("none", windows, "process"), 1);
assert.equal(page.isDrawn(4), true);
assert.equal(page.isDrawn(5), false);
view.lanes = "thread";
assert.equal(page.isDrawn(5), true);
assert.equal(page.laneTitle({name: "worker", pid: 1, tid: 2}), "worker 2");
assert.equal(page.laneTitle({name: "", container: ""}), "no container");
assert.equal(page.wordsOf([1e9, 0, 5e8, 0, 2e9, 0, 0, 0]), "on-CPU 1 s, disk wait 0.5 s, GPU wait 2 s");
assert.equal(page.wordsOf([0, 0, 0, 0, 0, 0, 0, 0]), "nothing");

/* A series goes on: what has left the picture is gone, what is new was nothing before. */
const series = (begins, ...named) => ({figure: "cpu.share", windows: begins.map(begin => [begin, begin + 10]), machine_busy_percent: begins.map(begin => begin), left_out: begins.map(() => null), series: named.map(([name, ...values]) => ({name, values}))});
const joined = page.appendSeries(series([100, 110], ["a", 1, 2], ["b", 5, 1]), series([110, 120], ["c", 7, 8], ["a", 2, 3]), 110);
assert.deepEqual(joined.windows, [[110, 120], [120, 130]]);
assert.deepEqual(joined.machine_busy_percent, [110, 120]);
assert.deepEqual(joined.series, [{name: "c", values: [0, 8]}, {name: "a", values: [2, 3]}, {name: "b", values: [1, 0]}]);
assert.deepEqual(page.appendSeries(series([]), series([100], ["a", 1]), 0).series, [{name: "a", values: [1]}]);

/* Asked once when the next window may be there, then each second. */
Object.assign(page.live, {length: 10, arrived: 1000000});
assert.equal(page.nextAsk(1000000), 9000);
assert.equal(page.nextAsk(1009000), 1000);
Object.assign(page.live, {length: 3600});
assert.equal(page.nextAsk(1000000), 15000);
Object.assign(page.live, {length: 1});
assert.equal(page.nextAsk(1000000), 1000);

/* Windows have the server's times: the browser's clock says only how long ago the last one came. */
Object.assign(page.live, {last: 0, arrived: 0});
assert.equal(page.newsQuery(9e15), "");
Object.assign(page.live, {last: 1700000000.5, arrived: 9e15});
assert.equal(page.newsQuery(9e15 + 1000), "&from=1700000000");
assert.equal(page.newsQuery(9e15 + 300000), "");

/* What answers cost the server is made up for before the next question: 10 ms a second. */
const costing = ms => page.payFor({headers: new Map([["Server-Timing", `cpu;dur=${ms}`]])});
Object.assign(page.live, {length: 1, arrived: 0, saved: 0, savedAt: 5000000});
costing(8);
assert.equal(page.nextAsk(5000000), 1000);
assert.equal(page.nextAsk(5001000), 1000);
costing(32);
assert.equal(page.nextAsk(5001000), 3000);
assert.equal(page.nextAsk(5004000), 1000);
/* Nothing is saved for long, and nothing is owed for long. */
costing(0);
page.nextAsk(9000000);
costing(50);
assert.equal(page.nextAsk(9000000), 3000);
costing(1e9);
assert.equal(page.nextAsk(9000000), page.COST_OWED * 100);
page.payFor({});

/* A choice of other lanes asks at once, without a new window; nothing chosen, nothing is asked for. */
(async () => {
	const none = {}, answers = {"api/v1/windows": {windows: [[90, 100]]}, "api/v1/series": series([90], ["a", 1])};
	const history = new Function("document", "fetch", "setTimeout", "clearTimeout", "addEventListener", "window", `${read("history_lanes.js")}\n${read("history_live.js")}\n${read("history.js").replace(/\nbegin\(\);\s*$/, "")}
drawMachine = drawChart = drawLegend = () => {};
loadAlerts = loadObjectives = async () => {};
loadLanes = async () => { loads.push(view.lanes); };
const loads = [];
return {view, loads, load};`)({getElementById: () => none}, async path => ({ok: true, json: async () => answers[path.split("?")[0]]}), () => 0, () => {}, () => {}, {});
	await history.load();
	await history.load();
	assert.deepEqual(history.loads, ["process"]);
	for (const lanes of ["thread", "", "process"]) {
		history.view.lanes = lanes;
		await history.load();
	}
	assert.deepEqual(history.loads, ["process", "thread", "", "process"]);
})().catch(error => {
	console.error(error);
	process.exitCode = 1;
});
