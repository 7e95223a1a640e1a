#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Figures of a report that contradict each other: parts that do not add up, parts above their whole, more CPU time than
CPUs had. usage: report_sums.py FILE.json|FILE.txt…; prints what contradicts, status 1 when something does.
Other JSON and text than reports is left alone.

Times of the kernel are read one after the other: sums may differ by a percent, and by some milliseconds of each thread.
"""
import json
import re
import sys

from checks import counters

SLACK_NS = 20e6
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
UNSEEN_NS = 10e6  # a switch that the kernel has hidden hides a wait, or a turn of others
TIME = r"(\d+(?:\.\d+)? (?:ns|us|ms|s))\b"


def near(a, b, percent=1.5, slack=SLACK_NS):
    return abs(a - b) <= max(a, b) * percent / 100 + slack


def most(part, whole, percent=1.5, slack=SLACK_NS):
    return part <= whole * (1 + percent / 100) + slack


def of_order(name, part, found):
    """p50 <= p95 <= p99 <= max, of each distribution of a part"""
    keys = [key[:-len("p50_ns")] for key in part if key.endswith("p50_ns")]
    for key in keys:
        values = [part[key + end] for end in ("p50_ns", "p95_ns", "p99_ns", "max_ns") if key + end in part]
        if values != sorted(values):
            found.append(f"{name}: {key or 'wait '}percentiles fall: {values}")


def of_waits(name, row, found):
    waits, queue, gpu = row.get("offcpu", {}), row.get("waiting", {}).get("runqueue_ns"), row.get("gpu", {})
    if "wall_ns" not in waits or queue is None:
        return
    slack = SLACK_NS * max(1, row.get("threads", {}).get("seen", 1))
    states = queue + sum(waits.get(state + "_ns", 0) for state in ("sleep", "disk", "uninterruptible", "stopped"))
    # Waiting for a GPU is a state of its own, on a CPU and off it.
    states += gpu.get("wait_ns", 0)
    oncpu = waits["oncpu_ns"] + gpu.get("spin_ns", 0)
    if not near(states, waits["total_ns"], slack=slack):
        found.append(f"{name}: run queue and states are {states:.0f} ns, off-CPU time {waits['total_ns']}")
    if not near(oncpu + waits["total_ns"], waits["wall_ns"], slack=slack):
        found.append(f"{name}: on-CPU and off-CPU are {oncpu + waits['total_ns']} ns of {waits['wall_ns']}")


def of_cpu(name, row, room_ns, found, slack=SLACK_NS, undivided_ns=0):
    """undivided_ns: CPU time of which nobody knows what was in user mode"""
    cpu = row.get("cpu", {})
    total = cpu.get("total_ns")
    if total is None:
        return
    if room_ns and not most(total, room_ns):
        found.append(f"{name}: {total} ns of CPU time where there are {room_ns:.0f}")
    if "user_ns" in cpu and not near(cpu["user_ns"] + cpu["system_ns"] + undivided_ns, total, slack=slack):
        found.append(f"{name}: user and system are {cpu['user_ns'] + cpu['system_ns']} ns of {total}")


def of_parts(name, row, found):
    io = row.get("blockio", {})
    if io.get("reads", 0) + io.get("writes", 0) > io.get("requests", 0):
        found.append(f"{name}: {io['reads']} reads and {io['writes']} writes of {io['requests']} requests")
    for part in row.values():
        if isinstance(part, dict):
            of_order(name, part, found)
    for kind, stack in row.get("hottest_stacks", {}).items():
        if stack.get("share_percent", 0) > 100:
            found.append(f"{name}: {stack['share_percent']} % of {kind} in one stack")


def of_rows(report, room_ns, found):
    rows, total = report["rows"], report["total"]
    for row in rows:
        name = f"{row.get('comm') or row.get('container') or row.get('name')} {row.get('pid', '')}".strip()
        of_cpu(name, row, room_ns, found)
        of_waits(name, row, found)
        of_parts(name, row, found)
    for part, key in (("cpu", "total_ns"), ("waiting", "runqueue_ns"), ("offcpu", "wall_ns"), ("blockio", "requests")):
        whole = total.get(part, {}).get(key)
        parts = [row[part][key] for row in rows if key in row.get(part, {})]
        if whole is not None and not most(sum(parts), whole, slack=SLACK_NS if key.endswith("ns") else 0):
            found.append(f"rows have {sum(parts)} of {part}.{key}, all of them {whole}")


def of_devices(report, found):
    for device in report.get("devices", []):
        parts = sum(operation["requests"] for operation in device["operations"])
        if parts != device["requests"]:
            found.append(f"device {device['name']}: operations have {parts} of {device['requests']} requests")


def of_findings(report, found):
    shares = {}
    for row in report["rows"]:
        if row.get("pid") and "share_percent" in row.get("cpu", {}):
            shares.setdefault(row["pid"], []).append(row["cpu"]["share_percent"])
    for finding in report["findings"]:
        text = finding["text"]
        for number in re.findall(r"(\d+)(?: \+- \d+)? % of (?:wall|runnable|its CPU|the CPU|all|it|them)\b", text):
            if int(number) > 100:
                found.append(f"finding: {number} % in \"{text}\"")
        computes = re.search(r": computes: (\d+) % of one CPU", text)
        shares_of_pid = shares.get(finding.get("pid"), [])
        if computes and report["by"] == "process" and len(shares_of_pid) == 1 and " processes)" not in finding["who"] and \
                not near(float(computes[1]), shares_of_pid[0], 1, 0.6):
            found.append(f"finding: {computes[1]} % where the row has {shares_of_pid[0]}: \"{text}\"")


def contradictions(report):
    """of a JSON report, as sentences"""
    found = []
    host, duration_ns = report["host"], report["time"].get("duration_ns", 0)
    # Where the kernel hides a thread's switches, what it did since its last one is not known.
    unseen = counters(report).get("OFFCPU_UNSEEN_SWITCHES", 0)
    # What was used while resources were read, for longer than usual, is in the figures.
    edges_ns = 1e6 * counters(report).get("ACCOUNT_EDGES_MS", 0)
    room_ns = host.get("cpus", 0) * (duration_ns + edges_ns)
    spent = sum(host.get(key, 0) for key in ("busy_ns", "idle_ns"))
    if room_ns and spent and not most(spent, room_ns, 10, 4 * SLACK_NS):
        found.append(f"host: CPUs were busy and idle for {spent} ns of {room_ns}")
    samples = report["samples"]
    if samples["recorded"] + samples["lost"] > samples["expected"]:
        found.append(f"samples: {samples['recorded']} recorded and {samples['lost']} lost of {samples['expected']}")
    # Regions lie within each other.
    if report["by"] not in ("region", "label"):
        # Those that the kernel hides have an estimate, as long as nobody sees them leave their CPU.
        estimated = sum(row["cpu"]["total_ns"] for row in report["rows"] if "user_ns" not in row["cpu"])
        of_cpu("total", report["total"], 0 if unseen or estimated else room_ns, found, SLACK_NS + unseen * UNSEEN_NS, estimated)
        of_waits("total", report["total"], found)
        of_parts("total", report["total"], found)
        of_rows(report, room_ns, found)
    of_devices(report, found)
    of_findings(report, found)
    return found


def ns(text):
    value, unit = text.split()
    return float(value) * UNITS[unit]


def text_contradictions(text):
    """of a text report: its lines have three digits of each figure"""
    found = []
    host = re.search(r"^host\b.*: (\d+) CPUs?\b", text, re.M)
    room_percent = 100 * int(host[1]) if host else 0
    # By how much is in lines of their own; each may be broken.
    if re.search(r"CPU\s+times\s+may\s+be\s+off\s+by\b", text):
        room_percent = 0
    interval = re.search(rf",\s+{TIME}(?:\s+from\s+\d+-\d\d-\d\d\s|$)", text, re.M)
    slack_percent = 100 * SLACK_NS / ns(interval[1]) if interval else 0
    for line in text.splitlines():
        busy = re.match(r"On-CPU: .* \((\d+(?:\.\d+)?)% of one CPU\)", line)
        if busy and room_percent and not most(float(busy[1]), room_percent, slack=slack_percent):
            found.append(f"more than {room_percent} % of one CPU: {line}")
        on = re.match(rf"On-CPU: {TIME} .*, user {TIME}, sys {TIME}", line)
        off = re.match(rf"Off-CPU: {TIME} of \d", line)
        # Less they may be: JSON has whose CPU time is an estimate.
        if on and not most(ns(on[2]) + ns(on[3]), ns(on[1]), 1.5, 1e6):
            found.append(f"user and sys are more than on-CPU: {line}")
        if off:
            states = re.findall(rf"(?:run queue|sleep|disk wait|D state|stopped) {TIME}", line)
            if states and not most(sum(map(ns, states)), ns(off[1]), 1.5, 1e6):
                found.append(f"states are more than off-CPU: {line}")
        for number in re.findall(r"(\d+(?:\.\d+)?) ?% of (?:wall|runnable|samples|user stacks)", line):
            if float(number) > 100:
                found.append(f"more than all: {line}")
        share = re.match(r" +(\d+(?:\.\d+)?)%  ", line)
        if share and float(share[1]) > 100:
            found.append(f"more than all: {line}")
    return found


def is_report(document):
    return isinstance(document, dict) and all(key in document for key in ("schema_version", "rows", "total", "findings"))


def contradictions_of_file(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    if not path.endswith(".json"):
        return text_contradictions(text)
    try:
        document = json.loads(text)
    except ValueError:
        return []  # no document at all is another test's matter
    return contradictions(document) if is_report(document) else []


def main(paths):
    failed = 0
    for path in paths:
        found = contradictions_of_file(path)
        for sentence in found:
            print(f"FAILED: {path}: {sentence}")
        failed += len(found)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
