#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""How often the truth lies in the 95 % intervals of --alloc, and whether its sums are right: a program of known chains of
allocations, run again and again, each run an estimate of its own.

usage: bench_intervals.py PKBPF ALLOCATIONS [RUNS [RATE...]]	50 runs at 16K and 128K; ALLOCATIONS: the workload of that name
Fails when less than 90 % of all intervals have the truth, or a sum over all runs is off by 2 % and three of its errors.
"""
import json
import math
import os
import subprocess
import sys
import tempfile


def chain_of(place, chains):
    return next((name for frame in place["frames"] for name in chains if frame["name"] in (name, name + "_leaf")), None)


def run(pkbpf, program, runs, rate, folder):
    """What the program says of each chain, and by process and chain what was estimated."""
    report = os.path.join(folder, "report.json")
    script = f'i=0; while [ $i -lt {runs} ]; do "$0" >truth; i=$((i + 1)); done'
    subprocess.run([pkbpf, "-q", "-e", "alloc,live", "--alloc", "--alloc-rate", rate, "-o", report, "--", "sh", "-c", script, program], cwd=folder, check=True)
    with open(os.path.join(folder, "truth"), encoding="ascii") as file:
        truth = {name: {"allocated": int(allocated), "live": int(alive)} for name, allocated, alive in map(str.split, file)}
    with open(report, encoding="utf-8") as file:
        places = json.load(file)["heap"]
    estimates = {pid: {name: {"allocated": [0, 0], "live": [0, 0]} for name in truth} for pid in {place["pid"] for place in places if place["comm"] == "allocations"}}
    for place in places:
        chain = chain_of(place, truth) if place["pid"] in estimates else None
        if not chain:
            continue
        for what, sums in estimates[place["pid"]][chain].items():
            sums[0] += place[what]["bytes"]
            sums[1] = math.hypot(sums[1], place[what]["error_bytes"])
    return truth, list(estimates.values())


def tell(truth, estimates, rate):
    """Prints a line for each chain; returns how many intervals have the truth, of how many, and sums that are off."""
    inside_all = whole = 0
    off = []
    print(f"{len(estimates)} runs, one sample in {rate}\n{'chain':16}{'what':10}{'truth':>12}{'mean':>12}{'of it':>9}{'+-':>9}  truth in the interval")
    for chain, values in truth.items():
        for what, true in values.items():
            if not true:
                if any(estimate[chain][what][0] for estimate in estimates):
                    off.append(f"{chain} {what}: nothing is left, something is told")
                continue
            got = [estimate[chain][what] for estimate in estimates]
            mean = sum(value for value, _ in got) / len(got)
            spread = math.sqrt(sum((value - mean) ** 2 for value, _ in got) / max(1, len(got) - 1) / len(got))
            # A single block that is not sampled is not there: nothing can be said of it.
            told = [(value, error) for value, error in got if value]
            inside = sum(abs(value - true) <= error + 1 for value, error in told)
            inside_all, whole = inside_all + inside, whole + len(told)
            if abs(mean - true) > 0.02 * true and abs(mean - true) > 3 * spread:
                off.append(f"{chain} {what}: {mean:.0f} on average, truly {true}")
            print(f"{chain:16}{what:10}{true:12}{mean:12.0f}{mean / true:9.3f}{spread / true:9.3f}  {inside} of {len(told)}")
    return inside_all, whole, off


def main():
    pkbpf, program = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    runs, failed = int(sys.argv[3]) if len(sys.argv) > 3 else 50, False
    for rate in sys.argv[4:] or ("16K", "128K"):
        with tempfile.TemporaryDirectory() as folder:
            truth, estimates = run(pkbpf, program, runs, rate, folder)
        inside, whole, off = tell(truth, estimates, rate)
        print(f"{100 * inside / max(1, whole):.1f} % of {whole} intervals have the truth" + "".join("\nOFF: " + sentence for sentence in off) + "\n")
        failed = failed or inside < 0.9 * whole or len(estimates) < runs or bool(off)
    sys.exit(failed)


main()
