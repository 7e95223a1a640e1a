// SPDX-License-Identifier: BSD-2-Clause
/* What the profile is, what is short, what was found, and what it cannot say. */
function showHeader() {
	/* What is not known is null. */
	const {report} = profile, start = report.time.start ? report.time.start.replace("T", " ").slice(0, 19) + " UTC" : "\u2013";
	const facts = [["host", report.host.name], ["from", start], ["for", time(profile.durationNs)], ["targets", report.targets],
		       ["kernel", (report.host.kernel || "\u2013").replace("Linux ", "")]];
	$("#facts").replaceChildren(...facts.map(([name, value]) => el("span", {}, el("b", {}, name), value)));
	document.title = `pkbpf ${report.host.name || ""} ${start}`;
}

/* A resource: its name, a word or figure, one large figure with its unit, context, utilization. */
function tile(name, tag, isShort, [figure, unit], context, use) {
	return el("div", {}, el("h3", {}, name, el("em", {class: isShort ? "hot" : ""}, tag)),
		  el("div", {class: "big num"}, figure, el("small", {}, unit)), el("div", {class: "ctx"}, context.map(text => el("span", {}, text))),
		  use === null ? null : el("div", {class: "use" + (isShort ? " hot" : ""), role: "img", "aria-label": percent(use)}, el("i", {style: `width:${(100 * Math.min(1, use)).toFixed(1)}%`})));
}
const figureOf = text => {
	const [figure, ...unit] = text.split(NARROW);
	return [figure, unit.join(NARROW)];
};

const onCpuOf = total => total.offcpu && total.offcpu.oncpu_ns !== undefined ? total.offcpu.oncpu_ns : total.cpu && total.cpu.total_ns;
function cpuTile() {
	const {host, total} = profile.report, waiting = total.waiting && total.waiting.runqueue_ns, queued = waiting === undefined ? null : waiting / profile.durationNs;
	const p99 = total.offcpu && total.offcpu.runqueue_p99_ns, busy = host.busy_percent;
	if (busy === undefined) return null;
	/* Without a queue, all CPUs may be in use and nobody has to wait. One thread that waits for much of its time is one that has to. */
	const isShort = busy >= 90 && (queued >= 1 || waiting > .25 * (waiting + (onCpuOf(total) || 0))), tag = isShort ? "saturated" : busy >= 90 ? "nearly all in use" : "not saturated";
	return tile("CPU, " + plural(host.cpus, "CPUs"), tag, isShort, [busy.toFixed(0), "% busy"],
		    [queued === null ? "" : digits(queued) + " in the run queue", p99 ? "p99 wait " + time(p99) : ""], busy / 100);
}
function diskTile() {
	const devices = (profile.report.devices || []).slice().sort((a, b) => b.requests - a.requests), disk = devices[0];
	if (!disk) return null;
	const slowest = disk.operations.reduce((a, b) => (b.device_time || {}).p99_ns > (a.device_time || {}).p99_ns ? b : a), p99 = slowest.device_time ? slowest.device_time.p99_ns : 0;
	const seconds = profile.durationNs / 1e9;
	return tile("Disk " + disk.name, devices.length > 1 ? "busiest of " + devices.length : "", false, figureOf(time(p99)).map((x, i) => i ? `${x} p99 ${slowest.operation}` : x),
		    [plural(Math.round(disk.requests / seconds), "requests") + "/s", bytes(disk.bytes / seconds) + "/s"], null);
}
function memoryTile() {
	const {host, total} = profile.report, memory = total.memory || {};
	if (!host.memory_bytes || host.memory_available_bytes === undefined) return null;
	const used = 1 - host.memory_available_bytes / host.memory_bytes, isShort = used > .95;
	return tile("Memory, " + bytes(host.memory_bytes), isShort ? "short" : "ample", isShort, [(100 * used).toFixed(0), "% used"],
		    [memory.major_faults === undefined ? "" : plural(memory.major_faults, "major faults"), memory.minor_faults === undefined ? "" : count(memory.minor_faults * 1e9 / profile.durationNs) + " minor faults/s"], used);
}
/* Energy, heat and frequency, and what the CPUs counted: the first that there is is the figure, the others stand below it. */
function machineTile() {
	const machine = profile.report.machine || {}, counts = machine.counts || {}, ghz = hz => (hz / 1e9).toFixed(2), figures = [];
	if (counts.instructions_per_cycle) figures.push([counts.instructions_per_cycle.toFixed(2), "instructions per cycle"]);
	if (machine.power_watts) figures.push([digits(machine.power_watts), "W, " + digits(machine.energy_joules) + " J"]);
	if (machine.temperature_source) figures.push([machine.temperature_max_celsius.toFixed(0), "\u00b0C, hottest CPU"]);
	if (machine.frequency_mean_hz) figures.push([ghz(machine.frequency_mean_hz), `GHz, ${ghz(machine.frequency_min_hz)} to ${ghz(machine.frequency_max_hz)}`]);
	if (counts.cache_references) figures.push([percent((counts.cache_misses || 0) / counts.cache_references), "cache misses"]);
	if (counts.branches) figures.push([percent((counts.branch_misses || 0) / counts.branches), "branch misses"]);
	if (!figures.length) return null;
	const [first, ...others] = figures, isHot = machine.throttled > 0;
	return tile("Machine", isHot ? "throttled by heat: " + plural(machine.throttled, "times") : machine.throttled === 0 ? "not throttled" : "", isHot, first, others.map(([figure, unit]) => figure + NARROW + unit), null);
}
/* Stacks that have no end to reach, inside execve, are none. */
function stackEnds() {
	const ends = profile.report.unwinder ? profile.report.unwinder.stack_ends || {} : {}, complete = ends.complete || 0, unverified = ends["complete with unverified frames"] || 0;
	const truncated = Object.entries(ends).filter(([reason]) => reason !== "inside execve" && !reason.startsWith("complete")).sort((a, b) => b[1] - a[1]);
	return {complete, unverified, truncated, all: complete + unverified + truncated.reduce((sum, [, number]) => sum + number, 0), execve: ends["inside execve"] || 0};
}
function profileTile() {
	const ends = stackEnds(), {samples} = profile.report, lost = samples && samples.expected ? samples.lost / samples.expected : 0;
	return tile("This profile", percent(lost) + " of samples lost", lost > .01, ends.all ? [(100 * ends.complete / ends.all).toFixed(1), "% complete"] : ["\u2013", ""],
		    ends.all ? ["of " + count(ends.all), "user stacks"] : ["no user stacks"], ends.all ? ends.complete / ends.all : null);
}
function showResources() {
	$("#resources").replaceChildren(...[cpuTile(), diskTile(), memoryTile(), machineTile(), profileTile()].filter(Boolean));
}

/* What stands between back quotes is code. */
const withCode = text => text.split("`").map((part, i) => i % 2 ? el("code", {}, part) : part);
const capital = text => text[0].toUpperCase() + text.slice(1);
/* Of parts of a sentence. Names begin as they do. */
const sentence = (text, isBegin = true) => (isBegin && /^[a-z-]+ /.test(text) ? capital(text) : text) + (/[.?!]$/.test(text) ? "" : ".");
const pathOf = place => place.replace(/^`|`$/g, "").split(" > ").flatMap((frame, i) => i ? [el("span", {class: "muted"}, " \u203a "), frame] : [frame]);
/* "57 ± 4 % of it" */
const partOf = finding => finding.place_percent.toFixed(0) + (finding.place_error_percent >= .5 ? " \u00b1 " + finding.place_error_percent.toFixed(0) : "") + NARROW + "%";
function findingItem(finding, number) {
	const rows = finding.pid ? profile.report.rows.map((row, i) => row.pid === finding.pid ? i : -1).filter(i => i >= 0) : [];
	const title = finding.cause ? finding.who ? finding.who + ": " + finding.cause : capital(finding.cause) : finding.text;
	return el("li", {class: "fi"}, el("span", {class: "no num"}, number), el("div", {}, el("h3", {}, withCode(title)), finding.place ? el("p", {class: "path"}, pathOf(finding.place), finding.place_percent ? el("span", {class: "muted num"}, " " + partOf(finding)) : null) : null,
		rows.length ? el("button", {class: "link", "aria-label": "Show stacks: " + title, onclick() {
			change(() => state.pick = {rows: new Set(rows), text: profile.report.rows[rows[0]].comm + " " + finding.pid});
			$("#stacks").scrollIntoView({behavior: calm.matches ? "auto" : "smooth"});
		}}, "Show stacks") : null),
		el("div", {class: "tx"}, [finding.by, finding.evidence].filter(Boolean).map(text => el("p", {class: "ev"}, withCode(sentence(text)))), finding.next ? el("p", {class: "nx"}, el("b", {}, "Next: "), withCode(sentence(finding.next, false))) : null));
}
function showFindings() {
	const findings = profile.report.findings || [];
	fill("findings", head("findings", "Findings"), findings.length ? el("ol", {}, findings.map((finding, i) => findingItem(finding, i + 1)))
	     : el("p", {class: "empty"}, "Nothing is short: no rule found a limit."));
}

/* Sections and columns of what was not recorded are not there; this says why. */
const hasKind = name => report => (report.events || []).includes(name);
const EVENTS = {cpu: [hasKind("cpu"), "CPU samples"], offcpu: [hasKind("offcpu"), "waits"], blockio: [report => !!report.devices, "block I/O"],
		faults: [hasKind("faults"), "page faults"], network: [report => !!report.peers, "network messages"]};

function showLosses() {
	const {report} = profile, ends = stackEnds(), items = [], cost = report.cost || {};
	const add = (figure, text) => items.push(el("dt", {}, figure), el("dd", {}, text));
	if (report.samples && report.samples.expected) add(`${count(report.samples.recorded)} of ${count(report.samples.expected)}`, `CPU samples recorded, ${count(report.samples.lost)} lost.`);
	if (ends.all) add(`${count(ends.complete)} of ${count(ends.all)}`, "user stacks complete" + (ends.unverified ? `, ${count(ends.unverified)} complete with unverified frames.` : ".") + (ends.truncated.length ? " Truncated: " + ends.truncated.map(([reason, number]) => count(number) + " " + reason).join(", ") + "." : "") + (ends.execve ? ` Plus ${count(ends.execve)} in execve (no user stack exists).` : ""));
	if (report.unwinder && report.unwinder.guessed_frames) add(count(report.unwinder.guessed_frames), "frames found by unverified frame pointers; frames between them may be missing.");
	for (const counter of report.counters || []) if (counter.is_loss && counter.count) add(count(counter.count), counter.text + ".");
	if (cost.cpu_ns !== undefined) add(percent((cost.cpu_ns - (cost.start_cpu_ns || 0)) / profile.durationNs), `of one CPU for the profiler, ${percent((cost.bpf_cpu_ns || 0) / profile.durationNs)} for its BPF programs; peak RSS ${bytes(cost.max_resident_bytes || 0)}, BPF maps ${bytes(cost.bpf_map_bytes || 0)}.`);
	if (report.sampling && report.sampling.frequency_hz) add(time(1e9 / report.sampling.frequency_hz), `of CPU time is what each CPU sample stands for (${report.sampling.event}, ${report.sampling.frequency_hz}${NARROW}Hz).`);
	const missing = Object.entries(EVENTS).filter(([, [isRecorded]]) => !isRecorded(report)).map(([name, [, text]]) => `${text} (-e ${name})`);
	if (!hasLanes()) missing.push("what each thread did at each moment (--trace, with -e offcpu)");
	if (!hasTimes()) add("No time line", "All is one slice: the run was short, or servers were asked for names (--debuginfod), which happens at the end.");
	if (missing.length) add("Not recorded", missing.join(", ") + ".");
	fill("losses", head("losses", "Losses and limits"), el("dl", {class: "lim"}, items));
}
