# SPDX-License-Identifier: BSD-2-Clause
"""Compares folded CPU stacks of ruby_shop.rb with the CPU times that the program has counted.

usage: ruby_shop_check.py STACKS.folded TIMES.json
"""
import json
import math
import re
import sys

import checks
import folded


def name_of(frame):
    match = re.match(r"(.*) \([^()]*\)_\[p\]$", frame)
    return re.sub(r"^.* in ", "", match[1]) if match else None


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        times = json.load(file)
    samples = 0
    total = dict.fromkeys(times["total"], 0)
    inner = dict.fromkeys(times["total"], 0)
    for frames, count in folded.read(sys.argv[1]):
        methods = [name for name in map(name_of, frames) if name in total]
        if "Shop::Router#call" not in methods:
            continue
        samples += count
        for name in set(methods):
            total[name] += count
        inner[methods[-1]] += count
    all_seconds = times["total"]["Shop::Router#call"]
    for what, seen, counted in (("total", total, times["total"]), ("self", inner, times["self"])):
        for name, seconds in counted.items():
            share, own = seen[name] / max(samples, 1), seconds / all_seconds
            # Three deviations of the samples, and what counting itself costs.
            bound = 3 * math.sqrt(own * (1 - own) / max(samples, 1)) + 0.02
            checks.check(abs(share - own) <= bound, f"{name}: {what} {100 * share:.1f} %, by its counters {100 * own:.1f} %")
    by_counters = sorted(times["self"], key=times["self"].get)[-1]
    by_samples = sorted(inner, key=inner.get)[-1]
    # Two may change places by the deviation of their difference.
    apart = (times["self"][by_counters] - times["self"][by_samples]) / all_seconds
    near = apart <= 3 * math.sqrt(2 * times["self"][by_counters] / all_seconds / max(samples, 1)) + 0.02
    checks.check(samples > 300 and (by_samples == by_counters or near), f"the hottest method of {samples} samples is {by_samples}, by its counters {by_counters}")


main()
