// SPDX-License-Identifier: BSD-2-Clause
/* Histograms of block requests by device and operation, and the slowest of them. Percentiles are
 * those of the report: of the whole interval, whatever rows are chosen. */
const PER_OCTAVE = 3, AXIS = [[1e3, "1 \u00b5s"], [1e4, "10 \u00b5s"], [1e5, "100 \u00b5s"], [1e6, "1 ms"], [1e7, "10 ms"], [1e8, "100 ms"], [1e9, "1 s"]];
const bin = ns => Math.floor(Math.log2(Math.max(1, ns)) * PER_OCTAVE);

function binsOf(histogram) {
	const bins = new Map();
	for (const bucket of histogram) bins.set(bin(bucket.from_ns), (bins.get(bin(bucket.from_ns)) || 0) + bucket.count);
	return bins;
}

function histogramFigure(name, requests, times, [first, last], unit = "requests") {
	const width = 300, height = 92, bins = binsOf(times.histogram || []), highest = Math.max(...bins.values(), 1), x = index => (index - first) / (last - first) * width;
	const figures = [["p50", times.p50_ns], ["p95", times.p95_ns], ["p99", times.p99_ns], ["max", times.max_ns]];
	const svg = el("svg", {viewBox: `0 0 ${width} ${height + 16}`, role: "img", "aria-label": `${name}: ` + figures.map(([word, value]) => `${word} ${time(value)}`).join(", ")});
	for (const [ns, label] of AXIS) {
		const place = x(Math.log2(ns) * PER_OCTAVE);
		if (place < 0 || place > width) continue;
		svg.append(el("line", {class: "axis", x1: place, x2: place, y1: 0, y2: height}));
		if (place < width - 16) svg.append(el("text", {x: place, y: height + 13, "text-anchor": place < 14 ? "start" : "middle"}, label.replace(" ", NARROW)));
	}
	for (const [index, number] of bins) {
		const tall = Math.max(1.5, number / highest * (height - 14));
		svg.append(el("rect", {x: x(index) + .5, y: height - tall, width: Math.max(1, width / (last - first) - 1), height: tall, style: "fill:var(--s-dk)"},
			el("title", {}, `${time(2 ** (index / PER_OCTAVE))} to ${time(2 ** ((index + 1) / PER_OCTAVE))}: ${plural(number, unit)}`)));
	}
	figures.slice(0, 3).forEach(([, value], i) => {
		const place = x(Math.log2(Math.max(1, value)) * PER_OCTAVE);
		svg.append(el("line", {x1: place, x2: place, y1: i === 2 ? 0 : 6, y2: height, style: "stroke:var(--text);stroke-width:1" + (i < 2 ? ";stroke-dasharray:2 2" : "")}));
	});
	svg.append(el("line", {class: "axis", x1: 0, x2: width, y1: height + .5, y2: height + .5}));
	return el("figure", {}, el("figcaption", {}, el("b", {}, name), el("span", {class: "sub"}, plural(requests, unit))), svg,
		  el("div", {class: "pc num"}, figures.map(([word, value]) => el("span", {}, word, el("b", {}, time(value))))));
}

function slowestTable() {
	const slow = (profile.report.slow_requests || []).filter(isOfPick).slice(0, 12);
	const path = frames => (frames || []).map(frame => frame.name).filter(name => !profile.plumbingNames.has(name)).slice(0, 5).map(shortName).join(" \u2039 ");
	if (!slow.length) return null;
	return [el("div", {class: "ph", style: "border-top:1px solid var(--line)"}, el("h3", {}, "Slowest requests")), pickNote(),
		el("div", {class: "scroll"}, el("table", {}, el("thead", {}, el("tr", {}, el("th", {class: "l", scope: "col"}, "At"), el("th", {class: "l", scope: "col"}, "Process"), el("th", {class: "l c1", scope: "col"}, "Operation"),
			["Size", "Queue", "Device", "Total"].map((name, i) => el("th", {scope: "col", class: i < 3 ? "c1" : ""}, name)), el("th", {class: "l c2", scope: "col", style: "width:34%"}, "Stack, innermost first"))),
		el("tbody", {}, slow.map(request => el("tr", {}, el("td", {class: "l"}, time(request.at_ns)), el("td", {class: "l"}, el("span", {class: "nm"}, request.comm), el("span", {class: "pid"}, request.pid || "")),
			el("td", {class: "l c1"}, `${request.device} ${request.operation}`), el("td", {class: "c1"}, cell(request.bytes, bytes)), el("td", {class: "c1"}, cell(request.queue_ns, time)), el("td", {class: "c1"}, cell(request.device_ns, time)), el("td", {}, time(request.total_ns)),
			el("td", {class: "l fn c2", title: path(request.frames)}, path(request.frames)))))))];
}

function showLatency() {
	const devices = profile.report.devices, key = state.latency, figures = [];
	if (!devices) return;
	if (!devices.length) {
		fill("latency", head("latency", "Latency"), el("p", {class: "empty"}, "No block request was completed."));
		return;
	}
	const measured = devices.flatMap(device => device.operations.filter(operation => operation[key]).map(operation => [device, operation]));
	const all = measured.flatMap(([, operation]) => (operation[key].histogram || []).map(bucket => bin(bucket.from_ns))), axis = [Math.min(bin(1e3), ...all), Math.max(bin(1e8), ...all) + 2];
	for (const [device, operation] of measured) figures.push(histogramFigure(`${device.name} ${operation.operation}`, operation.requests, operation[key], axis));
	fill("latency", head("latency", "Latency of block requests", choice("Part", [["device_time", "Device time"], ["queue_time", "Queue time"]], () => state.latency, value => state.latency = value)),
	     el("div", {class: "hs"}, figures), ...(slowestTable() || []));
}
