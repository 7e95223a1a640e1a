// SPDX-License-Identifier: BSD-2-Clause
/* Calls of CUDA and HIP: what was launched, copied, allocated and waited for, and which code did most of it. Sums are those of
 * the report: of the whole interval. */
const GPU_CALLS_SHOWN = 10, GPU_STACKS_SHOWN = 5, GPU_FRAMES_SHOWN = 6;

const GPU_CALL_COLUMNS = [
	["Calls", "", call => call.calls, count],
	["Time", "", call => call.total_ns, time],
	["Mean", "c2", call => call.total_ns && call.total_ns / (call.calls - (call.unmeasured || 0)), time],
	["Max", "c3", call => call.max_ns, time],
	["Bytes", "", call => call.bytes, bytes],
	["Live", "c2", call => call.live_bytes, bytes],
	["Blocks", "c3", call => call.blocks, count],
	["Streams", "c3", call => call.streams && call.streams.count, count],
	["GPU time", "", call => call.gpu_ns, time],
	["GPU mean", "c2", call => call.gpu_ns && call.gpu_ns / call.runs, time],
];

function gpuCallRow(call, columns) {
	const of = call.kernel || call.direction || "";
	return el("tr", {}, el("td", {class: "l"}, el("span", {class: "nm"}, call.comm), el("span", {class: "pid"}, call.pid || "")),
		  el("td", {class: "l"}, call.function), el("td", {class: "l", title: of}, of),
		  columns.map(([, classes, value, format]) => el("td", {class: classes}, cell(value(call) || undefined, format))));
}

function gpuCallTable(title, calls) {
	const columns = GPU_CALL_COLUMNS.filter(([, , value]) => calls.some(value)), hidden = calls.length - GPU_CALLS_SHOWN;
	if (!calls.length) return null;
	return [el("div", {class: "scroll"}, el("table", {}, el("caption", {class: "vh"}, title),
		el("thead", {}, el("tr", {}, ["Process", "Call", title].map(text => el("th", {class: "l", scope: "col"}, text)),
				  columns.map(([text, classes]) => el("th", {class: classes, scope: "col"}, text)))),
		el("tbody", {}, calls.slice(0, GPU_CALLS_SHOWN).map(call => gpuCallRow(call, columns))))),
		hidden > 0 ? el("p", {class: "sub pb"}, `${count(hidden)} more in JSON and CSV`) : null];
}

/* "about 1.2 s: cudaMemcpy < copy < main" */
function gpuStackLine(stack) {
	const frames = stack.frames.slice(0, GPU_FRAMES_SHOWN).map(frame => frame.name).join(" \u2190 ");
	const amount = stack.total_ns ? time(stack.total_ns) : stack.bytes ? bytes(stack.bytes) : count(stack.calls) + " calls";
	return el("li", {}, `${stack.group}, ${amount}: ${frames || "[no stack]"}`);
}

function gpuStreamText(streams) {
	if (!streams) return "";
	const share = Math.round(100 * streams.on_default / streams.launches);
	return ` Launches went to ${streams.count === 1 ? "1 stream" : count(streams.count) + " streams"}, ${share} % of them to the default one.`;
}

function showGpuCalls() {
	const calls = profile.report.gpu_calls;
	if (!calls) return;
	const runs = calls.functions.reduce((sum, call) => sum + (call.runs || 0), 0);
	const rows = calls.functions.filter(isOfPick), stacks = calls.stacks.filter(isOfPick).slice(0, GPU_STACKS_SHOWN);
	const errors = calls.errors.filter(isOfPick).map(error => `${error.function} with code ${error.code} (${error.calls === 1 ? "once" : count(error.calls) + " times"})`).join(", ");
	fill("gpu-calls", head("gpu-calls", "GPU calls, by process and function"), pickNote(),
	     rows.length ? null : el("p", {class: "empty"}, `No call${ofPick()} was seen.`),
	     gpuCallTable("Direction", rows.filter(call => call.group !== "launch")),
	     gpuCallTable("Kernel", rows.filter(call => call.group === "launch")),
	     errors ? el("p", {class: "sub pb"}, `Failed: ${errors}`) : null,
	     stacks.length ? el("ul", {class: "pb"}, stacks.map(gpuStackLine)) : null,
	     el("p", {class: "sub pb"}, `Stacks were read of ${count(calls.stacks_read)} of ${count(calls.calls)} calls and stand for the rest; launches have no time${runs ? ` of their own; a library in the program reported ${count(runs)} kernels with their time on the device` : ""}.${gpuStreamText(calls.streams)}`));
}
