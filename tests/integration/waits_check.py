#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares off-CPU stacks (--per-thread --wait-states) with what the program says of itself.

usage: waits_check.py FOLDED TRUTH STOLEN_US
"""
import sys

import folded
from checks import check, close

STATES = {
    "sleep": {"sleep"},
    "poll": {"sleep"},
    "pipe": {"sleep"},
    "futex": {"sleep"},
    "fsync": {"disk", "uninterruptible", "sleep"},
    "pagein": {"disk", "uninterruptible"},
    "spin": set(),
    "blocked": {"sleep"},
}

def near(measured_us, true_us, what, slack=0):
    """Within 1 % or 1 ms."""
    check(close(measured_us, true_us, 0, max(true_us / 100, 1000) + slack), f"{what}: {measured_us} us measured, {true_us:.0f} us true")


def state_of(frames):
    return frames[-1].strip("[]")


def check_thread(stacks, stolen_us, name, tid, waits, waited_ns, cpu_ns, life_ns):
    own = [(f, v) for f, v in stacks if f[0].endswith(f"/{tid}")]
    chain = [(f, v) for f, v in own if f"wait_{name}" in f and f"chain_{name}" in f]
    complete = sum(v for f, v in chain if "run_chain" in f)
    total = sum(v for _, v in chain)
    check(total > 0, f"{name}: its chain is there")
    check(complete == total, f"{name}: every stack of the chain reaches the thread's start")
    # The truth of a wait ends when the thread runs again: wait and run queue together.
    if name not in ("spin", "fsync", "pagein"):
        near(total, waited_ns / 1000, f"{name} {tid}: time in its chain", slack=30 * waits)
    seen = {}
    for frames, value in chain:
        seen[state_of(frames)] = seen.get(state_of(frames), 0) + value
    blocked = {s: v for s, v in seen.items() if s != "runqueue"}
    expected = STATES[name]
    stray = sum(v for s, v in blocked.items() if s not in expected)
    check(stray <= max(total / 100, 1000), f"{name}: waits in the states {sorted(seen.items())}")
    if expected:
        check(sum(blocked.values()) > 0, f"{name}: time in {sorted(expected)}")
    else:
        check(seen.get("runqueue", 0) > life_ns / 1000 / 4, f"{name}: {seen.get('runqueue', 0)} us on the run queue")
    # What waits before its first turn has no stack and does not know of it. Between its last clock reading and its end a
    # thread may be kept off the CPU once more, on a busy machine for long. Its CPU time knows nothing of what the host stole.
    off = sum(v for f, v in own if len(f) > 2)
    near(off + cpu_ns / 1000, life_ns / 1000, f"{name} {tid}: on-CPU and all waits against its wall clock",
         slack=25000 + stolen_us)


def main():
    stacks = folded.read(sys.argv[1])
    threads = 0
    with open(sys.argv[2], encoding="utf-8") as lines:
        for line in lines:
            words = line.split()
            if words and words[0] == "thread":
                threads += 1
                check_thread(stacks, int(sys.argv[3]), words[1], *(int(w) for w in words[2:]))
    check(threads > 0, f"{threads} threads told the truth")


main()
