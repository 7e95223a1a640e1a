# SPDX-License-Identifier: BSD-2-Clause
"""Compares folded off-CPU stacks of ruby_waits.rb with the times that the program has measured.

usage: ruby_waits_check.py STACKS.folded TIMES.json STOLEN_US
"""
import json
import re
import sys

import checks

PERCENT = 2


def main():
    stolen = int(sys.argv[3]) / 1e6
    with open(sys.argv[2]) as file:
        times = json.load(file)
    seen = dict.fromkeys(times["waited"], 0)
    elsewhere = dict.fromkeys(times["waited"], 0)
    with open(sys.argv[1]) as file:
        for line in file:
            stack, weight = line.rsplit(" ", 1)
            methods = [match[1] for match in (re.match(r"(.*) \([^()]*\)_\[p\]$", frame) for frame in stack.split(";")) if match]
            for name in seen:
                if not any(method.endswith(f"Object#{name}") for method in methods):
                    continue
                seen[name] += int(weight) / 1e6
                if methods[-1] != times["innermost"][name]:
                    elsewhere[name] += int(weight) / 1e6
    for name, seconds in times["waited"].items():
        # A context switch that the thread did not see by its own clocks takes a millisecond now and then. What the host takes
        # while the thread is on its CPU is neither CPU time nor a wait.
        checks.check(checks.close(seen[name], seconds, PERCENT, 0.02 + stolen),
                     f"{name}: {seen[name]:.4f} s, by its own clocks {seconds:.4f} s ({100 * seen[name] / seconds - 100:+.2f} %)")
        checks.check(elsewhere[name] <= 0.05 * seen[name] + 0.001,
                     f"{name} waits in {times['innermost'][name]}; {elsewhere[name]:.4f} s elsewhere")


main()
