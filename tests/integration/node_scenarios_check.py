# SPDX-License-Identifier: BSD-2-Clause
"""Compares folded stacks with lines of node_scenarios.js with call chains from V8's stack traces.

usage: node_scenarios_check.py STACKS.folded CHAINS.json
"""
import json
import re
import sys

import checks

# name (file of the definition:line) (file:line)_[j]; functions of eval() have no file
FRAME = re.compile(r"(.*?)(?: \(([^()]+?)(?::(\d+))?\))?(?: \(([^()]+):(\d+)\))?_\[[ij]\]$")
SMALLEST = 0.999
# Samples before the tables of the process are there have no JavaScript frames.
SMALLEST_NAMED = 0.3
# A line is right or missing; how many are missing depends on the scenarios that got the samples (0.9 to 0.95).
SMALLEST_WITH_LINE = 0.8


def javascript_frames(stack):
    """Name, file and line; those of Node's own modules are left out, for snapshots lack some names."""
    for frame in stack.split(";"):
        match = FRAME.match(frame)
        if match and not (match[2] or "").startswith("node:"):
            yield match[1], (match[2] or "").rsplit("/", 1)[-1], int(match[5] or 0)


def expected_chains(chains):
    """Outermost first."""
    for chain in chains:
        # Computed names are the object's, not the function's.
        yield [("(anonymous)" if name == "eval" or name.startswith("[") else name, path.rsplit("/", 1)[-1], line if path else 0)
               for name, path, line in reversed(chain) if not path.startswith("node:")]


def is_chain(chain, callers):
    """From V8 12 on the function that sets the fields of an object has the name of its class."""
    return len(chain) == len(callers) and all(
        (wanted[0] == found[0] or wanted[0].startswith("<")) and wanted[1] == found[1] for wanted, found in zip(chain, callers))


def main():
    with open(sys.argv[2]) as file:
        expected = {leaf: list(expected_chains(chains)) for leaf, chains in json.load(file).items()}
    samples = right = right_lines = all_samples = callers_seen = with_line = 0
    seen, printed = set(), 0
    with open(sys.argv[1]) as file:
        for line in file:
            stack, weight = line.rsplit(" ", 1)
            weight = int(weight)
            all_samples += weight if "Builtins_" in stack or "_[j]" in stack else 0
            frames = list(javascript_frames(stack))
            leaf = next((at for at, frame in enumerate(frames) if frame[0] in expected), None)
            if leaf is None:
                continue
            callers = frames[:leaf]
            seen.add(frames[leaf][0])
            samples += weight
            fitting = [chain for chain in expected[frames[leaf][0]] if is_chain(chain, callers)]
            if fitting:
                right += weight
                known = [at for at, frame in enumerate(callers) if frame[2]]
                callers_seen += len(callers) * weight
                with_line += len(known) * weight
                if any(all(chain[at][2] == callers[at][2] for at in known) for chain in fitting):
                    right_lines += weight
                elif printed < 8:
                    printed += 1
                    print("wrong lines:", callers, "\n  expected", fitting)
            elif printed < 8:
                printed += 1
                print("wrong chain:", stack[-900:], "\n  expected", expected[frames[leaf][0]])
    print(f"{samples} samples, {right} with a right chain, {right_lines} of them with right lines; "
          f"{with_line} of {callers_seen} callers have a line; "
          f"{len(seen)} of {len(expected)} scenarios, {samples} of {all_samples} stacks have names")
    checks.check(samples >= 100, "samples in known functions")
    checks.check(right >= SMALLEST * samples, "chains of functions")
    checks.check(right_lines >= SMALLEST * right, "lines of callers")
    checks.check(with_line >= SMALLEST_WITH_LINE * callers_seen, "callers with a line")
    checks.check(samples >= SMALLEST_NAMED * all_samples, "stacks with names")
    checks.check(len(seen) >= 0.8 * len(expected), "scenarios with samples")


main()
