# SPDX-License-Identifier: BSD-2-Clause
"""usage: memory_check.py MEMORY.folded REPORT.json: compares resident bytes with those that workload/resident makes."""
import ctypes
import json
import mmap
import struct
import sys

from checks import check

MIB = 1 << 20
# of the parent and of its child together, which has written to 4 of the 24 MiB
TRUTH = {
    "keeps": 80, "gives_back": 60, "writes_first": 0, "writes_again": 44, "huge_pages": 128, "unmaps": 0, "populates": 32,
    "moves": 20, "reads_file": 16, "reads_only": 0, "child_writes": 10,
}


def reading_takes_pages():
    """Most kernels map one page of zeros to all memory that is only read; some give each page its own."""
    memory = mmap.mmap(-1, 16 * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_NOHUGEPAGE"):
        memory.madvise(mmap.MADV_NOHUGEPAGE)
    for at in range(0, len(memory), mmap.PAGESIZE):
        memory[at]
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    with open("/proc/self/pagemap", "rb") as pagemap:
        pagemap.seek(start // mmap.PAGESIZE * 8)
        frames = {entry & (1 << 55) - 1 for (entry,) in struct.iter_unpack("Q", pagemap.read(16 * 8))}
    return len(frames) == 16


def main():
    # Where what is only read takes memory nevertheless, who reads first has it: parent and child the 12 MiB.
    if reading_takes_pages():
        TRUTH["reads_only"] = 24
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
    check(other < MIB + MIB // 2, f"elsewhere: {other}")
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
