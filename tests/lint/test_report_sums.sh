#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Figures of the reports in tests/golden add up, and report_sums.py, which says so, can fail: test_report_sums.sh ROOT
set -u
sums=$1/tests/integration/report_sums.py
export PYTHONDONTWRITEBYTECODE=1
python3 "$sums" "$1"/tests/golden/*.txt || exit 1

PYTHONPATH=$1/tests/integration python3 - <<'P'
import copy
import sys

from report_sums import contradictions, text_contradictions

row = {"pid": 5, "comm": "app", "cpu": {"total_ns": 2e9, "user_ns": 1.5e9, "system_ns": 0.5e9, "share_percent": 20.0},
       "waiting": {"runqueue_ns": 1e9}, "threads": {"seen": 1},
       "offcpu": {"total_ns": 8e9, "oncpu_ns": 2e9, "wall_ns": 10e9, "sleep_ns": 6e9, "disk_ns": 1e9, "uninterruptible_ns": 0,
                  "stopped_ns": 0, "p50_ns": 1, "p95_ns": 2, "p99_ns": 3, "max_ns": 4},
       "blockio": {"requests": 9, "reads": 4, "writes": 5}, "hottest_stacks": {"cpu": {"share_percent": 60.0}}}
report = {"host": {"cpus": 2, "busy_ns": 3e9, "idle_ns": 17e9}, "time": {"duration_ns": 10e9}, "by": "process",
          "samples": {"expected": 10, "recorded": 9, "lost": 1}, "rows": [row], "total": copy.deepcopy(row),
          "devices": [{"name": "vda", "requests": 9, "operations": [{"requests": 4}, {"requests": 5}]}],
          "findings": [{"text": "app 5: computes: 20 % of one CPU; 57 % of wall time", "pid": 5, "who": "app 5"}]}


def unseen(r):
    r["counters"] = [{"name": "OFFCPU_UNSEEN_SWITCHES", "count": 3}]


CHANGES = {
    "states": lambda r: r["rows"][0]["offcpu"].update(sleep_ns=3e9),
    "wall": lambda r: r["total"]["offcpu"].update(wall_ns=12e9),
    "more CPU time than CPUs": lambda r: r["total"]["cpu"].update(total_ns=25e9, user_ns=25e9, system_ns=0),
    "user and system": lambda r: r["total"]["cpu"].update(user_ns=0),
    "a row above the total": lambda r: r["rows"][0]["cpu"].update(total_ns=4e9, user_ns=4e9, system_ns=0),
    "percentiles": lambda r: r["rows"][0]["offcpu"].update(p99_ns=1),
    "requests": lambda r: r["total"]["blockio"].update(reads=9),
    "more than one stack": lambda r: r["rows"][0]["hottest_stacks"]["cpu"].update(share_percent=101),
    "devices": lambda r: r["devices"][0].update(requests=10),
    "samples": lambda r: r["samples"].update(lost=3),
    "a share above all": lambda r: r["findings"][0].update(text="app 5: waits; 157 % of wall time"),
    "a finding beside its row": lambda r: r["findings"][0].update(text="app 5: computes: 70 % of one CPU"),
    "busy and idle": lambda r: r["host"].update(idle_ns=30e9),
    "user and system beside switches that were hidden": lambda r: (unseen(r), r["total"]["cpu"].update(user_ns=0)),
}
failed = [sentence for sentence in contradictions(report)]
for name, change in CHANGES.items():
    wrong = copy.deepcopy(report)
    change(wrong)
    if not contradictions(wrong):
        failed.append(f"not seen: {name}")
# What a hidden thread did before counts, too; a hidden switch is worth 10 ms.
right = copy.deepcopy(report)
unseen(right)
right["total"]["cpu"].update(total_ns=25e9, user_ns=24.6e9, system_ns=0)
failed += contradictions(right)

for line in ("On-CPU: 2.00 s (20.0% of one CPU), user 1.50 s, sys 1.00 s; 9 samples",
             "Off-CPU: 2.00 s of 3 threads, run queue 1.50 s, sleep 1.00 s", " 101.0%  main", " 1. app: waits; 101 % of wall time",
             "host vm: 2 CPUs 99.0% busy\nOn-CPU: 4.60 s (230.0% of one CPU), user 2.30 s, sys 2.30 s; 9 samples"):
    if not text_contradictions(line):
        failed.append(f"not seen: {line}")
FULL = "host vm: 2 CPUs 99.0% busy\nOn-CPU: 1.03 s (206.0% of one CPU), user 515 ms, sys 515 ms; 9 samples"
for text in (f"pid 5 (app), 500 ms from 2026-11-30 01:02:03 UTC\n{FULL}", f"pid 5 (app), 500 ms\n{FULL}",
             f"pid 5 (app), 5.00 s from 2026-11-30\n{FULL}\nCPU\n  times may be off by 400 ms, the time to read them"):
    failed += text_contradictions(text)
if not text_contradictions(f"pid 5 (app), 5.00 s from 2026-11-30\n{FULL}"):
    failed.append("not seen: more CPU time than CPUs in 5 s")
print("\n".join("FAILED: " + sentence for sentence in failed), end="\n" if failed else "")
sys.exit(bool(failed))
P
