#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: bench_alloc_running.py PKBPF [TURNS [SECONDS]]

What --alloc costs a process that runs already: how often a program allocates per second of its CPU time while it is watched, as a
share of how often it does alone, in TURNS (default 5) of SECONDS (6) each. The first program allocates as often as it can, the
others 100,000 and 1,000 times a second.
"""
import os
import subprocess
import sys
import tempfile

from measure import median

# Prints what it has done each half second of CPU time, beside the allocations a computation that takes as long as is said.
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static void *volatile here;
static volatile unsigned sink;
static double used(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec / 1e9; }
int main(int argc, char **argv)
{
	long between = atol(argv[1]);
	for (;;) {
		long count = 0;
		double start = used(), end;
		do {
			for (int i = 0; i < 100; i++) {
				free(here = malloc(100));
				for (long j = 0; j < between; j++)
					sink = sink + 1;
			}
			count += 100;
		} while ((end = used()) < start + 0.5);
		printf("%.1f\n", count / (end - start));
		fflush(stdout);
	}
}
"""


def rate(process, seconds):
    """The mean of what it prints for so long."""
    count = int(seconds * 2)
    return sum(float(process.stdout.readline()) for _ in range(count)) / count


def main():
    pkbpf = os.path.realpath(sys.argv[1])
    turns, seconds = (int(word) for word in (sys.argv[2:] + ["5", "6"][len(sys.argv) - 2:]))
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/allocates.c", "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        subprocess.run(["gcc", "-O2", "-fno-builtin", "-o", f"{folder}/allocates", f"{folder}/allocates.c"], check=True)
        print("| allocations per second alone | watched, a share of that | what was said |\n|---:|---:|---|")
        for between in (0, 4000, 400000):
            with subprocess.Popen([f"{folder}/allocates", str(between)], stdout=subprocess.PIPE, text=True) as process:
                alone, shares, said = [], [], ""
                rate(process, 1)
                for _ in range(turns):
                    alone.append(rate(process, seconds))
                    with subprocess.Popen([pkbpf, "--alloc", "-e", "alloc", "-o", f"{folder}/out.folded", "--pid", str(process.pid)],
                                          stderr=subprocess.PIPE, text=True) as watcher:
                        rate(process, 2)  # it looks for the functions, and measures prices
                        shares.append(rate(process, seconds) / alone[-1])
                        watcher.terminate()
                        said = " ".join(line.strip() for line in watcher.stderr if "alloc" in line)
                    rate(process, 1)
                process.kill()
            print(f"| {median(alone):,.0f} | {median(shares):.3f} ({min(shares):.3f} to {max(shares):.3f}) | {said[:300]} |", flush=True)


main()
