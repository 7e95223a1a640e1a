# SPDX-License-Identifier: BSD-2-Clause
"""Checks calls of functions in JSON reports.

usage: calls_check.py calls FILE NAME=CALLS[/OUTERMOST][+NOT_RETURNED]… | seen FILE NAME… | times FILE
"""
import json
import sys

from checks import check

PARTS = ("on_cpu_ns", "runqueue_ns", "sleep_ns", "disk_ns", "uninterruptible_ns", "stopped_ns")
MS = 1000000


def by_name(path):
    with open(path, encoding="utf-8") as file:
        return {line["name"]: line for line in json.load(file).get("regions_by_name", [])}


def calls(path, *wanted):
    names = by_name(path)
    for text in wanted:
        name, numbers = text.rsplit("=", 1)
        numbers, _, not_left = numbers.partition("+")
        total, _, outermost = numbers.partition("/")
        line = names.get(f"{name}()", {"calls": None, "count": None, "not_left": None})
        check(line["calls"] == int(total), f"{name}: {line['calls']} of {total} calls")
        if outermost:
            check(line["count"] == int(outermost), f"{name}: {line['count']} of {outermost} outermost")
        if not_left:
            check(line["not_left"] == int(not_left), f"{name}: {line['not_left']} of {not_left} without return")
    for line in names.values():
        check(sum(line[part] for part in PARTS) + line["undivided_ns"] == line["wall_ns"], f"{line['name']}: parts add up")
        check(line["p50_ns"] <= line["p99_ns"] <= line["max_ns"], f"{line['name']}: percentiles")


def times(path):
    names = by_name(path)
    sleeper = names["sleeper()"]
    check(sleeper["sleep_ns"] >= 2 * 2 * MS, f"sleeper: {sleeper['sleep_ns'] / MS:.2f} ms asleep in 2 times 2 ms")
    check(names["main()"]["wall_ns"] >= names["all()"]["wall_ns"] >= sleeper["wall_ns"], "callers take longer")
    recursive = names["fibonacci()"]
    # Each inner call is in the self time of one call only.
    check(recursive["self_ns"] <= recursive["wall_ns"], "self time of a recursive function")


def seen(path, *wanted):
    names = by_name(path)
    for name in wanted:
        check(names.get(f"{name}()", {"calls": 0})["calls"] > 0, f"{name} was called")


globals()[sys.argv[1]](*sys.argv[2:])
