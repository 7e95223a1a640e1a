#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""How often `pkbpf bench` calls identical programs different, and finds a difference of 10 %, beside hyperfine on the same
programs in turns; on this machine as it is, and beside a neighbour that comes and goes.

    tests/bench/bench_verdicts.py PKBPF [COMPARISONS [RUNS [MILLISECONDS]]]
"""
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE = r"""
#include <stdlib.h>
static volatile unsigned int sink;
int main(int argc, char **argv)
{
	unsigned long rounds = strtoul(argv[1], NULL, 10);
	unsigned int x = 1;
	for (unsigned long i = 0; i < rounds; i++)
		x = x * 1664525U + 1013904223U;
	sink = x;
	return 0;
}
"""

# Bursts of work, each as long as a few runs, with pauses: what a shared machine does.
NEIGHBOUR = """
import random, sys, time
random.seed(int(sys.argv[1]))
while True:
    end = time.monotonic() + random.expovariate(1 / 0.15)
    while time.monotonic() < end:
        pass
    time.sleep(random.expovariate(1 / 0.15))
"""


def build(folder):
    with open(os.path.join(folder, "work.c"), "w") as file:
        file.write(SOURCE)
    program = os.path.join(folder, "work")
    subprocess.run(["cc", "-O1", "-o", program, os.path.join(folder, "work.c")], check=True)
    return program


def cpu_seconds(program, rounds):
    before = os.times()
    subprocess.run([program, str(rounds)], check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def rounds_for(program, seconds):
    rounds = 1000000
    while cpu_seconds(program, rounds) < 0.2:
        rounds *= 2
    return int(rounds * seconds / min(cpu_seconds(program, rounds) for _ in range(5)))


def welch_probability(a, b):
    """Two-sided, by the series of Student's t for whole degrees of freedom."""
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    error_a = sum((x - mean_a) ** 2 for x in a) / (len(a) - 1) / len(a)
    error_b = sum((x - mean_b) ** 2 for x in b) / (len(b) - 1) / len(b)
    if error_a + error_b == 0:
        return 1.0
    t = abs(mean_b - mean_a) / math.sqrt(error_a + error_b)
    freedom = (error_a + error_b) ** 2 / (error_a**2 / (len(a) - 1) + error_b**2 / (len(b) - 1))
    # The integral of the density, numerically: enough for a table.
    steps, upper = 2000, 60.0
    constant = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
    width = max(upper - t, 0) / steps
    return min(1.0, 2 * sum(constant * (1 + (t + (i + 0.5) * width) ** 2 / freedom) ** (-(freedom + 1) / 2) * width for i in range(steps)))


def by_pkbpf(pkbpf, commands, runs):
    result = subprocess.run(
        [pkbpf, "bench", "-q", "--runs", str(runs), "-o", "result.json", *commands], capture_output=True, text=True
    )
    if result.returncode:
        sys.exit(f"pkbpf: {result.stderr}")
    with open("result.json") as file:
        comparison = json.load(file)["comparisons"][0]
    figures = comparison["figures"]
    verdicts = {name: figures[name + "_ns"]["verdict"] for name in ("wall", "cpu")}
    return {
        "pkbpf": comparison["verdict"] in ("slower", "faster"),
        "pkbpf, wall time": verdicts["wall"] in ("slower", "faster"),
        "pkbpf, CPU time": verdicts["cpu"] in ("slower", "faster"),
    }


def by_hyperfine(commands, runs):
    subprocess.run(
        ["hyperfine", "-N", "--style", "none", "--warmup", "1", "--runs", str(runs), "--export-json", "h.json", *commands],
        check=True,
        capture_output=True,
    )
    with open("h.json") as file:
        a, b = (r["times"] for r in json.load(file)["results"])
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    spread = [math.sqrt(sum((x - m) ** 2 for x in v) / (len(v) - 1)) for v, m in ((a, mean_a), (b, mean_b))]
    # What it prints: "1.10 ± 0.05 times faster".
    ratio = max(mean_a, mean_b) / min(mean_a, mean_b)
    error = ratio * math.hypot(spread[0] / mean_a, spread[1] / mean_b)
    return {
        "hyperfine, beyond its ±": ratio - 1 > error,
        "hyperfine, means differ by 5 %": ratio > 1.05,
        "hyperfine, Welch's test at 5 %": welch_probability(a, b) < 0.05,
    }


def count(pkbpf, commands, comparisons, runs):
    found = {}
    for _ in range(comparisons):
        verdicts = by_pkbpf(pkbpf, commands, runs)
        if shutil.which("hyperfine"):
            verdicts.update(by_hyperfine(commands, runs))
        for name, different in verdicts.items():
            found[name] = found.get(name, 0) + different
    return found


def main():
    pkbpf = os.path.realpath(sys.argv[1])
    comparisons, runs, milliseconds = (
        int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((2, 100), (3, 10), (4, 20))
    )
    folder = tempfile.mkdtemp(prefix="pkbpf-verdicts-")
    os.chdir(folder)
    program = build(folder)
    rounds = rounds_for(program, milliseconds / 1000)
    pairs = {
        "identical": [f"{program} {rounds}", f"{program} {rounds}"],
        "+10 %": [f"{program} {rounds}", f"{program} {rounds * 11 // 10}"],
    }
    print(f"{comparisons} comparisons each, {runs} runs of {milliseconds} ms a side; load {os.getloadavg()[0]:.1f}")
    print("| neighbour | programs | " + "judged different by | of " + str(comparisons) + " |\n|---|---|---|--:|")
    for neighbour in ("none of ours", "comes and goes"):
        beside = None
        if neighbour != "none of ours":
            beside = [subprocess.Popen([sys.executable, "-c", NEIGHBOUR, str(random.randrange(1 << 30))]) for _ in range(os.cpu_count())]
            time.sleep(0.5)
        try:
            for name, commands in pairs.items():
                for judge, found in count(pkbpf, commands, comparisons, runs).items():
                    print(f"| {neighbour} | {name} | {judge} | {found} |", flush=True)
        finally:
            for process in beside or []:
                process.kill()
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
