# SPDX-License-Identifier: BSD-2-Clause
"""Reads folded stacks for the integration tests: [(frames root first, count), …]."""


def read(path):
    stacks = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            stack, count = line.rstrip("\n").rsplit(" ", 1)
            stacks.append((stack.split(";"), int(count)))
    return stacks


def user_frames(frames):
    return [f for f in frames if not f.endswith("_[k]")]


def share(stacks, predicate):
    total = sum(count for _, count in stacks)
    hits = sum(count for frames, count in stacks if predicate(frames))
    return (hits / total if total else 0.0), total


def holds_in_order(frames, wanted):
    """The wanted frames follow one another directly somewhere in the stack."""
    return any(frames[i : i + len(wanted)] == wanted for i in range(len(frames) - len(wanted) + 1))
