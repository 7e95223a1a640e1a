#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a start costs: until the interval begins, and CPU time of a whole run that measures next to nothing.

    tests/bench/bench_start.py PKBPF ROUNDS [OTHER_PKBPF...]

All builds by turns with each set of kinds, medians (lowest to highest) in milliseconds; as root, the whole host. The time until the
BPF programs are loaded and until the interval begins is what `-v` says. With PKBPF_BENCH_REALTIME set they wait for nobody else
on the machine.
"""
import os
import re
import subprocess
import sys
import tempfile

from measure import median

KINDS = [("all kinds", "cpu,offcpu,blockio,faults"), ("cpu", "cpu"), ("offcpu", "offcpu"), ("blockio", "blockio"), ("faults", "faults")]
FIGURES = ["loaded", "profiling", "CPU"]


def run(program, kinds, folder):
    """Milliseconds: clock until loaded, until profiling, and CPU time in all."""
    command = [program, "-v", "-F", "99", "-d", "0.1", "-e", kinds, "-o", os.path.join(folder, "x.json")]
    if os.environ.get("PKBPF_BENCH_REALTIME"):
        command = ["chrt", "-r", "5", *command]
    child = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    said = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 4):  # 4: no event came in so short a time
        sys.exit(f"{' '.join(command)}: exit status {child.returncode}\n{said}")
    loaded = re.search(r"BPF programs loaded after ([0-9.]+) ms", said)
    begun = re.search(r"profiling since ([0-9.]+) ms after the start", said)
    if not loaded or not begun:
        sys.exit(f"{program} does not say when it began:\n{said}")
    return float(loaded[1]), float(begun[1]), (usage.ru_utime + usage.ru_stime) * 1e3


def main():
    if len(sys.argv) < 3 or os.geteuid():
        sys.exit(__doc__)
    programs, rounds = [sys.argv[1]] + sys.argv[3:], int(sys.argv[2])
    print("| kinds | build | " + " | ".join(f"{figure}, ms" for figure in FIGURES) + " |")
    print("|---|---|" + "---:|" * len(FIGURES))
    with tempfile.TemporaryDirectory() as folder:
        for name, kinds in KINDS:
            results = {program: [] for program in programs}
            for _ in range(rounds):
                for program in programs:
                    results[program].append(run(program, kinds, folder))
            for program in programs:
                columns = [f"{median(column):.0f} ({min(column):.0f} to {max(column):.0f})" for column in zip(*results[program])]
                print(f"| {name} | {program} | " + " | ".join(columns) + " |", flush=True)


main()
