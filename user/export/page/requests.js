// SPDX-License-Identifier: BSD-2-Clause
/* The slowest requests by thread contexts: where the time of each went, and what it waited for. */
const REQUESTS_SHOWN = 20, REQUEST_WAITS_SHOWN = 3;

/* What ends a wait, by the words of the report. */
const REQUEST_KINDS = {sleep: ["sleep", "sl"], lock: ["lock", "lk"], thread: ["another thread", "th"], disk: ["disk", "dk"], peer: ["peer", "pr"], swap: ["page fault", "pf"], kernel: ["kernel", "kn"], gpu: ["GPU wait", "gp"]};
const REQUEST_PARTS = [["on_cpu_ns", "on-CPU", "on"], ["runqueue_ns", "run queue", "rq"]];

/* Parts of a request, [name, color, ns], that add up to its time: what it waited for is known of most waits. */
function requestParts(request) {
	const kinds = new Map(Object.keys(REQUEST_KINDS).map(kind => [kind, 0]));
	for (const wait of request.waits) kinds.set(wait.kind, (kinds.get(wait.kind) || 0) + wait.wait_ns);
	return [...REQUEST_PARTS.map(([key, name, color]) => [name, color, request[key]]),
		...[...kinds].map(([kind, ns]) => [...(REQUEST_KINDS[kind] || [kind, "sp"]), ns]), ["other waits", "sp", request.other_wait_ns]].filter(([, , ns]) => ns > 0);
}

function requestBar(request, longest) {
	let left = 0;
	const parts = requestParts(request);
	return el("span", {class: "sb", role: "img", "aria-label": parts.map(([name, , ns]) => name + " " + time(ns)).join(", "), title: parts.map(([name, , ns]) => name + " " + time(ns)).join("\n")}, parts.map(([, color, ns]) => {
		const width = 100 * ns / (longest || 1), part = width > .2 ? el("i", {style: `left:${left.toFixed(2)}%;width:calc(${width.toFixed(2)}% - ${width > 2 ? 1 : 0}px);background:var(--s-${color})`}) : null;
		left += width;
		return part;
	}));
}

/* "180 ms waits for a mutex: pthread_mutex_lock < Pool::get" */
function requestWait(wait) {
	/* In the kernel, what the reason says already. */
	const own = wait.frames.filter(frame => !frame.kernel);
	const path = (own.length ? own : wait.frames).map(frame => frame.name).filter(name => !profile.plumbingNames.has(name)).slice(0, 4).map(shortName).join(" \u2039 ");
	return el("div", {title: path}, `${time(wait.wait_ns)} ${wait.reason}` + (path ? `: ${path}` : ""));
}

function requestRow(request, longest) {
	const labels = request.labels.map(label => label.value).join(", "), waits = [...request.waits].sort((a, b) => b.wait_ns - a.wait_ns);
	return el("tr", {}, el("td", {class: "l"}, time(request.at_ns)), el("td", {class: "l", title: request.labels.map(label => `${label.key}: ${label.value}`).join("\n")}, labels),
		  el("td", {class: "l c2", title: `trace ${request.trace_id}\nspan ${request.span_id}`}, request.trace_id.slice(0, 8) + "\u2026"),
		  el("td", {class: "l c1"}, el("span", {class: "nm"}, request.comm), el("span", {class: "pid"}, request.pid || "")),
		  el("td", {}, time(request.wall_ns) + (request.open ? " so far" : "")), el("td", {class: "l"}, requestBar(request, longest)),
		  el("td", {class: "l fn c2"}, waits.slice(0, REQUEST_WAITS_SHOWN).map(requestWait)));
}

function showRequests() {
	const requests = profile.report.requests;
	if (!requests) return;
	const shown = requests.filter(isOfPick).slice(0, REQUESTS_SHOWN), longest = Math.max(...shown.map(request => request.wall_ns));
	const names = new Map(shown.flatMap(requestParts).map(([name, color]) => [name, color]));
	if (!shown.length) {
		fill("requests", head("requests", "Slowest requests, by thread contexts"), pickNote(), el("p", {class: "empty"}, `No request${ofPick()} took that long.`));
		return;
	}
	fill("requests", head("requests", "Slowest requests, by thread contexts"), pickNote(), el("div", {class: "pb"}, el("div", {class: "key"}, [...names].map(([name, color]) => el("span", {}, el("i", {style: `background:var(--s-${color})`}), name)))),
	     el("div", {class: "scroll"}, el("table", {}, el("thead", {}, el("tr", {}, [["At", "l"], ["Labels", "l"], ["Trace", "l c2"], ["Process", "l c1"], ["Time", ""], ["Parts", "l"], ["Longest waits, innermost function first", "l c2"]].map(([text, classes], i, all) => el("th", {class: classes, scope: "col", style: i === all.length - 1 ? "width:40%" : null}, text)))),
		el("tbody", {}, shown.map(request => requestRow(request, longest))))),
	     requests.length > shown.length ? el("p", {class: "sub pb"}, `${count(requests.length - shown.length)} more in the JSON report`) : null);
}
