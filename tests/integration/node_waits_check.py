# SPDX-License-Identifier: BSD-2-Clause
"""Compares folded off-CPU stacks of node_waits.js with the times that the program has measured.

usage: node_waits_check.py STACKS.folded TIMES.json
"""
import json
import re
import sys

import checks

# The program's clock also counts what it executes, and waits for a CPU to execute it on.
PERCENT = 10

with open(sys.argv[2]) as file:
    times = json.load(file)
seen = dict.fromkeys(times, 0)
with open(sys.argv[1]) as file:
    for line in file:
        stack, weight = line.rsplit(" ", 1)
        for name in times:
            if re.search(rf";measured \(node_waits\.js:\d+\)_\[[ij]\];{name} \(node_waits\.js:\d+\)_\[[ij]\];pause \(", stack):
                seen[name] += int(weight) / 1e6
for name, seconds in times.items():
    checks.check(checks.close(seen[name], seconds, PERCENT, 0.05), f"{name}: {seen[name]:.4f} s, by its own clock {seconds:.4f} s")
