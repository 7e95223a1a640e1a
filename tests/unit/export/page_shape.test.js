// SPDX-License-Identifier: BSD-2-Clause
/* Other shapes of a call tree, addresses, and copied stacks. usage: node page_shape.test.js PAGE_FOLDER */
const {readFileSync} = require("fs"), assert = require("assert");
const [folder] = process.argv.slice(2), read = name => readFileSync(`${folder}/${name}`, "utf8");
const state = {reversed: false, byModule: false, allFrames: true, view: "graph", waits: new Set(), search: "", chosen: -1}, profile = {}, laneState = {by: "process", from: 0, to: 0, whole: 0, cursor: null}, location = {hash: ""};
const words = "const NARROW = '\\u202f', MARK_NATIVE = 0, MARK_KERNEL = 1, MARK_INLINED = 2, MARK_JIT = 3, MARK_PYTHON = 4, MARK_TRUNCATED = 5, MARK_UNRESOLVED = 6, MARK_ROOT = 7, LANE_SPAN_LEAST = 2000;";
const page = new Function("state", "profile", "laneState", "location", `${words}
const hasTimes = () => true, hasLanes = () => Boolean(profile.lanes), rangeBetween = (from, to) => from < to ? [from, to] : null, percent = share => 100 * share + " %";
const boundLanes = () => { laneState.whole = 1e9; };
${read("call_tree.js")}
${read("graph_shape.js")}
${read("address.js")}
return {shapeOf, shapeKey, nameModules, makeTree, addTotals, searchTree, addressOf, loadAddress, numbersOf, plainText, stackText};`)(state, profile, laneState, location);

/* main > work > inlined > read > [kernel], main > work, other > [truncated], of two processes. */
Object.assign(profile, {
	names: ["main", "work", "inlined", "read", "sys_read", "[libx.so+0x10]", "[truncated: x]", "one", "two", "[region]", "[pkbpf]", "[unknown]"], marks: [0, 0, 2, 0, 1, 6, 5, 7, 7, 0, 1, 6], modules: ["app", "app", "app", "libc.so.6", "kernel", "libx.so", ""],
	plumbing: Uint8Array.from([0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]), kindNames: ["cpu", "offcpu"], report: {rows: [{}, {}, {}]}, slices: []
});
const nodes = [[-1, 0], [7, 1], [0, 2], [1, 3], [2, 4], [3, 5], [4, 6], [8, 1], [6, 2], [5, 3], [0, 3], [1, 4]], kind = {
	tree: page.makeTree(Int32Array.from(nodes, node => node[0]), Uint16Array.from(nodes, node => node[1])),
	node: Uint32Array.of(6, 3, 9, 11, 6), value: Float64Array.of(5, 2, 4, 1, 3), title: "CPU", states: []
};
profile.kinds = {cpu: kind, offcpu: {states: ["sleep", "disk", "runqueue"]}};
page.nameModules(profile);
assert.deepEqual([9, 10, 11].map(id => profile.names[profile.moduleOf[id]]), ["[region]", "[pkbpf]", "[unknown]"]);
assert.deepEqual([9, 10, 11].map(id => profile.moduleOf[id] === id), [true, true, false]);

const modelOf = () => {
	const key = page.shapeKey(), {tree, place, pool} = page.shapeOf(kind, key), own = new Float64Array(tree.length);
	kind.node.forEach((node, i) => own[place ? place[node] : node] += kind.value[i]);
	return {tree, pool, isReversed: key.includes("r"), total: page.addTotals(tree, own)};
};
const linesOf = ({tree, total}) => [...tree.name].map((id, i) => `${" ".repeat(tree.depth[i])}${id < 0 ? "all" : profile.names[id]} ${total[i]}`);

/* Forward, it is the tree of the file. */
assert.equal(modelOf().tree, kind.tree);
state.byModule = true;
assert.deepEqual(linesOf(modelOf()), ["all 15", " one 10", "  app 10", "   libc.so.6 8", "    kernel 8", " two 5", "  [truncated: x] 5", "   libx.so 4", "   app 1"]);
state.reversed = true;
assert.deepEqual(linesOf(modelOf()), ["all 15", " kernel 8", "  libc.so.6 8", "   app 8", "    one 8", " libx.so 4", "  [truncated: x] 4", "   two 4", " app 3", "  one 2", "  [truncated: x] 1", "   two 1"]);
state.byModule = false;
assert.deepEqual(linesOf(modelOf()).slice(0, 7), ["all 15", " sys_read 8", "  read 8", "   inlined 8", "    work 8", "     main 8", "      one 8"]);
/* What says nothing is left out, so that its callers meet. */
state.allFrames = false;
assert.deepEqual(linesOf(modelOf()).slice(1, 4), [" sys_read 8", "  inlined 8", "   work 8"]);
/* The functions' table has its own order. */
state.view = "functions";
assert.equal(page.shapeKey(), "");
state.view = "graph";
/* A search finds the same stacks in each shape. */
for (const isReversed of [false, true]) {
	state.reversed = isReversed;
	const model = modelOf();
	assert.equal(page.searchTree(model, "work").sum, 11);
	assert.equal(page.searchTree(model, "two").sum, 5);
}

/* Copied: leaf first, whichever way it stands; nothing that a terminal acts on. */
const flame = node => ({model: modelOf(), kind: "cpu", options: {format: value => value + "\u202fs"}, node});
state.reversed = false;
const copied = "sys_read (kernel)\nread (libc.so.6)\ninlined (app)\nwork (app)\nmain (app)\none\nCPU: 8 s, ";
assert(page.stackText(flame(), 6).startsWith(copied));
state.reversed = state.allFrames = true;
assert(page.stackText(flame(), 6).startsWith(copied));
assert.equal(page.plainText("a\u001b[31mb\u202ec\u0000d\u009be\n"), "a?[31mb?c?d?e\n");

/* An address says what is chosen, and brings it back. */
Object.assign(profile, {lanes: {threads: [{index: 0, begin: 0, end: 5e8}, {index: 1, begin: 1e8, end: 9e8}]}});
const chosen = {kind: "offcpu", view: "graph", reversed: true, byModule: true, allFrames: false, rootBelow: true, waits: new Set(["sleep"]), search: "f(int*)", chosen: -1, range: [1, 3], pick: {rows: new Set([0, 2]), text: "<b>"}, zoom: {kind: "offcpu", key: "rm", path: [1, 2, 300]}};
Object.assign(state, chosen);
Object.assign(laneState, {by: "name", from: 1e6, to: 2e6, whole: 1e9, cursor: {lane: profile.lanes.threads[1], ns: 1.5e8}});
location.hash = "#" + page.addressOf();
const there = JSON.stringify([state, [...state.waits], [...state.pick.rows], laneState]);
Object.assign(state, {kind: "", reversed: false, waits: new Set(), zoom: null, pick: null, range: null});
Object.assign(laneState, {by: "process", from: 0, to: 0, cursor: null});
page.loadAddress();
assert.equal(JSON.stringify([state, [...state.waits], [...state.pick.rows], laneState]), there);
/* Nothing chosen, nothing in it. */
location.hash = "";
page.loadAddress();
assert.equal(String(page.addressOf()), "");

/* Whatever else stands in an address is left out. */
for (const hash of ["#rows=9.x", "#rows=1e3", "#range=3.1", "#range=-1.2", "#range=1", "#zoom=../..", "#zoom=" + "1.".repeat(1e5), "#zoom=99999999999999999999", "#kind=__proto__&view=constructor&waits=toString", "#function=1e9", "#function=99999",
	"#lanes=5.1", "#lanes=0.99999999999", "#lanes=1.2", "#moment=7.1", "#moment=NaN.1", "#moment=__proto__.1", "#group=__proto__", "#search=/(a+)+$/", "#%", "#=&&=", "#reversed=true"]) {
	location.hash = hash;
	page.loadAddress();
	const address = String(page.addressOf());
	assert(address === "" || address === "waits=", `${hash.slice(0, 60)} is taken as ${address}`);
}
location.hash = "#moment=1.99999999999";
page.loadAddress();
assert.equal(laneState.cursor.ns, 9e8);
assert.equal(page.numbersOf("1.2.3", 1, 2), null);
assert.equal(page.numbersOf("", 0, 2).length, 0);
