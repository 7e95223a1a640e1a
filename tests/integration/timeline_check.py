# SPDX-License-Identifier: BSD-2-Clause
"""Formats with a time axis: tables that fit together, and the sums of the folded stacks: timeline_check.py [--trace] FOLDER KIND…"""
import collections
import json
import sys

from checks import check, end

traced = sys.argv[1] == "--trace"
folder, kinds = sys.argv[1 + traced], sys.argv[2 + traced:]
TITLES = {"cpu": "CPU", "offcpu": "Off-CPU", "blockio": "Block I/O", "faults": "Page faults"}
IS_TIME = ("offcpu", "blockio")
COLUMNS = {
    "samples": {"time", "stack", "weight", "weightType", "length"},
    "stackTable": {"frame", "category", "subcategory", "prefix", "length"},
    "frameTable": {"address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol", "innerWindowID", "line", "column", "length"},
    "funcTable": {"name", "isJS", "relevantForJS", "resource", "fileName", "lineNumber", "columnNumber", "length"},
    "markers": {"name", "startTime", "endTime", "phase", "category", "data", "length"},
}


def folded(kind):
    return sum(int(line.rsplit(" ", 1)[1]) for line in open(f"{folder}/all.{kind}.folded", encoding="utf-8"))


def within(numbers, below):
    return all(number is None or 0 <= number < below for number in numbers)


def check_thread(thread):
    for table, columns in COLUMNS.items():
        there = thread[table]
        lists = [value for value in there.values() if isinstance(value, list)]
        if set(there) - {"threadCPUDelta"} != columns or any(len(column) != there["length"] for column in lists):
            check(False, f"firefox: {table} of {thread['name']}: {sorted(there)}")
    stacks, frames = thread["stackTable"], thread["frameTable"]
    fits = (within(thread["samples"]["stack"], stacks["length"]) and within(stacks["frame"], frames["length"])
            and within(frames["func"], thread["funcTable"]["length"]) and within(thread["funcTable"]["name"], len(thread["stringArray"]))
            and within(thread["markers"]["name"], len(thread["stringArray"])) and within(frames["category"], 5)
            and all(prefix is None or prefix < place for place, prefix in enumerate(stacks["prefix"])))
    times = thread["samples"]["time"]
    if not fits or times != sorted(times):
        check(False, f"firefox: tables of {thread['name']} do not fit together")


def is_of(thread, kind):
    if traced and kind == "cpu":
        return not any(thread["name"].endswith(": " + title) for title in TITLES.values())
    return thread["name"].endswith(": " + TITLES[kind])


def check_waits(what, waits):
    """Lengths in ms of waits of the program that sleeps three times for 10 ms."""
    check(waits and min(waits) >= 1 - 1e-6, f"{what}: {len(waits)} waits of 1 ms or more")
    # A machine that is taken away meanwhile makes them longer.
    check(sum(10 <= wait < 1000 for wait in waits) >= 3, f"{what}: three of them of 10 ms: {sorted(waits)[-12:]}")


def check_firefox():
    document = json.load(open(f"{folder}/all.firefox.json", encoding="utf-8"))
    check(document["meta"]["preprocessedProfileVersion"] == 55, "firefox: version 55")
    check(("--trace" if traced else "slices") in document["meta"]["importedFrom"], "firefox: says what its times are")
    for thread in document["threads"]:
        check_thread(thread)
    for kind in kinds:
        threads = [thread for thread in document["threads"] if is_of(thread, kind)]
        weight = sum(sum(thread["samples"]["weight"]) for thread in threads)
        expected = folded(kind) / (1000 if kind in IS_TIME else 1)
        check(abs(weight - expected) <= (0.001 * sum(thread["samples"]["length"] for thread in threads) if kind in IS_TIME else 0),
              f"firefox: {kind}: {weight:.3f}, folded stacks {expected:.3f}")
        check({thread["samples"]["weightType"] for thread in threads} == {"tracing-ms" if kind in IS_TIME else "samples"}, f"firefox: unit of {kind}")
    if traced:
        markers = [thread["markers"] for thread in document["threads"]]
        check_waits("firefox", [end - begin for table in markers for begin, end, data in zip(table["startTime"], table["endTime"], table["data"])
                                if data["type"] == "Wait"])


def check_chrome():
    document = json.load(open(f"{folder}/all.trace.json", encoding="utf-8"))
    events = document["traceEvents"]
    check(("--trace" if traced else "slices") in document["otherData"]["times"], "chrome: says what its times are")
    if traced:
        check_waits("chrome", [event["dur"] / 1000 for event in events if event.get("cat") == "wait"])
    named = {(event["pid"], event["tid"]) for event in events if event["name"] == "thread_name"}
    tracks = collections.defaultdict(list)
    for event in events:
        if not {"ph", "ts", "pid", "tid"} <= set(event):
            check(False, f"chrome: {event}")
        if event["ph"] == "X":
            tracks[event["pid"], event["tid"]].append((event["ts"], -event["dur"]))
    check(set(tracks) <= named and tracks, f"chrome: all of {len(tracks)} tracks have a name")
    bad = 0
    for spans in tracks.values():
        ends = []
        for begin, negative in sorted(spans):
            while ends and ends[-1] <= begin + 0.002:
                ends.pop()
            bad += bool(ends and begin - negative > ends[-1] + 0.003)
            ends.append(begin - negative)
    check(bad == 0, f"chrome: {bad} events of {sum(map(len, tracks.values()))} overlap without nesting")
    begun, ended = ([event["id"] for event in events if event["ph"] == phase] for phase in "be")
    check(begun == ended and len(set(begun)) == len(begun), f"chrome: {len(begun)} requests begin and end")
    check(any(event["ph"] == "C" and event["name"] == "%CPU" and event["args"]["user"] > 0 for event in events), "chrome: counters of CPU time")


check_firefox()
check_chrome()
end()
