#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares each wait of a trace, and the totals of a report, with the holds that lock_owners wrote.

usage: lock_owner_check.py RUN.trace.json RUN.json TRUTH.txt OWNER_PERCENT

OWNER_PERCENT of the waits of 50 us and more name the holder at their begin. A wait that begins between two holds may name
the holder before, the next one, or none. Waits and their time match the program's own clock within 2 %, and the trace
exactly.
"""
import bisect
import json
import sys

LONG_NS = 50000
# Between the program's two readings of its clock and the two switches: a call of the kernel, and a lost CPU where others run.
CLOCK_NS = 30000


def read_truth(path):
    addresses, holds, totals, ahead = {}, {}, {}, 0
    for line in open(path, encoding="utf-8"):
        word, *values = line.split()
        if word == "lock":
            addresses[int(values[0])] = int(values[1], 16)
        elif word == "wait":
            totals[int(values[0])] = tuple(map(int, values[1:]))
        elif word == "clock":
            ahead = int(values[0])
        elif word == "hold":
            lock, tid, before, taken, given, reads = map(int, values)
            holds.setdefault(lock, []).append((taken, given, tid, before, reads))
    return addresses, {lock: sorted(of_lock) for lock, of_lock in holds.items()}, totals, ahead


def allowed(of_lock, begin):
    """Holders that a wait which began then may name, and whether there is one alone"""
    next_one = bisect.bisect_right(of_lock, (begin, 1 << 63))
    if not next_one:
        return {of_lock[0][2], 0}, False
    before = of_lock[next_one - 1]
    if any(hold[4] for hold in of_lock[max(next_one - 64, 0):next_one + 1] if hold[1] > begin - CLOCK_NS):
        # Readers have no names.
        return {0} | {hold[2] for hold in of_lock[max(next_one - 64, 0):next_one + 1]}, False
    if begin < before[1] - CLOCK_NS and begin > before[0] + CLOCK_NS:
        return {before[2]}, True
    around = of_lock[max(next_one - 2, 0):next_one + 1]
    return {hold[2] for hold in around} | {0}, False


def check_sums(trace, report, errors):
    """Each wait in the kernel's futex is one for a lock, but those for the end of a thread: to the nanosecond"""
    waits = waited_ns = 0
    for event in trace["traceEvents"]:
        functions = " ".join(event["args"].get("stack", [])) if event.get("cat") == "wait" else ""
        if "futex" in functions and "join" not in functions and event["name"] != "runqueue":
            waits += 1
            waited_ns += round(event["dur"] * 1000)
    at_locks, at_locks_ns = report["waits"] + report["signal_waits"], report["wait_ns"] + report["signal_ns"]
    if (waits, waited_ns) != (at_locks, at_locks_ns):
        errors.append(f"{at_locks} waits of {at_locks_ns} ns at locks, {waits} of {waited_ns} ns off the CPU")


def main():
    trace = json.load(open(sys.argv[1], encoding="utf-8"))
    report = json.load(open(sys.argv[2], encoding="utf-8"))["locks"]
    addresses, holds, totals, ahead = read_truth(sys.argv[3])
    least = float(sys.argv[4])
    start = int(trace["otherData"]["start_unix_ns"]) - ahead
    errors = []
    check_sums(trace, report, errors)
    by_thread = {}
    for lock, of_lock in holds.items():
        for taken, _, tid, before, _ in of_lock:
            by_thread.setdefault(tid, []).append((before, taken, lock))
    for events in by_thread.values():
        events.sort()
    right = clear = other = seen = 0
    wrong, waited = [], {}
    for event in trace["traceEvents"]:
        # Waits of the run queue are no waits for locks.
        if event["ph"] != "X" or event.get("cat") != "wait" or event["name"] == "runqueue" or event["tid"] not in by_thread:
            continue
        begin = start + event["ts"] * 1000
        events = by_thread[event["tid"]]
        at = bisect.bisect_right(events, (begin + CLOCK_NS, 0, 0)) - 1
        if at < 0 or begin + event["dur"] * 1000 > events[at][1] + CLOCK_NS:
            continue
        # A thread that is woken and finds the lock taken waits again.
        waited[event["tid"], at] = waited.get((event["tid"], at), 0) + event["dur"] * 1000
        if event["dur"] * 1000 < LONG_NS:
            continue
        seen += 1
        names, is_clear = allowed(holds[events[at][2]], begin)
        holder = event["args"].get("lock_holder", 0)
        if is_clear:
            clear += 1
            right += holder in names
            if holder not in names:
                wrong.append((event["tid"], holder, names))
        else:
            other += holder not in names
    count = sum(total[0] for total in totals.values())
    percent = 100 * (seen - (clear - right) - other) / seen if seen else 0
    if percent < least:
        errors.append(f"{percent:.2f}% of {seen} waits name their holder, {least}% wanted: {wrong[:5]}")
    # What is near to that length by one clock may be beyond by the other.
    least_count, most_count = (sum(ns >= bound for ns in waited.values()) for bound in (LONG_NS + CLOCK_NS, LONG_NS - CLOCK_NS))
    if not 0.98 * least_count <= count <= 1.02 * most_count:
        errors.append(f"{least_count} to {most_count} of {count} waits of 50 us and more are in the trace")
    ratios = []
    for lock, address in addresses.items():
        wait_ns = sum(one["wait_ns"] for one in report["locks"] if int(one.get("address", "0"), 16) == address)
        long_ns, all_ns = totals[lock][1:]
        ratios.append(wait_ns / long_ns if long_ns else 0)
        if not 0.98 * long_ns <= wait_ns <= 1.02 * all_ns:
            errors.append(f"lock {lock}: {wait_ns} ns of {long_ns} to {all_ns} ns")
    print(f"    {percent:.2f}% of {seen} waits (the program counts {count}, the trace {least_count} to {most_count}) name their holder, {clear - right} of {clear} in a hold do not,"
          f" {other} of {seen - clear} between two; totals {' and '.join(f'{ratio:.4f}' for ratio in ratios)} of the program's")
    for error in errors:
        print(f"lock_owner_check: {error}", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
