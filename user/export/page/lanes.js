// SPDX-License-Identifier: BSD-2-Clause
/* Single events by thread: what each did at a time, and sums of any interval. */

/* As enum lane_kind: word, color. */
const LANE_KINDS = [["on-CPU", "on"], ["waits not seen one by one", "bt"], ["run queue", "rq"], ["lock", "lk"], ["another thread", "th"], ["disk", "dk"], ["peer", "pr"], ["page fault", "pf"], ["kernel", "kn"], ["sleep", "sl"], ["stopped", "sp"], ["GPU wait", "gp"]];
const LANE_ON = 0, LANE_BETWEEN = 1, LANE_QUEUE = 2;
/* Sums up to the begin of every so manieth wait: of any interval, at most so many waits are added up at either end. */
const LANE_BLOCK = 16;
const WAIT_NAMES = ["on-CPU", "run queue", "sleep", "disk wait", "uninterruptible", "stopped"];
const WAKE_THREAD = 1, WAKE_INTERRUPT = 2;

/* null: none recorded. */
function readLanes(raw, at, {waits, samples, stacks, functions, least_ns, missing, causes, threads, regions}) {
	const column = (Type, length) => {
		const array = new Type(raw, at, length);
		at += Math.ceil(length * Type.BYTES_PER_ELEMENT / 8) * 8;
		return array;
	};
	if (!threads.length) return null;
	const lanes = {leastNs: least_ns, missing, causes, regions, waits, samples,
		begin: column(Float64Array, waits), length: column(Float64Array, waits), queue: column(Float64Array, waits), ran: column(Float64Array, waits),
		kind: column(Uint8Array, waits), state: column(Uint8Array, waits), cause: column(Uint8Array, waits), wake: column(Uint8Array, waits), stack: column(Uint32Array, waits),
		waker: column(Uint32Array, waits), wakerLane: column(Uint32Array, waits), owner: column(Uint32Array, waits), ownerLane: column(Uint32Array, waits),
		sampleBegin: column(Float64Array, samples), sampleStack: column(Uint32Array, samples), stackEnd: column(Uint32Array, stacks), name: column(Uint32Array, functions)};
	let first = 0, firstSample = 0, block = 0;
	lanes.threads = threads.map(([pid, tid, comm, process, row, begin, end, lastRan, isComplete, count, sampleCount], index) => {
		const lane = {index, pid, tid, comm, process, row, begin, end, lastRan, isComplete: Boolean(isComplete), first, count, firstSample, sampleCount, block};
		first += count;
		firstSample += sampleCount;
		block += Math.ceil(count / LANE_BLOCK);
		return lane;
	});
	sumBlocks(lanes, block);
	return lanes;
}

const waitEnd = (lanes, wait) => lanes.begin[wait] + lanes.length[wait] + lanes.queue[wait];
/* Where the time before a wait, number `at` of its lane, begins. */
const gapBegin = (lanes, lane, at) => at ? waitEnd(lanes, lane.first + at - 1) : lane.begin;

/* Adds a wait and what was before it. */
function addWait(lanes, lane, at, sums, base) {
	const wait = lane.first + at;
	sums[base + LANE_ON] += lanes.ran[wait];
	sums[base + LANE_BETWEEN] += Math.max(0, lanes.begin[wait] - gapBegin(lanes, lane, at) - lanes.ran[wait]);
	sums[base + lanes.kind[wait]] += lanes.length[wait];
	sums[base + LANE_QUEUE] += lanes.queue[wait];
}
/* As addWait() for each, at a fifth of the time. */
function sumBlocks(lanes, blocks) {
	const {begin, length, queue, ran, kind} = lanes, kinds = LANE_KINDS.length, sums = lanes.sums = new Float64Array(blocks * kinds);
	for (const lane of lanes.threads) {
		const end = lane.first + Math.floor((lane.count - 1) / LANE_BLOCK) * LANE_BLOCK;
		let base = lane.block * kinds, free = lane.begin;
		for (let wait = lane.first; wait < end;) {
			sums.copyWithin(base + kinds, base, base + kinds);
			base += kinds;
			for (const until = wait + LANE_BLOCK; wait < until; wait++) {
				const between = begin[wait] - free - ran[wait];
				sums[base + LANE_ON] += ran[wait];
				if (between > 0) sums[base + LANE_BETWEEN] += between;
				sums[base + kind[wait]] += length[wait];
				sums[base + LANE_QUEUE] += queue[wait];
				free = begin[wait] + length[wait] + queue[wait];
			}
		}
	}
}

/* The last wait of a lane that begins at a time or before, from `hint` on; -1: none. */
function waitAt(lanes, lane, ns, hint = -1) {
	const {begin} = lanes, {first, count} = lane;
	let low = hint, step = 1;
	while (low + step < count && begin[first + low + step] <= ns) {
		low += step;
		step *= 2;
	}
	let high = Math.min(count, low + step);
	while (low + 1 < high) {
		const middle = (low + high) >> 1;
		if (begin[first + middle] <= ns) low = middle;
		else high = middle;
	}
	return low;
}

/* Time on a CPU before a wait, or after the last one. */
const gapRan = (lanes, lane, at) => at < lane.count ? lanes.ran[lane.first + at] : lane.lastRan;
const gapEnd = (lanes, lane, at) => at < lane.count ? lanes.begin[lane.first + at] : lane.end;

/* What a lane did from its begin to a time, by kind, into sums. Where it was on a CPU between two waits is not known: it is spread evenly. Returns the wait at that time. */
function sumUpTo(lanes, lane, time, sums, hint) {
	const ns = Math.min(time, lane.end), at = waitAt(lanes, lane, ns, hint), block = at < 0 ? 0 : Math.floor(at / LANE_BLOCK), base = (lane.block + block) * LANE_KINDS.length;
	for (let kind = 0; kind < LANE_KINDS.length; kind++) sums[kind] = at < 0 ? 0 : lanes.sums[base + kind];
	if (ns <= lane.begin && at < 0) return at;
	for (let i = block * LANE_BLOCK; i < at; i++) addWait(lanes, lane, i, sums, 0);
	let rest = ns - lane.begin;
	if (at >= 0) {
		const wait = lane.first + at;
		addWait(lanes, lane, at, sums, 0);
		rest = ns - waitEnd(lanes, wait);
		/* Of the wait itself, what is behind the time. */
		if (rest < 0) {
			const queue = Math.min(-rest, lanes.queue[wait]);
			sums[LANE_QUEUE] -= queue;
			sums[lanes.kind[wait]] -= -rest - queue;
			return at;
		}
	}
	const whole = gapEnd(lanes, lane, at + 1) - gapBegin(lanes, lane, at + 1), ran = whole > 0 ? Math.min(1, gapRan(lanes, lane, at + 1) / whole) * rest : 0;
	sums[LANE_ON] += ran;
	sums[LANE_BETWEEN] += rest - ran;
	return at;
}

/* By kind, of an interval. */
function sumBetween(lanes, lane, from, to) {
	const before = new Float64Array(LANE_KINDS.length), sums = new Float64Array(LANE_KINDS.length);
	sumUpTo(lanes, lane, from, before);
	sumUpTo(lanes, lane, to, sums);
	for (let kind = 0; kind < sums.length; kind++) sums[kind] -= before[kind];
	return sums;
}

/* What a lane does at a time: a wait, or the time between two; null: it has not begun or has ended. */
function laneMoment(lanes, lane, ns) {
	if (ns < lane.begin || ns > lane.end) return null;
	const at = waitAt(lanes, lane, ns), wait = lane.first + at;
	if (at >= 0 && ns < waitEnd(lanes, wait)) {
		const queued = ns >= lanes.begin[wait] + lanes.length[wait];
		return {lane, at, wait, begin: lanes.begin[wait], end: waitEnd(lanes, wait), kind: queued ? LANE_QUEUE : lanes.kind[wait]};
	}
	const begin = gapBegin(lanes, lane, at + 1), end = gapEnd(lanes, lane, at + 1), ran = Math.min(end - begin, gapRan(lanes, lane, at + 1));
	return {lane, at: at + 1, wait: -1, begin, end, ran, kind: ran >= (end - begin) / 2 ? LANE_ON : LANE_BETWEEN, sample: nearestSample(lanes, lane, ns, begin, end)};
}
/* -1: none. */
function nearestSample(lanes, lane, ns, begin, end) {
	let best = -1, low = lane.firstSample, high = low + lane.sampleCount;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (lanes.sampleBegin[middle] < ns) low = middle + 1;
		else high = middle;
	}
	for (const i of [low - 1, low]) {
		if (i < lane.firstSample || i >= lane.firstSample + lane.sampleCount || lanes.sampleBegin[i] < begin || lanes.sampleBegin[i] > end) continue;
		if (best < 0 || Math.abs(lanes.sampleBegin[i] - ns) < Math.abs(lanes.sampleBegin[best] - ns)) best = i;
	}
	return best;
}
const laneStack = (lanes, stack) => [...lanes.name.subarray(stack ? lanes.stackEnd[stack - 1] : 0, lanes.stackEnd[stack])];

/* Groups of lanes, those that did most first. */
function groupLanes(lanes, by, isWanted) {
	const groups = new Map(), whole = lane => sumBetween(lanes, lane, lane.begin, lane.end);
	for (const lane of lanes.threads) {
		if (!isWanted(lane)) continue;
		if (lane.active === undefined) {
			const sums = whole(lane);
			lane.active = sums[LANE_ON] + sums[LANE_QUEUE];
		}
		const container = lane.row >= 0 ? profile.report.rows[lane.row].container : "";
		const key = by === "name" ? lane.comm : by === "container" ? container || "" : lane.pid, title = by === "name" ? lane.comm : by === "container" ? container || "no container" : `${lane.process} ${lane.pid}`;
		if (!groups.has(key)) groups.set(key, {title, active: 0, lanes: []});
		const group = groups.get(key);
		group.active += lane.active;
		group.lanes.push(lane);
	}
	const order = (a, b) => b.active - a.active;
	const sorted = [...groups.values()].sort(order);
	for (const group of sorted) group.lanes.sort((a, b) => order(a, b) || a.begin - b.begin || a.tid - b.tid);
	return sorted;
}
