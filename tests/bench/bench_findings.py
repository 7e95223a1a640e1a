#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What samples of wakers and of rivals cost: BPF time of two builds of pkbpf in turns.

usage: bench_findings.py PKBPF OTHER [ROUNDS [SECONDS [TARGET…]]]      as root; OTHER: a build before, or without them

TARGET: options that choose what is recorded, such as --comm postgres beside pgbench; without, a pair of threads that hand
over to each other without end. BPF time is per switch, so that a busy machine disturbs both alike; every wait gets a stack.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))


def bpf_ns_per_switch(pkbpf, work, seconds, target):
    report = f"{work}/report.json"
    subprocess.run([pkbpf, "-q", "-e", "cpu,offcpu", "--max-overhead", "none", "-d", str(seconds), *target, "-o", report], check=True)
    profile = json.load(open(report))
    cpu = profile["total"]["cpu"]
    return profile["cost"]["bpf_cpu_ns"] / max(1, cpu["voluntary"] + cpu["involuntary"])


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    builds = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    seconds = int(sys.argv[4]) if len(sys.argv) > 4 else 4
    with tempfile.TemporaryDirectory() as work:
        subprocess.run(["gcc", "-O1", "-g", "-o", f"{work}/handover", f"{HERE}/../zoo/programs/locks.c", "-lpthread"], check=True)
        load = subprocess.Popen([f"{work}/handover"])
        try:
            costs = {build: [] for build in builds}
            for _ in range(rounds):
                for build in builds:
                    costs[build].append(bpf_ns_per_switch(build, work, seconds, sys.argv[5:] or ["-p", str(load.pid)]))
        finally:
            load.kill()
    medians = [statistics.median(costs[build]) for build in builds]
    for build, median in zip(builds, medians):
        print(f"{build}: {median:.0f} ns of BPF time per switch ({', '.join(f'{cost:.0f}' for cost in costs[build])})")
    print(f"ratio {medians[0] / medians[1]:.3f}")


main()
