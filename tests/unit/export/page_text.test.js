// SPDX-License-Identifier: BSD-2-Clause
/* The pure functions of the page's JavaScript: numbers, search, levels of a range. usage: node page_text.test.js PAGE_FOLDER FLAME_GRAPH_JS */
const {readFileSync} = require("fs"), assert = require("assert");
const [folder, flameGraph] = process.argv.slice(2), read = name => readFileSync(`${folder}/${name}`, "utf8");
/* Only definitions: nothing of the files runs but them. */
const functionOf = (source, name) => {
	const at = source.indexOf(`function ${name}(`);
	assert(at >= 0, `no function ${name}`);
	return source.slice(at, source.indexOf("\n}", at) + 2);
};
const define = (source, names, result, given = "") => new Function(`${given}\n${names.map(name => functionOf(source, name)).join("\n")}\nreturn ${result};`)();

const text = read("text.js"), lineOf = start => text.slice(text.indexOf(start), text.indexOf(";\n", text.indexOf(start)) + 1);
const digits = text.slice(text.indexOf("const digits"), text.indexOf("};", text.indexOf("const digits")) + 2);
const {time, bytes, percent} = define(text, ["time", "bytes", "percent"], "{time, bytes, percent}", `const NARROW = " ";\n${digits}\n${lineOf("const count")}`);

/* A unit ends where its digits would. */
assert.equal(bytes(1048575), "1.00 MiB");
assert.equal(bytes(1023.4 * 1024), "1023 KiB");
assert.equal(bytes(1023), "1,023 B");
assert.equal(bytes(-2048), "-2.00 KiB");
assert.equal(time(9.996e6), "10.0 ms");
assert.equal(time(99.96e6), "100 ms");
assert.equal(time(999.6), "1.00 µs");
assert.equal(time(59.96e9), "1 min 00 s");
assert.equal(time(-5e9), "-5.00 s");
assert.equal(time(0), "0 ns");
/* Nearly all is not all. */
assert.equal(percent(1), "100 %");
assert.equal(percent(.9996), ">99.9 %");
assert.equal(percent(.9994), "99.9 %");
assert.equal(percent(.0001), "<0.1 %");
assert.equal(percent(0 / 0), "–");

/* What is typed or pasted is found as it stands. */
const names = [["std::vector<int>::push_back(int const&)", "push_back(int const&)"], ["T::operator[](int)", "operator[]"], ["f(int*)", "F(INT*)"], ["[unknown]", "[unknown]"], ["/a/b", "/a/b"]];
for (const matcher of [define(read("call_tree.js"), ["matcher"], "matcher"),
	term => define(readFileSync(flameGraph, "utf8"), ["matcher"], "matcher()", `const term = ${JSON.stringify(term)};`)]) {
	for (const [name, typed] of names) assert(matcher(typed)(name), `${typed} is not found in ${name}`);
	assert(!matcher("[unknown]")("main"));
	assert(!matcher("ma.n")("main"));
	assert(matcher("/^ma.n$/")("main"));
	assert(!matcher("/(/")("main"));
}
/* A link cannot bring an expression. */
const literal = new Function(`${read("address.js").match(/const literalSearch = .*;/)[0]} return literalSearch;`)();
assert.equal(literal("/(a+)+$/"), "");
assert.equal(literal("f(int*)"), "f(int*)");

/* Two values over three slices: weights of a range add up, levels are those at its end. */
const values = (isLevel, range) => {
	const taken = {}, kind = {is_level: isLevel, value: [7, 9], part: [0, 0, 1, 0], slice: [0, 1, 1, 2], weight: [5, 3, 9, -1]};
	define(read("time_line.js"), ["eachLevel", "eachValue"], "eachValue", `const state = {range: ${JSON.stringify(range)}}, isWholeRange = () => !state.range;`)(kind, (i, weight) => taken[i] = (taken[i] || 0) + weight);
	return taken;
};
assert.deepEqual(values(false, [1, 2]), {0: 3, 1: 9});
assert.deepEqual(values(true, [1, 2]), {0: 8, 1: 9});
assert.deepEqual(values(true, [2, 3]), {0: 7, 1: 9});
assert.deepEqual(values(true, [0, 1]), {0: 5});
assert.deepEqual(values(true, null), {0: 7, 1: 9});

/* Peers, requests and memory are of processes: a row of a container or region leaves all of them, and says so. */
const lineIn = (source, start) => source.slice(source.indexOf(start), source.indexOf(";\n", source.indexOf(start)) + 1);
const peers = read("peers.js"), picking = ["const pickedRows", "const isPickKnown", "const isOfPick"].map(start => lineIn(peers, start)).join("\n");
const isOfPick = row => new Function(`const state = {pick: {rows: new Set([0])}}, profile = {report: {rows: [${JSON.stringify(row)}]}};\n${picking}\nreturn isOfPick;`)();
assert(isOfPick({pid: 7, comm: "server"})({pid: 7, comm: "server"}));
assert(!isOfPick({pid: 7, comm: "server"})({pid: 8, comm: "server"}));
assert(isOfPick({comm: "server"})({pid: 8, comm: "server"}));
assert(!isOfPick({comm: "server"})({pid: 8, comm: "other"}));
assert(isOfPick({container: "web"})({pid: 8, comm: "server"}));
assert(isOfPick({region: "checkout"})({pid: 8, comm: "server"}));
/* A percentile of joined rows is not theirs, which its column says. */
const p99 = read("processes.js").split("\n").find(line => line.includes('["p99"'));
assert(/larger, time, "[^"]*joined rows/.test(p99), p99);

/* A window without the place that is zoomed in on does not end the wish for it; waits of a kind that is new are as usual. */
{
	const given = "let profile;\nconst state = {kind: 'cpu', chosen: -1, waits: new Set(), zoom: {kind: 'cpu', key: 'r', path: [0, 1]}};\nconst rowKey = row => row.comm, usualWaits = () => profile.kinds.offcpu.states.filter(name => name !== 'sleep');";
	const {state, renew} = define(read("page.js"), ["carryChosen"], "{state, renew(next) { const before = profile; profile = next; if (before) carryChosen(before); }}", given);
	const profileOf = (names, kinds) => ({names, kinds, kindNames: Object.keys(kinds), report: {rows: []}}), offcpu = {states: ["sleep", "disk", "runqueue"]};
	renew(profileOf(["main", "work"], {cpu: {}, offcpu}));
	state.waits = new Set(["sleep"]);
	renew(profileOf(["other", "main"], {cpu: {}, offcpu}));
	assert.deepEqual(state.zoom.path, [1, -1]);
	renew(profileOf(["work", "x", "main"], {cpu: {}, offcpu}));
	assert.deepEqual([state.zoom.path, state.zoom.key, [...state.waits]], [[2, 0], "r", ["sleep"]]);
	state.waits = new Set();
	renew(profileOf([], {cpu: {}}));
	assert.equal(state.waits.size, 0);
	renew(profileOf([], {cpu: {}, offcpu}));
	assert.deepEqual([...state.waits], ["disk", "runqueue"]);
}

/* In a range waits for a GPU are a state of their own, as in all of the interval: what spins below a call that only waits, and what sleeps
 * below that or a copy. A copy's CPU time stays its own. */
const timesOf = (hasState, hasCpu) => {
	/* Nodes: root, main, a wait below it, something in that; a copy below main. */
	const tree = () => ({name: [9, 0, 1, 2, 3], parent: [-1, 0, 1, 2, 1]}), all = [1, 2, 3, 4];
	const kinds = {offcpu: {tree: tree(), node: all, row: [0, 0, 0, 0], states: ["sleep", "disk"], state: [0, 0, 1, 0], value: [1, 2, 4, 8]}};
	if (hasCpu) kinds.cpu = {tree: tree(), node: all, row: [0, 0, 0, 0], value: [1, 2, 4, 8]};
	const given = `const profile = {kinds: ${JSON.stringify(kinds)}, gpuWaits: [0, 2, 0, 1], report: {sampling: {frequency_hz: 1e9}, rows: [{gpu: {state_ns: ${hasState ? 5 : 0}}}]}};
		const rangeNs = () => 15, at = (object, ...keys) => keys.reduce((value, key) => value === undefined ? undefined : value[key], object), eachValue = (kind, take) => kind.value.forEach((value, i) => take(i, value));`;
	return define(read("processes.js"), ["gpuWaitsOf", "timesInRange"], "timesInRange()", given).get(0);
};
assert.deepEqual(timesOf(true, true), {all: 15, on: 9, gpu: 6 + 10, sleep: 1, disk: 4, cpu: 1});
assert.deepEqual(timesOf(false, true), {all: 15, on: 15, sleep: 11, disk: 4, cpu: 1});

/* Parts of a request add up to its time; waits of one kind are one part. */
{
	const source = read("requests.js"), constants = source.slice(source.indexOf("const REQUEST_KINDS"), source.indexOf("/* Parts of a request"));
	const partsOf = define(source, ["requestParts"], "requestParts", constants);
	const request = {wall_ns: 100, on_cpu_ns: 10, runqueue_ns: 5, other_wait_ns: 15, waits: [{kind: "lock", wait_ns: 30}, {kind: "disk", wait_ns: 20}, {kind: "lock", wait_ns: 12}, {kind: "new", wait_ns: 8}]};
	const parts = partsOf(request);
	assert.deepEqual(parts, [["on-CPU", "on", 10], ["run queue", "rq", 5], ["lock", "lk", 42], ["disk", "dk", 20], ["new", "sp", 8], ["other waits", "sp", 15]]);
	assert.equal(parts.reduce((sum, [, , ns]) => sum + ns, 0), request.wall_ns);
	assert.deepEqual(partsOf({on_cpu_ns: 7, runqueue_ns: 0, other_wait_ns: 0, waits: []}), [["on-CPU", "on", 7]]);
}
