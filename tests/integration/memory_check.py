# SPDX-License-Identifier: BSD-2-Clause
"""usage: memory_check.py MEMORY.folded REPORT.json: compares resident bytes with those that workload/resident makes."""
import json
import sys

from checks import check

MIB = 1 << 20
# of the parent and of its child together, which has written to 4 of the 24 MiB
TRUTH = {
    "keeps": 80, "gives_back": 60, "writes_first": 0, "writes_again": 44, "huge_pages": 128, "unmaps": 0, "populates": 32,
    "moves": 20, "reads_file": 16, "reads_only": 0, "child_writes": 10,
}


def main():
    sums = dict.fromkeys(TRUTH, 0)
    other = 0
    for line in open(sys.argv[1], encoding="utf-8"):
        stack, _, value = line.rstrip("\n").rpartition(" ")
        chains = [frame for frame in stack.split(";") if frame in TRUTH]
        if chains:
            sums[chains[0]] += int(value)
        else:
            other += int(value)
    for chain, value in sums.items():
        check(value == TRUTH[chain] * MIB, f"{chain}: {value} bytes, truly {TRUTH[chain] * MIB}")
    check(other < MIB, f"elsewhere: {other}")
    with open(sys.argv[2], encoding="utf-8") as file:
        report = json.load(file)
    series = report["memory_over_time"]
    check(len(series) == 2, f"series of two processes: {len(series)}")
    total = sum(sums.values()) + other
    end = sum(one["points"][-1]["anonymous_bytes"] for one in series)
    check(abs(end - total) < MIB, f"anonymous memory at the end: {end}, by stack {total}")
    for one in series:
        times = [point["at_ns"] for point in one["points"]]
        check(times == sorted(times), "points in order of time")
        check(one["one_in_regions"] == 1, "all regions are followed")


main()
