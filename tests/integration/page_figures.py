#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks that each figure of a page about one process that stands twice is the same.
usage: page_figures.py PAGE"""
import re
import sys

text = open(sys.argv[1]).read()
lines = text.split("\n")
joined = " ".join(line.strip() for line in lines)
at = next(i for i, line in enumerate(lines) if line.startswith("Process"))
header, row = lines[at + 1], lines[at + 2]
TIME = r"(\.|\d[\d.]*(?: min \d+)? (?:ns|us|ms|s|min|h)(?: \d+ min)?)"
compared = 0


def in_row(name, figure):
    """The row has this figure, if it has the column"""
    global compared
    match = re.search(rf"(?<!\S){re.escape(name)}(?!\S)", header)
    if not match or figure is None:
        return
    compared += 1
    if not row[:match.end()].endswith(" " + figure):
        sys.exit(f"{name}: {figure!r} is not in the row:\n{text}")


def first(pattern):
    match = re.search(pattern, joined)
    return match.group(1) if match else None


on_cpu = first(rf"On-CPU: {TIME} \(")
percent = first(r"On-CPU: [^(]*\(([\d.]+)% of one CPU\)")
in_row("%CPU", percent and percent + "%")
in_row("user", first(rf"On-CPU: [^)]*\), user {TIME}"))
in_row("sys", first(rf"On-CPU: [^)]*\), user [^,]*, sys {TIME}"))
in_row("run queue", first(rf"Off-CPU: [^:]*?run queue {TIME}"))
in_row("disk wait", first(rf"Off-CPU: [^:]*?disk wait {TIME}"))
in_row("RSS", first(r"Memory: (?:sum of )?RSS (\S+ \S+?)[, ]"))
of_finding = first(rf"{TIME} on CPU")
if of_finding and on_cpu:
    compared += 1
    if of_finding != on_cpu:
        sys.exit(f"on CPU: {of_finding!r} in the finding, {on_cpu!r} elsewhere:\n{text}")
computes = first(r"computes: (\d+) % of one CPU")
if computes and percent:
    compared += 1
    if abs(float(percent) - int(computes)) > 0.6:
        sys.exit(f"computes {computes} % in the finding, {percent}% elsewhere:\n{text}")
if compared < 3:
    sys.exit(f"only {compared} figures stand twice:\n{text}")
