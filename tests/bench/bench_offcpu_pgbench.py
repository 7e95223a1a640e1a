#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What watching the whole host costs a database: transactions per second of pgbench with and without each tracer.

usage: bench_offcpu_pgbench.py PKBPF [ROUNDS [SECONDS [DATABASE [WORD…]]]]     as root, with a server that has a pgbench database

pgbench (4 clients; transactions that write) runs all the time and tells its rate every second; in each turn a tracer watches
for SECONDS, with as long without one before and after. The loss is to the mean of those two; medians over rounds. Tracers that
are not installed are left out. Words:

    select     transactions only read
    pinned     server and clients share the last CPU, so that the rate does not depend on where the scheduler puts them
    ours       no other tracers
"""
import glob
import os
import re
import shutil
import statistics
import subprocess
import sys
import threading
import time

import measure

WARM_UP = 2.0


class Load:
    def __init__(self, database, words):
        programs = sorted(glob.glob("/usr/lib/postgresql/*/bin/pgbench")) or ["pgbench"]
        command = f"{programs[-1]} -c 4 -j 1 -T 3600 {'-S' if 'select' in words else ''} -P 1 {database}"
        self.samples = []
        if "pinned" in words:
            last = os.cpu_count() - 1
            self.pin_server({last})
            command = f"taskset -c {last} {command}"
        self.process = subprocess.Popen(
            ["su", "postgres", "-c", "exec " + command],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )
        threading.Thread(target=self.read, daemon=True).start()

    @staticmethod
    def pin_server(cpus):
        """The processes that serve connections begin where the one is that starts them."""
        for name in glob.glob("/var/lib/postgresql/*/main/postmaster.pid"):
            with open(name, encoding="utf-8") as text:
                os.sched_setaffinity(int(text.readline()), cpus)

    def stop(self):
        self.process.terminate()
        self.pin_server(range(os.cpu_count()))

    def read(self):
        for line in self.process.stderr:
            found = re.search(r"progress: [\d.]+ s, ([\d.]+) tps", line)
            if found:
                self.samples.append((time.time(), float(found[1])))

    def rate(self, seconds):
        begin = time.time() + 1  # what is told in the first second began before it
        time.sleep(seconds + 1.2)
        return statistics.mean(s[1] for s in self.samples if s[0] > begin)


def tracers(pkbpf, work):
    yield "nothing", ["sleep", "600"]
    ours = [pkbpf, "-q", "-e", "cpu,offcpu", "-o", work + "/a.folded", "-o", work + "/a.txt"]
    yield "pkbpf -e cpu,offcpu", ours
    yield "the same, every stack", [*ours, "--max-overhead", "none"]
    yield "offcputime", ["offcputime", "600"]
    yield "perf sched record", ["perf", "sched", "record", "-q", "-a", "-o", work + "/sched.data"]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 5
    words = sys.argv[5:]
    load = Load(sys.argv[4] if len(sys.argv) > 4 else "bench", words)
    losses, bases = {}, []
    try:
        with measure.work_folder() as work:
            time.sleep(3)
            chosen = [t for t in tracers(sys.argv[1], work) if shutil.which(t[1][0])]
            if "ours" in words:
                chosen = [t for t in chosen if t[1][0] in ("sleep", sys.argv[1])]
            before = load.rate(seconds)
            for _ in range(rounds):
                for name, command in chosen:
                    tracer = measure.Started(command)
                    time.sleep(WARM_UP)
                    during = load.rate(seconds)
                    tracer.stop()
                    after = load.rate(seconds)
                    bases.append((before + after) / 2)
                    losses.setdefault(name, []).append(1 - during / bases[-1])
                    before = after
    finally:
        load.stop()
    print(f"{measure.median(bases):.0f} transactions per second without a tracer; {measure.load()}")
    for name, values in losses.items():
        quarter = statistics.quantiles(values) if len(values) > 3 else [min(values), 0, max(values)]
        print(
            f"  {name:24} {-100 * measure.median(values):+6.2f} %, quartiles {-100 * quarter[2]:+.1f} {-100 * quarter[0]:+.1f}"
            f"   ({' '.join(f'{-100 * v:+.1f}' for v in values)})"
        )


main()
