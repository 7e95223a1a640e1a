# SPDX-License-Identifier: BSD-2-Clause
"""Compares folded stacks with lines of ruby_scenarios.rb with the chains that the program knows.

usage: ruby_scenarios_check.py STACKS.folded CHAINS.json
"""
import json
import re
import sys

import checks

SMALLEST = 0.999


def ruby_frames(stack):
    for frame in stack.split(";"):
        match = re.match(r"(.*) \((.*?)(?::(\d+))?\)_\[p\]$", frame)
        if match:
            yield match[1], match[2].rsplit("/", 1)[-1], int(match[3] or 0)


def label_of(name):
    """Without the class: "block in Shop::Cart#add" is "block in add"."""
    prefix, in_word, method = name.rpartition(" in ")
    if method.startswith("<"):
        return name
    method = re.sub(r"^(?:[A-Z]\w*::)*[A-Z]\w*[.#](?=.)", "", method)
    return prefix + in_word + method


def is_chain(frames, chain):
    return len(frames) == len(chain) and all(
        label_of(name) == label and path in (file, "<cfunc>") for (name, path, _), (label, file, _) in zip(frames, chain))


def has_lines(frames, chain):
    return is_chain(frames, chain) and all(
        path == "<cfunc>" or line == number for (_, path, line), (_, _, number) in zip(frames, chain))


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        known = json.load(file)
    expected, names = known["expected"], known["names"]
    samples = right = right_lines = right_leaves = truncated = named = right_names = 0
    seen = set()
    told = 0
    with open(sys.argv[1], encoding="utf-8") as file:
        for line in file:
            stack, weight = line.rsplit(" ", 1)
            weight = int(weight)
            frames = list(ruby_frames(stack))
            leaf = next((at for at, frame in enumerate(frames) if label_of(frame[0]) in expected), None)
            if leaf is None:
                continue
            name = label_of(frames[leaf][0])
            scenario = expected[name]
            callers = frames[:leaf]
            seen.add(name)
            samples += weight
            truncated += weight if "[truncated" in stack else 0
            if any(is_chain(callers, chain) for chain in scenario["chains"]):
                right += weight
            elif told < 5:
                told += 1
                print("wrong chain:", stack, "\n  expected", scenario["chains"])
            if any(has_lines(callers, chain) for chain in scenario["chains"]):
                right_lines += weight
            elif told < 5:
                told += 1
                print("wrong lines:", callers, "\n  expected", scenario["chains"])
            if frames[leaf][2] in scenario["lines"]:
                right_leaves += weight
            elif told < 5:
                print("wrong line:", frames[leaf], scenario["lines"])
            if name in names:
                named += weight
                tail = [frame[0] for frame in callers][-len(names[name]):]
                if tail == names[name]:
                    right_names += weight
                elif told < 8:
                    told += 1
                    print("wrong names:", tail, "\n  expected", names[name])
    checks.check(seen == set(expected), f"{len(seen)} of {len(expected)} scenarios seen; missing {set(expected) - seen}")
    for what, count, of in (("chains", right, samples), ("lines of callers", right_lines, samples),
                            ("lines of the last methods", right_leaves, samples), ("names with classes", right_names, named)):
        checks.check(of and count >= SMALLEST * of, f"{count} of {of} samples with right {what}: {100 * count / max(of, 1):.3f} %")
    print(f"  {samples} samples, {right} right chains, {right_lines} right lines, {truncated} truncated")


main()
