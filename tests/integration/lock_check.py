#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares locks of a report with the truth that lock_owners wrote.

usage: lock_check.py REPORT.json TRUTH.txt CLASS HELD_PERCENT
"""
import json
import sys


def read_truth(path):
    locks, waits, held, free_ns = {}, {}, {}, 0
    for line in open(path, encoding="utf-8"):
        word, *values = line.split()
        if word == "lock":
            locks[int(values[0])] = int(values[1], 16)
        elif word == "wait":
            waits[int(values[0])] = int(values[1]), int(values[2])
        elif word == "free":
            free_ns += int(values[1])
        elif word == "held":
            lock, tid, busy, asleep = map(int, values)
            held[lock, tid] = busy, asleep
    return locks, waits, held, free_ns


def main():
    report = json.load(open(sys.argv[1], encoding="utf-8"))["locks"]
    truth, waits, held, free_ns = read_truth(sys.argv[2])
    wanted_class, least = sys.argv[3], float(sys.argv[4])
    errors = []

    def check(ok, text):
        if not ok:
            errors.append(text)

    by_address = {}
    for lock in report["locks"]:
        by_address.setdefault(int(lock.get("address", "0"), 16), []).append(lock)
    all_ns = sum(lock["wait_ns"] for lock in report["locks"])
    known_ns = 0
    right = total = named = 0
    for number, address in truth.items():
        found = by_address.get(address, [])
        check(found, f"lock {number} at {address:#x} is in the report")
        wait_ns = sum(lock["wait_ns"] for lock in found)
        known_ns += wait_ns
        held_ns = sum(lock["held_ns"] for lock in found)
        for lock in found:
            check(lock["class"] == wanted_class, f"its class is {lock['class']}, not {wanted_class}")
            check(any(site.get("function") in ("take", "word_lock") for site in lock["waits_in"]), "it waits in take()")
        count, truth_ns = waits[number]
        # A wait of its clock begins before futex() and ends after it; shorter ones are in ours alone.
        check(0.85 * truth_ns <= wait_ns <= 1.15 * truth_ns + 1e7, f"lock {number}: {wait_ns} ns of {truth_ns} ns")
        check(abs(held_ns - wait_ns) <= wait_ns / 100, f"lock {number}: held {held_ns} of {wait_ns} ns")
        measured = {}
        for lock in found:
            for part in lock["threads"]:
                measured[part["tid"]] = measured.get(part["tid"], 0) + part["ns"]
                named += part["ns"] if part["tid"] else 0
        for (lock_number, tid), (busy, asleep) in held.items():
            if lock_number == number:
                right += min(measured.get(tid, 0), busy + asleep)
                total += busy + asleep
    check(known_ns >= 0.99 * all_ns, f"{known_ns} of {all_ns} ns are of these locks")
    # Time in which the lock was free and the next thread had not run yet is nobody's, or one of theirs: who is not known.
    percent = 100 * (right + min(free_ns, named - right)) / named if named else 0
    check(percent >= least, f"{percent:.2f}% of time with a holder has the right one, {least}% wanted")
    # Who begins to wait in that time sees no holder, until the next one gives the lock back: that is left open, and not wrong.
    known = 100 * right / total if total else 0
    # Not known is no wrong claim: a holder that lost its CPU before it wrote its number, a time-out that ran late. Both are
    # frequent beside others that compute.
    check(known >= 50, f"{known:.2f}% of held time has its thread, 50% wanted")
    print(f"    {percent:.2f}% of time with a holder right, {known:.2f}% of held time known ({right / 1e9:.3f} s of {total / 1e9:.3f} s, {named / 1e9:.3f} s with a holder, {free_ns / 1e9:.3f} s free), {known_ns / 1e9:.2f} s of {all_ns / 1e9:.2f} s of waits")
    for error in errors:
        print(f"lock_check: {error}", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
