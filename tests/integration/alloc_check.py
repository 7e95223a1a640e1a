# SPDX-License-Identifier: BSD-2-Clause
"""usage: alloc_check.py ALLOC.folded LIVE.folded TRUTH INTERVAL

Compares what was measured of each chain with what the program says it has done. An estimate may be off by five times its own
standard deviation.
"""
import math
import sys

from checks import check

LEAVES = {name: name + "_leaf" for name in
          ("churn", "small_leak", "kilobyte_leak", "large_leak", "zeroed_leak", "aligned_leak", "queue", "burst", "handed_over")}
LEAVES["grown"] = "grown"
SIZES = {"churn": 100, "small_leak": 100, "kilobyte_leak": 1000, "large_leak": 1 << 20, "zeroed_leak": 300, "aligned_leak": 320,
         "queue": 4000, "burst": 200, "handed_over": 130}


def read(path):
    """leaf -> bytes; each stack has to begin at the root and to end in a function of the program."""
    sums = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            stack, _, value = line.rstrip("\n").rpartition(" ")
            frames = stack.split(";")
            sums[frames[-1]] = sums.get(frames[-1], 0) + int(value)
            if frames[-1] in LEAVES.values():
                check(frames[0] == "allocations" and "main" in frames, "complete: " + stack)
    return sums


def deviation(chain, allocated, interval):
    """The standard deviation of an estimate of so many bytes."""
    if chain == "grown":  # blocks of 1,000, 2,000 … bytes
        sizes = range(1000, 201000, 1000)
    else:
        sizes = [SIZES[chain]] * (allocated // SIZES[chain])
    return math.sqrt(sum(size * size * math.exp(-size / interval) / -math.expm1(-size / interval) for size in sizes))


def is_cut(leaf):
    return leaf.startswith("[truncated")


def main():
    allocated, alive = read(sys.argv[1]), read(sys.argv[2])
    interval = int(sys.argv[4])
    trues, slacks = {"allocated": 0, "alive": 0}, {"allocated": 0, "alive": 0}
    for line in open(sys.argv[3], encoding="utf-8"):
        chain, true_allocated, true_alive = line.split()
        for what, measured, true in (("allocated", allocated, int(true_allocated)), ("alive", alive, int(true_alive))):
            value = measured.get(LEAVES[chain], 0)
            # Of one block of 200 kB, which is sampled or not, no more can be said.
            slack = 210000 if chain == "grown" and what == "alive" else 5 * deviation(chain, true, interval) + 1
            # What came before the process was known has no chain.
            cut = sum(size for leaf, size in measured.items() if is_cut(leaf))
            check(-slack - cut <= value - true <= slack, f"{chain} {what}: {value}, truly {true} +- {slack:.0f}, {cut} without a chain")
            trues[what] += true
            slacks[what] += slack**2
    for what, measured in (("allocated", allocated), ("alive", alive)):
        others = {leaf: value for leaf, value in measured.items() if leaf not in LEAVES.values() and not is_cut(leaf)}
        # stdout's buffer, and what the C library keeps for a thread
        room = 3 * interval + 100000
        check(sum(others.values()) < room, f"{what} elsewhere: {others}")
        all_of_it, true, slack = sum(measured.values()), trues[what], math.sqrt(slacks[what]) + room
        check(abs(all_of_it - true) <= slack, f"{what} in all: {all_of_it}, truly {true} +- {slack:.0f}")


main()
