#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What Python frames cost in the kernel, per frame, and what a Python program loses next to perf.

usage (root): bench_python.py PKBPF [SECONDS [PYTHON...]]

Each interpreter runs a program whose functions call each other 10 and 60 deep, sampled at 999 Hz with Python frames and without.
Time is that of the BPF programs, as the kernel counts it, per sample; the cost of a frame is what 50 more frames add, with
Python frames and without, of the cheapest of three runs: what others do to the machine only adds. The caches are warm: the
program does nothing else. Merging, hashing and sending the frames is part of it; reading them alone is less than half.
With an interpreter of 3.12 or newer and perf: how much longer a fixed amount of work takes beside either, taking turns.
"""
import json
import os
import subprocess
import sys

import measure
from measure import median, run

DEEP = """
import sys, time
def down(depth, end):
    if depth:
        return down(depth - 1, end)
    while time.thread_time() < end:
        sum(range(200))
down(int(sys.argv[1]), float(sys.argv[2]))
"""

WORK = """
import sys, time
def work(depth, count):
    if depth:
        return work(depth - 1, count)
    total = 0
    for i in range(count):
        total += i * i
    return total
start = time.thread_time()
work(40, int(sys.argv[1]))
print(time.thread_time() - start)
"""


def cost_per_sample(pkbpf, python, script, depth, seconds, mode):
    """Nanoseconds."""
    subprocess.run([pkbpf, "-q", "-e", "cpu", "-F", "999", "--python", mode, "-o", "cost.json", "--", python, script, str(depth),
                    str(seconds)], check=True)
    with open("cost.json") as file:
        report = json.load(file)
    return report["cost"]["bpf_cpu_ns"] / max(1, report["total"]["cpu"]["samples"])


def frames(pkbpf, pythons, seconds):
    with open("deep.py", "w") as file:
        file.write(DEEP)
    print(f"{'interpreter':40} {'us a sample, 10 deep':>21} {'60 deep':>8} {'without, 60 deep':>17} {'ns a Python frame':>18}")
    for python in pythons:
        cost = {(depth, mode): min([cost_per_sample(pkbpf, python, "deep.py", depth, seconds, mode) for _ in range(3)])
                for depth in (10, 60) for mode in ("auto", "off")}
        added = (cost[60, "auto"] - cost[10, "auto"] - (cost[60, "off"] - cost[10, "off"])) / 50
        print(f"{python[-40:]:40} {cost[10, 'auto'] / 1e3:21.1f} {cost[60, 'auto'] / 1e3:8.1f} {cost[60, 'off'] / 1e3:17.1f} {added:18.0f}")


def has_perf_trampolines(python):
    return subprocess.run([python, "-X", "perf", "-c", "import sys; sys.exit(not sys.is_stack_trampoline_active())"],
                          stderr=subprocess.DEVNULL).returncode == 0


def slowdown(pkbpf, python, turns=5):
    with open("work.py", "w") as file:
        file.write(WORK)
    count = "8000000"
    ways = {
        "alone": [python, "work.py", count],
        "pkbpf": [pkbpf, "-q", "-e", "cpu", "-F", "999", "-o", "out.folded", "--", python, "work.py", count],
        "-X perf alone": [python, "-X", "perf", "work.py", count],
        "perf record -g, -X perf": ["perf", "record", "-q", "-g", "-F", "999", "-o", "perf.data", "--", python, "-X", "perf",
                                    "work.py", count],
    }
    times = {way: [] for way in ways}
    for _ in range(turns):
        for way, command in ways.items():
            out = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
            times[way].append(float(out.split()[0]))
    print(f"\n{python}: CPU seconds of the same work")
    for way in ways:
        value = median(times[way])
        print(f"  {way:26} {value:6.3f}  {100 * value / median(times['alone']) - 100:+6.1f} %")


def main():
    pkbpf = os.path.abspath(sys.argv[1])
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 3
    pythons = sys.argv[3:] or [sys.executable]
    with measure.work_folder() as folder:
        os.chdir(folder)
        frames(pkbpf, pythons, seconds)
        for python in pythons:
            if has_perf_trampolines(python) and run(["which", "perf"], stdout=subprocess.DEVNULL).status == 0:
                slowdown(pkbpf, python)


main()
