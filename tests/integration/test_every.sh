#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# One set of files for each interval: their sums are what the program itself has counted, each thread's times fill its interval,
# and only the last files are kept.
# usage: test_every.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

"$pkbpf" -q --every 2s -o 'a-%t.json' -- "$workloads/tell_usage" 5 >used.json 2>err.txt ||
	fail "status $?: $(cat err.txt)"
"$workloads/spin" 1 &
# Nothing runs in the last intervals of an idle machine, which is no failure.
record --every 2s --keep 2 -d 7 -e cpu -o 'b-%t.folded' -o 'b-%t.json'
checker - <<'P'
import glob
import json
from checks import check, close, end, read_report

with open("used.json", encoding="utf-8") as file:
    used = json.load(file)
paths = sorted(glob.glob("a-*.json"))
reports = [read_report(path) for path in paths]
check(len(reports) >= 3, f"{len(reports)} intervals of 2 s in 5 s")
rows = [row for report in reports for row in report["rows"] if row["comm"] == "tell_usage"]
for before, report in zip(reports, reports[1:]):
    gap = report["time"]["start_unix_ns"] - before["time"]["start_unix_ns"] - before["time"]["duration_ns"]
    check(abs(gap) < 1e6, f"an interval begins where the one before ends: {gap} ns between")
cpu = sum(row["cpu"]["total_ns"] for row in rows) / 1e9
check(close(cpu, used["cpu_s"], 0.1, 0.002), f"CPU time {cpu:.6f} s of {used['cpu_s']:.6f} s")
# Of a process that ended at a cut, the next interval may have the last wait, which is no usage.
rows = [row for row in rows if row["lifetime_ns"]]
faults = sum(row["memory"]["minor_faults"] for row in rows)
check(close(faults, used["faults"], 0.1, 30), f"{faults} page faults of {used['faults']}")
voluntary = sum(row["cpu"]["voluntary"] for row in rows)
check(close(voluntary, used["voluntary"], 0, 3), f"{voluntary} switches of {used['voluntary']}")
for report in reports[:-1]:
    row = max((row for row in report["rows"] if row["comm"] == "tell_usage"), key=lambda row: row["lifetime_ns"])
    waits = row["offcpu"]
    told = waits["oncpu_ns"] + row["waiting"]["runqueue_ns"] + sum(
        waits[state] for state in ("sleep_ns", "disk_ns", "uninterruptible_ns", "stopped_ns"))
    check(close(told, waits["wall_ns"], 1, 5e6),
          f"on-CPU + run queue + off-CPU {told / 1e9:.3f} s of {waits['wall_ns'] / 1e9:.3f} s")
    if report is not reports[0]:
        check(close(told, report["time"]["duration_ns"], 1, 30e6), "which is the length of the interval")
kept = sorted(glob.glob("b-*"))
check(len(kept) == 4, f"of the last two intervals two files each: {kept}")
end()
P

conclude
