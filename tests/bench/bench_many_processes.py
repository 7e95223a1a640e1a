#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""How long a report of many processes takes after they have ended, beside perf's of the same: its growth with their number.

usage (root): bench_many_processes.py PKBPF [COUNT...]

COUNT processes are forked one after the other (default 5000 and 20000), each does some work and is waited for. "finished" is the
end of the profiler, for perf that of the `perf sched timehist --summary` that follows: waits and time on a CPU by process.
"""
import os
import sys
import time

import measure
from measure import Started

PROFILERS = {
    "pkbpf, waits": (["-q", "-e", "offcpu"], None),
    "pkbpf, all kinds": (["-q", "-e", "cpu,offcpu,blockio,faults"], None),
    "perf sched": (["perf", "sched", "record", "-q", "-o", "x.data"],
                   ["perf", "sched", "timehist", "--summary", "-i", "x.data"]),
}


def once(pkbpf, name, workload, count, folder):
    """Seconds from the end of the workload to finished output, and the bytes of the output."""
    start, finish = PROFILERS[name]
    ended, output = os.path.join(folder, "ended"), os.path.join(folder, "x.txt")
    command = ["sh", "-c", f"{workload} {count} >/dev/null; exec date +%s.%N >{ended}"]
    if not finish:
        start = [pkbpf, *start, "-o", output, "-o", os.path.join(folder, "x.json")]
    profiler = Started([*start, "--", *command], cwd=folder)
    status = profiler.wait().status
    with open(output, "a") as text:
        if finish:
            status = status or measure.run(finish, stdout=text, cwd=folder).status
    finished = time.time()
    size = sum(os.path.getsize(os.path.join(folder, x)) for x in os.listdir(folder) if x.startswith("x."))
    with open(ended) as text:
        after = finished - float(text.read())
    for left in os.listdir(folder):
        if left.startswith("x.") or left == "ended":
            os.unlink(os.path.join(folder, left))
    if status:
        sys.exit(f"{name} ended with {status}")
    return after, size


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    pkbpf, counts = os.path.realpath(sys.argv[1]), [int(x) for x in sys.argv[2:]] or [5000, 20000]
    with measure.work_folder() as folder:
        workload = measure.build(folder, "../integration/workload/short_lived.c", "-pthread")
        print(f"{measure.load()}\n\n| processes | profiler | end to finished output s | MiB written |\n|---:|---|---:|---:|")
        for count in counts:
            for name in PROFILERS:
                after, size = once(pkbpf, name, workload, count, folder)
                print(f"| {count:,} | {name} | {after:.2f} | {size / 2**20:.1f} |", flush=True)


main()
