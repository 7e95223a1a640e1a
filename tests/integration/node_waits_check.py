# SPDX-License-Identifier: BSD-2-Clause
"""Compares folded off-CPU stacks of node_waits.js with the times that the program has measured.

usage: node_waits_check.py STACKS.folded TIMES.json
"""
import json
import re
import sys

import checks

# Of the length asked for: what passes between the start of a timer and the program off its CPU is not off-CPU time.
PERCENT = 5
# Two clocks are read.
SLACK_S = 0.002

with open(sys.argv[2]) as file:
    times = json.load(file)
seen = dict.fromkeys(times, 0)
with open(sys.argv[1]) as file:
    for line in file:
        stack, weight = line.rsplit(" ", 1)
        for name in times:
            if re.search(rf";measured \(node_waits\.js:\d+\)_\[[ij]\];{name} \(node_waits\.js:\d+\)_\[[ij]\];pause \(", stack):
                seen[name] += int(weight) / 1e6
for name, wait in times.items():
    least = wait["count"] * wait["ms"] / 1000
    # The program's clock also counts what it executes, and waits for a CPU to execute it on.
    checks.check(0 < least * (1 - PERCENT / 100) <= seen[name] <= wait["seconds"] + SLACK_S,
                 f"{name}: {seen[name]:.4f} s, asked for {least:.4f} s, by its own clock {wait['seconds']:.4f} s")
