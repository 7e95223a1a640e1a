# SPDX-License-Identifier: BSD-2-Clause
"""Checks the regions of JSON reports.

usage: regions_check.py nest FILE COUNT WALL_NS | rows FILE | ranks FILE TIMES NAME=WHAT | parts FILE NAME TEXT SUM… | counts FILE NAME=COUNT[+NOT_LEFT]… | seen FILE NAME… | many FILE LEAST NAME… | clocks FILE TEXT | equal FILE FILE | slow FILE LEAST_MS FRAME NAME…
"""
import json
import sys

from checks import check, counters, read_report

PARTS = ("on_cpu_ns", "runqueue_ns", "sleep_ns", "disk_ns", "uninterruptible_ns", "stopped_ns")
MS = 1000000


def regions(path, key="regions_by_name"):
    with open(path, encoding="utf-8") as file:
        return json.load(file).get(key, [])


def by_name(path):
    return {region["name"]: region for region in regions(path)}


def is_divided(path, region):
    """Its parts are all of it; where the kernel has hidden a switch, it is not known which part that was of."""
    parts = sum(region[part] for part in PARTS) + region["undivided_ns"]
    hidden = counters(read_report(path)).get("OFFCPU_UNSEEN_SWITCHES", 0)
    return parts == region["wall_ns"] and (region["undivided_ns"] == 0 or hidden > 0)


def nest(path, count, wall_ns):
    names = by_name(path)
    count = int(count)
    check(sorted(names) == ["compute", "step", "wait"], f"three regions: {sorted(names)}")
    for name, region in names.items():
        check(region["count"] == count, f"{name}: {region['count']} of {count}")
        check(is_divided(path, region), f"{name}: parts add up to the wall time exactly, and all is divided: {region}")
        check(region["p50_ns"] <= region["p95_ns"] <= region["p99_ns"] <= region["max_ns"], f"{name}: percentiles in order")
    step, compute, wait = names["step"], names["compute"], names["wait"]
    check(step["wall_ns"] <= int(wall_ns), "all steps take no longer than the program itself has measured")
    # A thread is on its CPU for at least the time that its clock counts.
    check(compute["on_cpu_ns"] + compute["undivided_ns"] >= count * 2 * MS, f"computing: {compute['on_cpu_ns'] / MS:.1f} ms on CPU")
    check(compute["sleep_ns"] == 0, "computing does not sleep")
    check(wait["sleep_ns"] + wait["undivided_ns"] >= count * 3 * MS * 0.99, f"waiting: {wait['sleep_ns'] / MS:.1f} ms asleep")
    check(compute["items"] == 32 * count and wait["items"] == 3 * count, "items are counted")
    rate = compute["items"] * 1e9 / compute["wall_ns"]
    check(abs(compute["items_per_second"] - rate) < rate / 1000 + 1, f"{rate:.0f} items/s")
    tree = regions(path, "regions")
    check([region["depth"] for region in tree] == [0, 1, 1] and tree[1]["parent"] == 0, "both are inside of the step")
    rest_ns = step["wall_ns"] - compute["wall_ns"] - wait["wall_ns"]
    check(tree[0]["self_ns"] == rest_ns, "the step itself has what they leave")


def rows(path):
    """By region: what each has to itself, and the rest."""
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    names = by_name(path)
    by = {row["region"]: row for row in report["rows"]}
    # What the kernel has hidden of one region may be known of the one around it.
    hidden = sum(region["undivided_ns"] for region in names.values())
    check(report["by"] == "region" and sorted(by) == ["[no region]", "compute", "step", "wait"], f"rows of {sorted(by)}")
    for part, key in (("oncpu_ns", "on_cpu_ns"), ("sleep_ns", "sleep_ns")):
        for name in ("compute", "wait"):
            check(abs(by[name]["offcpu"][part] - names[name][key]) <= hidden, f"{name}: {part} {by[name]['offcpu'][part]} of {names[name][key]}")
        inside = names["compute"][key] + names["wait"][key]
        check(abs(by["step"]["offcpu"][part] - (names["step"][key] - inside)) <= hidden, f"step: {part} is what the two leave")
        total = sum(row["offcpu"][part] for row in by.values())
        check(total == report["total"]["offcpu"][part], f"{part}: {total} of {report['total']['offcpu'][part]}")
    check(sum(row["cpu"]["samples"] for row in by.values()) == report["total"]["cpu"]["samples"], "each sample is in one row")
    outside = [finding["text"] for finding in report["findings"] if finding.get("who") == "[no region]"]
    check(not outside, f"findings are about regions: {outside}")
    check(by["compute"]["cpu"]["samples"] > by["wait"]["cpu"]["samples"], "computing takes more CPU than waiting")


def counts(path, *wanted):
    names = by_name(path)
    for text in wanted:
        name, numbers = text.split("=")
        left, _, not_left = numbers.partition("+")
        region = names.get(name, {"count": None, "not_left": None})
        check(region["count"] == int(left), f"{name}: {region['count']} of {left}")
        check(region["not_left"] == int(not_left or 0), f"{name}: {region['not_left']} of {not_left or 0} not left")
    for region in names.values():
        check(sum(region[part] for part in PARTS) + region["undivided_ns"] == region["wall_ns"], f"{region['name']}: parts")


def clocks(path, text):
    """text: of the program: wall NS cpu NS queue NS; of the host: stolen NS, which are no CPU time of a thread that is on its CPU"""
    words = text.split()
    own = dict(zip(words[::2], (int(word) for word in words[1::2])))
    region = by_name(path)["clocked"]
    # The thread may lose its CPU between its own readings, of which the one of the wall clock is the outermost.
    between = own["wall"] - region["wall_ns"]
    check(0 <= between, f"{region['wall_ns'] / MS:.2f} ms, by the program's own clock {own['wall'] / MS:.2f} ms")
    rest = own["wall"] - own["cpu"] - own["queue"]
    for name, value, truth in (
        ("on CPU or runnable", region["on_cpu_ns"] + region["runqueue_ns"], own["cpu"] + own["queue"]),
        ("on CPU", region["on_cpu_ns"], own["cpu"]),
        ("run queue", region["runqueue_ns"], own["queue"]),
        ("sleep", region["sleep_ns"], rest),
    ):
        limit = own["wall"] * 0.02 + 50000 * region["count"] + between + own["stolen"]
        check(abs(value - truth) <= limit, f"{name}: {value / MS:.2f} ms, by the program's own clocks {truth / MS:.2f} ms")


def memory(path, text):
    count = int(text)
    grow, swing = (by_name(path)[name] for name in ("grow", "swing"))
    mib = 1 << 20
    check(abs(grow["rss_growth_bytes"] - 4 * count * mib) < mib, f"growth of {grow['rss_growth_bytes'] / mib:.2f} MiB, {4 * count} MiB came")
    check(abs(swing["rss_growth_bytes"]) < mib, f"{swing['rss_growth_bytes'] / mib:.2f} MiB of growth in regions that give it back")
    check(grow["rss_max_bytes"] - grow["rss_mean_bytes"] > (2 * count - 3) * mib, "the mean is halfway to the largest")


def ranks(path, times, wanted):
    """TIMES: a file with sorted times of WHAT, read around each and inside of each. Between the two is what pkbpf measures, of each of
    them, and so of each rank of them; what disturbs the one disturbs the other."""
    name, what = wanted.split("=")
    with open(times, encoding="utf-8") as file:
        lines = {tuple(words[:2]): [int(word) for word in words[2:]] for words in map(str.split, file) if words[1] in ("around", "inside")}
    around, inside = lines[what, "around"], lines[what, "inside"]
    region = by_name(path)[name]
    count = region["count"]
    check(count == len(around), f"{name}: {count} of {len(around)}")
    for key, permille, bucket in ("p50_ns", 500, 1 / 32), ("p95_ns", 950, 1 / 32), ("p99_ns", 990, 1 / 32), ("max_ns", 1000, 0):
        rank = -(-count * permille // 1000) - 1
        low, value, high = inside[rank], region[key], around[rank]
        shown = f"{name}: {key} {value / 1000:.1f} us, by the program's own clocks {low / 1000:.1f} to {high / 1000:.1f} us"
        check(low * (1 - bucket) <= value <= high * (1 + bucket), shown)


def parts(path, name, text, *sums):
    """text: of the program: count N wall NS cpu NS queue NS stolen NS [stopped_least NS stopped_most NS]; SUM: of parts, as of clocks"""
    words = text.split()
    own = dict(zip(words[::2], (int(word) for word in words[1::2])))
    names = by_name(path)
    odd = [r["name"] for r in names.values() if not is_divided(path, r)]
    check(not odd, f"parts add up to the wall time exactly, of all regions but {odd}")
    region = names[name]
    check(region["count"] == own["count"], f"{region['count']} of {own['count']} regions")
    between = own["wall"] - region["wall_ns"]
    check(between >= 0, f"{region['wall_ns'] / MS:.2f} ms, by the program's own clock {own['wall'] / MS:.2f} ms")
    own["rest"] = own["wall"] - own["cpu"] - own["queue"]
    own["off"] = own["wall"] - own["cpu"]
    limit = own["wall"] * 0.02 + 50000 * region["count"] + between + own["stolen"]
    for sum_of in sums:
        parts, clock = sum_of.split("=")
        value, truth = sum(region[f"{part}_ns"] for part in parts.split("+")), own[clock]
        shown = f"{parts}: {value / MS:.2f} ms, by the program's own clocks {truth / MS:.2f} ms, within {limit / MS:.2f} ms"
        check(abs(value - truth) <= limit, shown)
    if "stopped_most" in own:
        # The CPU that wakes it up may do so after the signal has been sent: an interrupt away.
        least, value, most = own["stopped_least"], region["stopped_ns"], own["stopped_most"] + 50000 * region["count"] + own["stolen"]
        check(least <= value <= most, f"stopped: {value / MS:.2f} ms, by the child's clock {least / MS:.2f} to {most / MS:.2f} ms")


def seen(path, *wanted):
    names = by_name(path)
    for name in wanted:
        check(names.get(name, {"count": 0})["count"] > 0, f"{name} was seen")


def many(path, least, *wanted):
    names = by_name(path)
    for name in wanted:
        check(names.get(name, {"count": 0})["count"] >= int(least), f"{name}: {names[name]['count']}, at least {least}")


def slow(path, least_ms, frame, *wanted):
    """The ones that took longest, of these names, with the function of this name in their stacks."""
    items = regions(path, "slow_regions")
    names = by_name(path)
    check(items, f"{len(items)} slow ones are listed")
    check(sorted(items, key=lambda item: -item["wall_ns"]) == items, "the slowest is first")
    check({item["name"] for item in items} >= set(wanted), f"of {wanted}: {[item['name'] for item in items]}")
    for item in items:
        what = f"{item['name']}, {item['wall_ns'] / MS:.2f} ms"
        check(item["wall_ns"] >= float(least_ms) * MS, f"{what}: as slow as was asked for")
        check(sum(item[part] for part in PARTS) + item["undivided_ns"] == item["wall_ns"], f"{what}: parts add up to it")
        check(any(call["name"] == frame for call in item["frames"]), f"{what}: left below {frame}")
    slowest = max(names[name]["max_ns"] for name in wanted)
    check(items and items[0]["wall_ns"] == slowest, "the slowest has the maximum")


def equal(path, other):
    check(regions(path) and regions(path) == regions(other), "the same by name")
    check(regions(path, "regions") == regions(other, "regions"), "the same as trees")


globals()[sys.argv[1]](*sys.argv[2:])
