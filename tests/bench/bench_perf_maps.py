#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Memory, descriptors and names while many processes write perf maps.

usage (root): bench_perf_maps.py PKBPF WORKLOAD_FOLDER [COUNT [LIVING [MILLISECONDS]]]

COUNT processes (default 300), LIVING at a time (4), write a map of 40,000 lines each, run code that it names after their pid for
MILLISECONDS (100), and the same with that code replaced. Prints pkbpf's most resident memory and descriptors, the share of the samples
in that code with a name of their own process, and the CPU time of pkbpf beside that of the workload.
"""
import collections
import os
import resource
import subprocess
import sys
import tempfile
import time


def descriptors(pid):
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0


def resident_mib(pid):
    try:
        with open(f"/proc/{pid}/status") as status:
            return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        return 0


def names(path):
    """Samples below calls(), by whether their name is of their own process and of which code."""
    seen = collections.Counter()
    with open(path) as lines:
        for line in lines:
            stack, count = line.rsplit(" ", 1)
            frames = [f for f in stack.split(";") if not f.endswith("_[k]")]
            if frames[0].startswith("map_writers-") and "calls" in frames[:-1]:
                pid = frames[0].rsplit("-", 1)[1]
                code = frames[frames.index("calls") + 1]
                if not code.endswith("_[j]") and code != "[unknown]":
                    continue # the clock
                code = code.removesuffix("_[j]")
                parts = code.split(" or ")
                own = all(p in (f"code_first_{pid}", f"code_second_{pid}") for p in parts)
                seen[" or ".join(p.rsplit("_", 1)[0] for p in parts) if own else "wrong or none: " + code[:20]] += int(count)
    return seen


def main():
    pkbpf, workloads, *numbers = sys.argv[1:]
    count, living, milliseconds = [*numbers, *["300", "4", "100"][len(numbers):]]
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "x.folded")
        profiler = subprocess.Popen([pkbpf, "-q", "-e", "cpu", "--pid-frame", "-o", output, "--",
                                     os.path.join(workloads, "map_writers"), count, living, milliseconds])
        most_mib = most_descriptors = 0
        while profiler.poll() is None:
            most_descriptors = max(most_descriptors, descriptors(profiler.pid))
            most_mib = max(most_mib, resident_mib(profiler.pid))
            time.sleep(0.1)
        seen = names(output)
    total = seen.total()
    own = sum(n for name, n in seen.items() if not name.startswith("wrong"))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{count} processes, {living} at a time: {most_mib:.1f} MiB resident at most, {most_descriptors} descriptors at most")
    print(f"{100 * own / max(total, 1):.2f} % of {total} samples in generated code have a name of their own process:")
    for name, number in seen.most_common(8):
        print(f"    {number:6} {name}")
    print(f"{used.ru_utime + used.ru_stime:.1f} s CPU time of pkbpf and the workload")


if __name__ == "__main__":
    main()
