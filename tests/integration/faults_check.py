#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares page faults of a report and its folded stacks with what getrusage() told the program.

usage: faults_check.py REPORT FOLDED TRUTH KIND MEMORY
Exit status: 0 all holds, 1 an exact number is wrong, 2 only how faults are divided, which is known from a sample.
"""
import re
import sys

import checks
from checks import check


def memory_rows(lines):
    """name -> (minor, major) of the table "Page faults by type of memory"."""
    rows, inside = {}, False
    for line in lines:
        if line.startswith("Page faults by type of memory"):
            inside = True
        elif inside and line.startswith(" ("):
            break
        elif inside:
            match = re.match(r" (\S.*?) +[<>]?[\d.]+% +([\d,]+) +([\d,]+)$", line)
            if match:
                rows[match[1]] = tuple(int(text.replace(",", "")) for text in match.groups()[1:])
    return rows


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = memory_rows(file.read().splitlines())
    with open(sys.argv[2], encoding="utf-8", errors="replace") as file:
        folded = file.read().splitlines()
    with open(sys.argv[3], encoding="utf-8") as file:
        minor_here, major_here, minor, major = map(int, file.read().split())
    kind, memory = sys.argv[4:]

    # The program was ours for a moment before it was itself, and ends after it has asked.
    slack = 40
    measured_minor = sum(row[0] for row in rows.values())
    measured_major = sum(row[1] for row in rows.values())
    check(abs(measured_minor - minor) <= 0.001 * minor + slack, f"minor: {measured_minor} of {minor}")
    check(abs(measured_major - major) <= 0.001 * major + 2, f"major: {measured_major} of {major}")

    if checks.failures:
        return
    checks.status = 2

    wanted = major_here if kind == "major" else minor_here
    there = rows.get(memory, (0, 0))[1 if kind == "major" else 0]
    check(abs(there - wanted) <= 0.01 * wanted + 100, f"{memory}: {there} of {wanted}")

    # What is not of the program's own start and end lies below the function that touches the pages.
    whole = right = 0
    for line in folded:
        stack, _, value = line.rpartition(" ")
        whole += int(value)
        if f"touch_{kind}" in stack:
            right += int(value)
    check(right >= 0.99 * wanted - 100 and right <= whole, f"touch_{kind}: {right} of {wanted}")


main()
