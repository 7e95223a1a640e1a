# SPDX-License-Identifier: BSD-2-Clause
"""The same server as workload/requests.c, in Python: the name of its regions is its argument."""
import sys
import time

import pkbpf

for line in sys.stdin:
    count, length_us = map(int, line.split())
    inside = around = longest = 0
    for _ in range(count):
        outer = time.monotonic_ns()
        with pkbpf.region(sys.argv[1]):
            inner = time.monotonic_ns()
            time.sleep(length_us / 1e6)
            inside += time.monotonic_ns() - inner > 100_000_000
        took = time.monotonic_ns() - outer
        around += took > 100_000_000
        longest = max(longest, took)
    print(count, inside, around, longest, flush=True)
