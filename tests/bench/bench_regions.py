#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a region costs while nobody looks and while pkbpf does, and what counting a function does to its program.

usage (root): bench_regions.py PKBPF [ROUNDS]

Regions of C (pkbpf.h) and of Python (pkbpf.py): a loop with and without them, in CPU time of the thread, the least of ROUNDS rounds
(default 5): what others do to the machine only adds. A watched region is two hits of probes, whose price depends on the machine more
than on anything here: it stands beside, as pkbpf measures it at its start, and the ratio. Then a function that is called about 5 million
times a second, for 3 s: calls in a second of CPU time beside pkbpf, whose probe is let go when it breaks the budget of --probe-cost, to
calls alone.
"""
import os
import re
import subprocess
import sys
import tempfile

import measure

PROGRAM = r"""
#include <pkbpf/pkbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#define KEEP() __asm__ volatile("" ::: "memory")
static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}
__attribute__((noipa)) unsigned long fast(unsigned long value)
{
    KEEP();
    return value * 3;
}
/* Thousands of calls in a second of CPU time. */
static void call_fast(void)
{
    struct timespec begin, at;
    double start = now();
    unsigned long count = 0;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        for (int i = 0; i < 1000; i++)
            fast(count++);
        for (volatile int i = 0; i < 60000; i++)
            ;
        clock_gettime(CLOCK_MONOTONIC, &at);
    } while (at.tv_sec - begin.tv_sec < 3);
    printf("%.0f\n", count / ((now() - start) / 1e6));
}
int main(int argc, char **argv)
{
    long count = atol(argv[1]);
    double start = now(), loop;
    if (argc > 2) {
        call_fast();
        return 0;
    }
    for (long i = 0; i < count; i++)
        KEEP();
    loop = now() - start;
    start = now();
    for (long i = 0; i < count; i++) {
        PKBPF_REGION("step");
        KEEP();
    }
    printf("%.3f\n", (now() - start - loop) / count);
    return 0;
}
"""
PYTHON = """
import sys, time
import pkbpf
count = int(sys.argv[1])
region = pkbpf.region("step")
def loop():
    start = time.thread_time_ns()
    for _ in range(count):
        pass
    return time.thread_time_ns() - start
def regions():
    start = time.thread_time_ns()
    for _ in range(count):
        with region:
            pass
    return time.thread_time_ns() - start
alone = loop()
print(f"{(regions() - alone) / count:.3f}")
"""


def number(command, **options):
    return float(subprocess.run(command, capture_output=True, text=True, check=True, **options).stdout.split()[-1])


def hit_price(pkbpf, program):
    """Of a probe on an instruction that the kernel emulates, with pkbpf's program."""
    command = [pkbpf, "-v", "-e", "offcpu", "--function", "main", "-f", "json", "-o", "/dev/null", "--", program, "1"]
    said = subprocess.run(command, capture_output=True, text=True).stderr
    found = re.search(r"a probe costs (\d+) ns", said)
    return float(found[1]) if found else float("nan")


def least(rounds, command, **options):
    return min(number(command, **options) for _ in range(rounds))


def main():
    pkbpf = os.path.realpath(sys.argv[1])
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    root = os.path.dirname(os.path.dirname(measure.HERE))
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/regions.c", "w") as file:
            file.write(PROGRAM)
        with open(f"{folder}/regions.py", "w") as file:
            file.write(PYTHON)
        subprocess.run(["cc", "-O2", f"-I{root}/include", "-o", f"{folder}/regions", f"{folder}/regions.c"], check=True)
        look = [pkbpf, "-q", "-e", "offcpu", "--regions", "-o", f"{folder}/out.json", "--"]
        environment = dict(os.environ, PYTHONPATH=f"{root}/include/python")
        hit = min(hit_price(pkbpf, f"{folder}/regions") for _ in range(rounds))
        print(f"one hit of a probe {hit:.0f} ns")
        print(f"{'ns per region':<14} {'unwatched':>10} {'watched':>10} {'in hits':>8}")
        for name, program, counts in ("C", [f"{folder}/regions"], (10_000_000, 100_000)), (
            "Python",
            [sys.executable, f"{folder}/regions.py"],
            (1_000_000, 50_000),
        ):
            alone = least(rounds, [*program, str(counts[0])], env=environment)
            watched = least(rounds, [*look, *program, str(counts[1])], env=environment)
            print(f"{name:<14} {alone:>10.2f} {watched:>10.0f} {watched / hit:>8.2f}", flush=True)
        # The beginning, in which calls are counted to learn how many there are, is in it.
        fast = [f"{folder}/regions", "1", "fast"]
        count = [pkbpf, "-q", "-e", "offcpu", "--function", "fast", "-o", f"{folder}/out.json", "--"]
        ratios = sorted(number([*count, *fast]) / number(fast) for _ in range(rounds))
        print(f"calls of a function called as often as it can be, beside pkbpf / alone: {ratios[len(ratios) // 2]:.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f})")


if __name__ == "__main__":
    main()
