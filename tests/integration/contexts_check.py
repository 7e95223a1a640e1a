# SPDX-License-Identifier: BSD-2-Clause
"""Checks of test_contexts.sh, against what the program knows of itself."""
import collections
import csv
import json
import re
import sys

from checks import check

PARTS = ("on_cpu_ns", "runqueue_ns", "sleep_ns", "disk_ns", "uninterruptible_ns", "stopped_ns")
ROUTES = ["r0", "r1", "r2", "r3"]


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def counter(report, name):
    return sum(c["count"] for c in report["counters"] if c["name"] == name)


def labels(path):
    """spin_N() runs with the label rN, and only then."""
    right, wrong = 0, collections.Counter()
    with open(path, encoding="utf-8") as file:
        for line in file:
            stack, weight = line.rsplit(" ", 1)
            frames = stack.split(";")
            spins = [f for f in frames if re.fullmatch("spin_[0-3]", f)]
            named = [f for f in frames if re.fullmatch(r"\[r[0-3]\]", f)]
            if not spins:
                continue
            if named == [f"[r{spins[0][5:]}]"]:
                right += int(weight)
            else:
                wrong[(tuple(named), spins[0])] += int(weight)
    check(right >= 50, f"{right} samples with the right label")
    # The last steps of a context's beginning and end belong to the function, too.
    check(sum(wrong.values()) <= right / 1000, f"wrong labels: {dict(wrong)}, {right} are right")


def read_truth(path):
    with open(path, encoding="utf-8") as file:
        return {words[0]: (int(words[2]), words[3]) for words in (line.split() for line in file)}


def requests(path, truth_path):
    report, truth = load(path), read_truth(truth_path)
    found = {r["trace_id"]: r for r in report["requests"]}
    check(len(found) == len(report["requests"]), "each id once")
    check(len(found) >= len(truth) - 1, f"{len(found)} of {len(truth)} requests")
    walls = trues = slept = 0
    for trace, request in found.items():
        check(trace in truth, f"no request has the id {trace}")
        true_ns, route = truth[trace]
        check(request["labels"] == [{"key": "route", "value": route}], f"{trace}: {request['labels']}")
        check(sum(request[p] for p in PARTS) == request["wall_ns"], f"{trace}: parts add up")
        waits = sum(w["wait_ns"] for w in request["waits"]) + request["other_wait_ns"]
        check(
            waits == request["wall_ns"] - request["on_cpu_ns"] - request["runqueue_ns"],
            f"{trace}: {waits} ns of waits have reasons",
        )
        slept += any("timer" in w["reason"] for w in request["waits"])
        walls += request["wall_ns"]
        trues += true_ns
    # Not every wait has a stack, when much else happens.
    check(slept >= len(found) * 0.8, f"{slept} of {len(found)} have slept on their own timer")
    check(abs(walls - trues) <= trues / 100, f"wall {walls} ns, true {trues} ns")


def still_open(path):
    report = load(path)
    check(len(report["requests"]) == 1, f"{len(report['requests'])} requests")
    request = report["requests"][0]
    check(request.get("open") is True, "it is open")
    check(request["labels"] == [{"key": "route", "value": "stuck"}], f"{request['labels']}")
    check(sum(request[p] for p in PARTS) == request["wall_ns"], "parts add up")
    end_ns = request["at_ns"] + request["wall_ns"]
    check(end_ns == report["time"]["duration_ns"], f"it lasts to {end_ns} of the interval")
    slept_ns = sum(w["wait_ns"] for w in request["waits"] if "timer" in w["reason"])
    check(slept_ns >= request["wall_ns"] * 0.9, f"{slept_ns} of {request['wall_ns']} ns: its stack is known")
    rows = {r["name"]: r for r in report["regions_by_name"]}
    check(rows["stuck"]["unfinished"] == 1 and not rows["stuck"]["count"], f"{rows['stuck']}")


def given_back(path):
    report = load(path)
    rows = {r["name"]: r for r in report["regions_by_name"]}
    total = sum(r["count"] for r in rows.values())
    # The first request of a process begins before it was looked at; others beside load, too.
    check(4096 < total <= 18 * 256, f"{total} requests in sums")
    check(counter(report, "CONTEXT_NO_SET") == 0, "all have a set")


def equal(first, second):
    a, b = load(first), load(second)
    for key in ("requests", "regions_by_name"):
        check(a[key] == b[key], f"{key} are the same")


def rows(path, csv_path, folded_path):
    report = load(path)
    check(report["by"] == "label", f"by {report['by']}")
    names = {row["label"]: row for row in report["rows"]}
    check(set(ROUTES) <= set(names) and "[no label]" in names, f"rows {sorted(names)}")
    for route in ROUTES:
        check(names[route]["offcpu"]["sleep_ns"] > 0, f"{route} has slept")
    with open(csv_path, encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    check(set(ROUTES) <= {row["label"] for row in table}, "rows of CSV")
    with open(folded_path, encoding="utf-8") as file:
        text = file.read()
    for route in ROUTES:
        check(f";[{route}];" in text, f"stacks in {route}")


def hashed(path):
    names = {row["label"] for row in load(path)["rows"]} - {"[no label]"}
    check(len(names) == 4, f"rows {sorted(names)}")
    check(all(re.fullmatch("#[0-9a-f]{8}", name) for name in names), f"rows {sorted(names)}")


def sets(path, count):
    report = load(path)
    regions = {r["name"]: r["count"] for r in report["regions_by_name"]}
    # The first one begins before the program has been looked at.
    check(len(regions) in (256, 257), f"{len(regions)} sets of values")
    total = sum(regions.values())
    check(int(count) - 1 <= total <= int(count), f"{total} requests")
    check(regions.get("[other]", 0) == total - sum(v for k, v in regions.items() if k != "[other]"), "the rest is [other]")
    check(counter(report, "CONTEXT_OTHER") > 0, "it is said")


def lies(path, text_path):
    report = load(path)
    names = {row["label"]: row for row in report["rows"]}
    check(set(ROUTES) <= set(names), f"rows {sorted(names)}")
    known = set(ROUTES) | {"[no label]", "lie", "\x1b[31m;\"<b>\n"}
    check(set(names) <= known, f"rows {sorted(set(names) - known)}")
    for name in ("CONTEXT_UNREADABLE", "CONTEXT_CHANGING", "CONTEXT_LONG"):
        check(counter(report, name) > 0, f"{name} is counted")
    with open(text_path, "rb") as file:
        check(b"\x1b[31m;" not in file.read(), "no codes of terminals")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
