#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: python_calls_check.py counts PSTATS TRUTH...    numbers of calls, against those of cProfile
       python_calls_check.py lines CSV TRUTH SUBJECT     hits of lines, against those of sys.settrace()

Of functions of the subject all calls, of others those by functions of the subject: what runs before and after is not the same.
"""
import csv
import json
import os
import pstats
import sys

SUBJECT = "python_calls_subject.py"


def is_run(function):
    """Code of modules and classes runs when they are imported."""
    return function[2] != "<module>" and not function[2][0].isupper()


def is_own(function):
    name = function[2]
    return os.path.basename(function[0]) == SUBJECT and is_run(function) and (name[0] != "_" or name.startswith("__"))


def is_json(function):
    return os.path.basename(os.path.dirname(function[0])) == "json" and is_run(function) and function[2] != "__init__"


def counts(stats):
    """(function): (primitive, all); (caller, function): (not of a recursion, all)."""
    sums = {}
    for function, (primitive, calls, _self, _total, callers) in stats.stats.items():
        if is_own(function) or is_json(function):
            sums[function] = primitive, calls
        for caller, (all_calls, first, _self, _total) in callers.items():
            if is_own(caller) and not function[2].startswith("_start"):
                sums[caller, function] = first, all_calls
    return sums


def check_counts(path, *truths):
    ours, theirs = counts(pstats.Stats(path)), counts(pstats.Stats(*truths))
    wrong = {key: (ours.get(key), theirs.get(key)) for key in {*ours, *theirs} if ours.get(key) != theirs.get(key)}
    for key, (own, other) in sorted(wrong.items(), key=str):
        print(f"{key}: {own}, cProfile {other}")
    print(f"{len(ours)} counts, {sum(calls for _, calls in ours.values())} calls, {len(wrong)} wrong")
    return not wrong and len(ours) > 80


def check_lines(path, truth, subject):
    ours = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if os.path.samefile(row["file"], subject) if os.path.exists(row["file"]) else False:
                key = f"{row['function']}:{row['line']}"
                ours[key] = ours.get(key, 0) + int(row["hits"])
    with open(truth, encoding="utf-8") as file:
        theirs = {key: hits for key, hits in json.load(file).items()}
    names = {"fib", "is_even", "is_odd", "deep", "recursion", "numbers", "chained", "echo", "raises", "in_c", "exceptions", "builtins",
             "key_of", "comprehensions", "lambdas", "generators"}
    keys = {key for key in {*ours, *theirs} if key.split(":")[0] in names}
    wrong = {key: (ours.get(key), theirs.get(key)) for key in keys if ours.get(key) != theirs.get(key)}
    print(wrong)
    print(f"{len(keys)} lines, {len(wrong)} wrong")
    return not wrong and len(keys) > 40


if __name__ == "__main__":
    sys.exit(not {"counts": check_counts, "lines": check_lines}[sys.argv[1]](*sys.argv[2:]))
