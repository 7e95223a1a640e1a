// SPDX-License-Identifier: BSD-2-Clause
/* The memory of those processes that had most, over time: its parts on each other, with the peak. */
const MEMORY_FIGURES = 8, MEMORY_LEAST = 50;
const MEMORY_PARTS = [["private", "anonymous_bytes", "--s-on"], ["of files", "file_bytes", "--s-sl"], ["shared", "shared_bytes", "--s-rq"], ["in swap", "swap_bytes", "--s-dk"]];

const memoryWords = point => `${time(Math.max(0, point.at_ns))}: ` + MEMORY_PARTS.filter(([, key]) => point[key]).map(([word, key]) => `${bytes(point[key])} ${word}`).join(", ");

/* The kernel knows the peak exactly, its time is that of the first look after it. */
function memoryCaption(process) {
	const peak = `peak RSS ${bytes(process.peak_rss_bytes)}`;
	return process.peak_at_ns === undefined ? `${peak}, before` : `${peak} at ${time(Math.max(0, process.peak_at_ns))}`;
}

function memoryFigure(process) {
	const width = 300, height = 92, points = process.points, last = Math.max(profile.durationNs, points[points.length - 1].at_ns);
	const sum = point => MEMORY_PARTS.reduce((all, [, key]) => all + point[key], 0);
	const hasPeak = process.peak_at_ns !== undefined, most = Math.max(...points.map(sum), hasPeak ? process.peak_rss_bytes : 0, 1);
	const x = ns => Math.min(width, Math.max(0, ns / last * width)), y = value => height - value / most * (height - 12);
	const svg = el("svg", {viewBox: `0 0 ${width} ${height + 16}`, role: "img", "aria-label": `${process.comm} ${process.pid}: ${memoryCaption(process)}; at the end ${memoryWords(points[points.length - 1])}`});
	const base = points.map(() => 0);
	for (const [, key, color] of MEMORY_PARTS) {
		if (!points.some(point => point[key])) continue;
		const place = (i, value) => `${x(points[i].at_ns).toFixed(1)} ${y(value).toFixed(1)}`;
		const below = base.map((value, i) => place(i, value)), above = points.map((point, i) => place(i, base[i] += point[key]));
		svg.append(el("path", {d: `M${above.join("L")}L${below.reverse().join("L")}Z`, style: `fill:var(${color})`}));
	}
	if (hasPeak) {
		const at = x(process.peak_at_ns);
		svg.append(el("line", {x1: at, x2: at, y1: 0, y2: height, style: "stroke:var(--text);stroke-width:1;stroke-dasharray:2 2"}));
	}
	/* Each is told up to the middle between it and its neighbours. */
	points.forEach((point, i) => {
		const from = i ? (x(points[i - 1].at_ns) + x(point.at_ns)) / 2 : x(point.at_ns), to = i + 1 < points.length ? (x(point.at_ns) + x(points[i + 1].at_ns)) / 2 : x(point.at_ns) + 1;
		svg.append(el("rect", {x: from, y: 0, width: Math.max(.5, to - from), height, style: "fill:transparent"}, el("title", {}, memoryWords(point))));
	});
	svg.append(el("line", {class: "axis", x1: 0, x2: width, y1: height + .5, y2: height + .5}), el("text", {x: 0, y: 9}, bytes(most)), el("text", {x: 0, y: height + 13}, "0 s"), el("text", {x: width, y: height + 13, "text-anchor": "end"}, time(last)));
	return el("figure", {}, el("figcaption", {}, el("b", {style: "white-space:nowrap"}, process.comm, el("span", {class: "muted"}, " " + process.pid)), el("span", {class: "sub"}, memoryCaption(process))), svg);
}

function showMemory() {
	const all = profile.report.memory_over_time;
	if (!all) return;
	const processes = all.filter(process => process.points.length > 1 && isOfPick(process));
	if (!processes.length) {
		fill("memory", head("memory", "Memory over time"), el("p", {class: "empty"}, `No process${ofPick()} was looked at twice.`));
		return;
	}
	/* Beside a large one, small ones say nothing. */
	const shown = processes.slice(0, MEMORY_FIGURES).filter(process => process.peak_rss_bytes * MEMORY_LEAST > processes[0].peak_rss_bytes), used = MEMORY_PARTS.filter(([, key]) => shown.some(process => process.points.some(point => point[key])));
	fill("memory", head("memory", "Memory over time", el("div", {class: "key"}, used.map(([word, , color]) => el("span", {}, el("i", {style: `background:var(${color})`}), word)))), pickNote(),
	     el("div", {class: "hs"}, shown.map(memoryFigure)),
	     processes.length > shown.length ? el("p", {class: "sub pb"}, `And ${count(processes.length - shown.length)} processes with less.`) : null);
}
