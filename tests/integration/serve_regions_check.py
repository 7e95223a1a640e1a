# SPDX-License-Identifier: BSD-2-Clause
"""serve_regions_check.py REPORT OBJECTIVES NAME REGION TOLD...: what windows have of a region against what its program counted;
serve_regions_check.py budget SERIES REPORT REGION TOLD...: windows of a program whose probes cost too much."""
import json
import sys

from checks import check


def told(paths):
    """Sums of the program's lines: count, over by the inner clock, over by the outer one; the longest."""
    rows = [list(map(int, line.split())) for path in paths for line in open(path)]
    return [sum(row[i] for row in rows) for i in range(3)] + [max(row[3] for row in rows)]


def load(path):
    with open(path) as file:
        return json.load(file)


def region(report, name):
    found = [row for row in report.get("regions_by_name", []) if row["name"] == name]
    check(len(found) == 1, f"{name} is there once: {found}")
    return found[0] if found else {"count": 0}


def exact(report, objectives, name, marked, *paths):
    count, inside, around, longest = told(paths)
    row = region(load(report), marked)
    check(row["count"] == count, f"{name}: {row['count']} counted, {count} by itself")
    check(inside <= row.get("over", -1) <= around, f"{name}: {row.get('over')} over, {inside} to {around} by itself")
    check(row.get("limit_ns") == 100_000_000, f"{name}: limit {row.get('limit_ns')}")
    check("missed_ns" not in row, f"{name}: {row.get('missed_ns')} ns were missed")
    check(0 < row["max_ns"] <= longest, f"{name}: longest {row['max_ns']}, {longest} by itself")
    promises = {each["name"]: each for each in load(objectives)["objectives"]}
    for promise in (promises[f"{name}-p99"], promises[f"{name}-share"]):
        check(promise["regions"] == count and promise["not_counted"] == 0, f"all were counted: {promise}")
        check(promise["violations"] == row.get("over"), f"violations: {promise}")
        check(promise["watched_seconds"] == promise["recorded_seconds"], f"watched all the time: {promise}")
        broken = inside * 100 > count
        check(broken or around * 100 <= count, "the machine leaves it open whether it is broken")
        check(promise.get("met") is not broken, f"broken is {broken}: {promise}")


def budget(series, report, marked, *paths):
    count, _, _, longest = told(paths)
    answer, row = load(series), region(load(report), marked)
    watched, recorded = answer["series"][0]["watched_seconds"], answer["recorded_seconds"]
    check(0 < row["count"] < count, f"a part of {count}: {row['count']}")
    check(row.get("missed_ns", 0) > 0, "what was missed is said")
    check(row["max_ns"] <= longest, f"nothing is longer than the longest: {row['max_ns']}, {longest}")
    check(any(w < r for w, r in zip(watched, recorded)), f"windows say so: {watched} of {recorded}")


if sys.argv[1] == "budget":
    budget(*sys.argv[2:])
else:
    exact(*sys.argv[1:])
