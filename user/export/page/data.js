// SPDX-License-Identifier: BSD-2-Clause
/* The profile: page_data.h has its layout. */
let profile;

const KIND_ORDER = ["cpu", "offcpu", "blockio", "faults"];
/* Marks of functions as in function_table.h, then those that only the page knows. */
const MARKS = ["native", "kernel", "inlined", "jit", "python", "trunc", "unres", "root"];
const MARK_WORDS = ["native", "kernel", "inlined", "JIT-compiled", "Python", "truncated", "unresolved", "process"];
const MARK_NATIVE = 0, MARK_KERNEL = 1, MARK_INLINED = 2, MARK_JIT = 3, MARK_PYTHON = 4, MARK_TRUNCATED = 5, MARK_UNRESOLVED = 6, MARK_ROOT = 7;

function bytesOf(base64) {
	/* Browsers of 2025 and later. */
	if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
	const text = atob(base64), packed = new Uint8Array(text.length);
	for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
	return packed;
}

async function unpack() {
	const packed = bytesOf($("#data").textContent.trim());
	/* Without a Blob and a Response: each hands its pieces from process to process. */
	const inflate = new DecompressionStream("deflate-raw"), writer = inflate.writable.getWriter(), reader = inflate.readable.getReader(), parts = [];
	const written = Promise.all([writer.write(packed), writer.close()]);
	written.catch(() => { /* the reader fails as well, and tells */ });
	let size = 0, at = 0;
	for (let part = await reader.read(); !part.done; part = await reader.read()) {
		parts.push(part.value);
		size += part.value.length;
	}
	await written;
	const whole = new Uint8Array(size);
	for (const part of parts) {
		whole.set(part, at);
		at += part.length;
	}
	return whole.buffer;
}

function readKind(raw, at, kind) {
	const column = (Type, length) => {
		const array = new Type(raw, at, length);
		at += Math.ceil(length * Type.BYTES_PER_ELEMENT / 8) * 8;
		return array;
	};
	const name = column(Int32Array, kind.nodes), depth = column(Uint16Array, kind.nodes);
	kind.tree = makeTree(name, depth);
	kind.node = column(Uint32Array, kind.values);
	kind.row = column(Uint32Array, kind.values);
	kind.state = column(Uint8Array, kind.values);
	kind.used = new Set(kind.state);
	kind.value = column(Float64Array, kind.values);
	kind.part = column(Uint32Array, kind.parts);
	kind.slice = column(Uint16Array, kind.parts);
	kind.weight = column(Float32Array, kind.parts);
	return at;
}

/* Single CPU samples, of a trace; null: none. */
function readSamples(raw, at, {count, cell_ns}) {
	const next = length => at += Math.ceil(length / 8) * 8;
	if (!count) return null;
	const cell = new Uint32Array(raw, at, count), row = new Uint32Array(raw, next(4 * count), count), weight = new Uint16Array(raw, next(4 * count), count);
	return {cell, row, weight, cellNs: cell_ns};
}

async function readProfile() {
	const raw = await unpack(), length = new DataView(raw).getUint32(0, true);
	const {report, data} = JSON.parse(new TextDecoder().decode(new Uint8Array(raw, 4, length)));
	let at = Math.ceil((4 + length) / 8) * 8;
	for (const kind of Object.values(data.kinds)) at = readKind(raw, at, kind);
	const samples = data.samples ? readSamples(raw, at, data.samples) : null;
	if (data.samples) at += 2 * Math.ceil(data.samples.count / 2) * 8 + Math.ceil(data.samples.count / 4) * 8;
	const lanes = data.lanes ? readLanes(raw, at, data.lanes) : null;
	/* Threads follow the functions: node names below 0 count back from -1. */
	const functions = data.functions.length;
	const names = data.functions.map(f => f[0]).concat(data.threads);
	const marks = names.map((_, i) => i >= functions ? MARK_ROOT : data.functions[i][1] < 0 ? MARK_UNRESOLVED : data.functions[i][1]);
	for (const kind of Object.values(data.kinds)) {
		const name = kind.tree.name;
		for (let i = 1; i < name.length; i++) if (name[i] < 0) name[i] = functions - 1 - name[i];
		name[0] = -1;
	}
	const read = {
		report, names, marks, kinds: data.kinds,
		modules: data.functions.map(f => f[2]),
		kindNames: KIND_ORDER.filter(k => data.kinds[k]).concat(Object.keys(data.kinds).filter(k => !KIND_ORDER.includes(k))),
		gpuWaits: Uint8Array.from(names, (_, i) => i < functions ? data.functions[i][4] : 0),
		plumbing: Uint8Array.from(names, (_, i) => i < functions && data.functions[i][3] ? 1 : 0),
		plumbingNames: new Set(data.functions.filter(f => f[3]).map(f => f[0])),
		durationNs: report.time.duration_ns, slices: data.slices, samples, lanes
	};
	nameModules(read);
	return read;
}

/* A weight in the unit of its kind. CPU samples are shown as the time for which they stand. */
function weight(kindName, value) {
	const kind = profile.kinds[kindName], hz = profile.report.sampling && profile.report.sampling.frequency_hz;
	if (kindName === "cpu" && hz) return time(value * 1e9 / hz);
	return kind.is_time ? time(value) : kind.is_bytes ? bytes(value) : plural(value, kind.unit);
}
