// SPDX-License-Identifier: BSD-2-Clause
/* Sums of lanes against a walk over all their waits. usage: node page_lanes.test.js PAGE_FOLDER */
const {readFileSync} = require("fs"), assert = require("assert");
const [folder] = process.argv.slice(2), source = readFileSync(`${folder}/lanes.js`, "utf8");
const {readLanes, sumUpTo, sumBetween, laneMoment, waitAt, LANE_KINDS} = new Function(`const profile = {};\n${source}\nreturn {readLanes, sumUpTo, sumBetween, laneMoment, waitAt, LANE_KINDS};`)();

/* The same numbers in every run. */
let seed = 12345;
const random = below => {
	seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
	return (seed >>> 8) % below;
};

/* A lane of so many waits, with gaps of which a part is on a CPU. */
function makeLane(count) {
	let at = 1000 + random(500);
	const waits = [], begin = at;
	for (let i = 0; i < count; i++) {
		const gap = random(4) ? random(300) : 0, ran = random(2) ? gap : random(gap + 1), length = random(200), queue = random(3) ? 0 : random(50);
		at += gap;
		waits.push({begin: at, length, queue, ran, kind: 2 + random(LANE_KINDS.length - 2)});
		at += length + queue;
	}
	const lastGap = random(100), lastRan = random(lastGap + 1);
	return {begin, end: at + lastGap, lastRan, waits};
}

function pack(lanes) {
	const waits = lanes.flatMap(lane => lane.waits), n = waits.length, raw = new ArrayBuffer(80 * n + 400);
	let at = 0;
	const put = (Type, values) => {
		new Type(raw, at, values.length).set(values);
		at += Math.ceil(values.length * Type.BYTES_PER_ELEMENT / 8) * 8;
	};
	for (const key of ["begin", "length", "queue", "ran"]) put(Float64Array, waits.map(wait => wait[key]));
	put(Uint8Array, waits.map(wait => wait.kind));
	return readLanes(raw, 0, {waits: n, samples: 0, stacks: 0, functions: 0, least_ns: 1, missing: 0, causes: [], regions: [],
		threads: lanes.map((lane, i) => [1, i, "worker", "server", 0, lane.begin, lane.end, lane.lastRan, 1, lane.waits.length, 0])});
}

/* What a lane has done until then, piece by piece. */
function walk(lane, ns) {
	const sums = new Float64Array(LANE_KINDS.length), pieces = [];
	let at = lane.begin;
	for (const wait of lane.waits) {
		pieces.push([at, wait.begin, wait.ran], [wait.begin, wait.begin + wait.length, wait.kind, true], [wait.begin + wait.length, wait.begin + wait.length + wait.queue, 2, true]);
		at = wait.begin + wait.length + wait.queue;
	}
	pieces.push([at, lane.end, lane.lastRan]);
	for (const [begin, end, what, isWait] of pieces) {
		const part = Math.max(0, Math.min(ns, end) - begin);
		if (isWait) sums[what] += part;
		else if (end > begin) {
			sums[0] += part * what / (end - begin);
			sums[1] += part * (1 - what / (end - begin));
		}
	}
	return sums;
}

const made = [0, 1, 2, 15, 16, 17, 31, 32, 33, 48, 200].map(makeLane), lanes = pack(made);
lanes.threads.forEach((lane, i) => {
	const sums = new Float64Array(LANE_KINDS.length);
	let hint = -1;
	for (let ns = made[i].begin - 50; ns < made[i].end + 60; ns += 1 + random(40)) {
		hint = sumUpTo(lanes, lane, ns, sums, hint);
		assert.equal(hint, waitAt(lanes, lane, Math.min(ns, lane.end)), "a hint changes nothing");
		walk(made[i], ns).forEach((sum, kind) => assert(Math.abs(sum - sums[kind]) < 1e-6, `lane of ${lane.count}, ${ns} ns, ${LANE_KINDS[kind][0]}: ${sums[kind]}, expected ${sum}`));
	}
	/* All of it is its length. */
	const whole = sumBetween(lanes, lane, 0, 1e12).reduce((sum, part) => sum + part, 0);
	assert(Math.abs(whole - (lane.end - lane.begin)) < 1e-6, `a lane of ${lane.count} waits is ${whole} ns long`);
	/* A moment is what it is in. */
	for (const [at, wait] of made[i].waits.entries()) {
		if (wait.length) assert.deepEqual([laneMoment(lanes, lane, wait.begin).at, laneMoment(lanes, lane, wait.begin).kind], [at, wait.kind]);
		if (wait.queue) assert.equal(laneMoment(lanes, lane, wait.begin + wait.length).kind, 2);
	}
	assert.equal(laneMoment(lanes, lane, lane.begin - 1), null);
	assert.equal(laneMoment(lanes, lane, lane.end + 1), null);
});

/* Fingers keep the times on which they were put. */
const touch = readFileSync(`${folder}/lane_touch.js`, "utf8"), viewOfFingers = new Function(`${touch}\nreturn viewOfFingers;`)();
const timeAt = ([from, to], part) => from + part * (to - from), near = (a, b) => assert(Math.abs(a - b) < 1e-6, `${a} is not ${b}`);
let view = viewOfFingers([{part: .3, ns: 700}], 1000);
near(view[1] - view[0], 1000);
near(timeAt(view, .3), 700);
for (const fingers of [[{part: .2, ns: 500}, {part: .7, ns: 600}], [{part: .7, ns: 600}, {part: .2, ns: 500}]]) {
	view = viewOfFingers(fingers, 1000);
	near(timeAt(view, .2), 500);
	near(timeAt(view, .7), 600);
}
/* Together or crossed, on one time or none, it is a picture all the same. */
for (const fingers of [[{part: .5, ns: 500}, {part: .5, ns: 600}], [{part: .7, ns: 500}, {part: .2, ns: 600}], [{part: .2, ns: 500}, {part: .6, ns: 500}]]) {
	view = viewOfFingers(fingers, 1000);
	assert(view[1] > view[0] && view.every(Number.isFinite), `${view}`);
}
