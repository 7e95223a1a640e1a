# SPDX-License-Identifier: BSD-2-Clause
"""Compares folded stacks with lines of python_scenarios.py with the chains that the program knows.

usage: python_scenarios_check.py STACKS.folded CHAINS.json
"""
import json
import re
import sys

import checks

FRAME = re.compile(r"(.*) \((.*?)(?::(\d+))?\)_\[p\]$")
SMALLEST = 0.999
# What an import runs before the module is left out, as in Python's own tracebacks.
IMPORTS = {"_gcd_import", "_find_and_load", "_find_and_load_unlocked", "_load_unlocked", "_load_backward_compatible", "exec_module",
           "_LoaderBasics.exec_module", "_handle_fromlist", "_call_with_frames_removed"}


def is_shown(frame):
    return not (frame[1].startswith("<frozen importlib._bootstrap") and frame[0] in IMPORTS)


def python_frames(stack):
    for frame in stack.split(";"):
        match = FRAME.match(frame)
        if match:
            yield match[1], match[2].rsplit("/", 1)[-1], int(match[3] or 0)


def main():
    with open(sys.argv[2]) as file:
        expected = json.load(file)
    for known in expected.values():
        known["chains"] = [[frame for frame in chain if is_shown(frame)] for chain in known["chains"]]
    samples = right = right_lines = right_leaves = unplaced = 0
    seen = set()
    told = 0
    with open(sys.argv[1]) as file:
        for line in file:
            stack, weight = line.rsplit(" ", 1)
            weight = int(weight)
            frames = list(python_frames(stack))
            leaf = next((at for at, frame in enumerate(frames) if frame[0] in expected), None)
            if leaf is None:
                continue
            known = expected[frames[leaf][0]]
            callers = frames[:leaf]
            seen.add(frames[leaf][0])
            samples += weight
            if any([[name, path] for name, path, _ in chain] == [[name, path] for name, path, _ in callers]
                   for chain in known["chains"]):
                right += weight
            elif told < 5:
                told += 1
                print("wrong chain:", stack, "\n  expected", known["chains"])
            if [list(frame) for frame in callers] in known["chains"]:
                right_lines += weight
            elif told < 5:
                told += 1
                print("wrong lines:", callers, "\n  expected", known["chains"])
            if frames[leaf][2] in known["lines"]:
                right_leaves += weight
            else:
                print("wrong line:", frames[leaf], known["lines"])
            unplaced += weight if re.search(r"\[(?:truncated)", stack) else 0
    wide = max(samples, 1)
    checks.check(seen == set(expected), f"{len(seen)} of {len(expected)} scenarios seen; missing {set(expected) - seen}")
    for what, count in (("chains", right), ("lines of callers", right_lines), ("lines of the last functions", right_leaves)):
        checks.check(count >= SMALLEST * samples, f"{count} of {samples} samples with right {what}: {100 * count / wide:.3f} %")
    print(f"  {samples} samples, {right} right chains, {right_lines} right lines, {unplaced} truncated")


main()
