#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares the block I/O of a report (JSON) and its folded stacks with what is known of the load.

usage: blockio_check.py REPORT FOLDED CHECK ARGUMENT...
"""
import re
import sys

import checks
from checks import check


def rows_of(report, comm):
    return [row for row in report["rows"] if row["comm"] == comm]


def blockio_of(row):
    return row.get("blockio") or {"requests": 0, "reads": 0, "writes": 0, "read_bytes": 0, "written_bytes": 0}


def device_of(report, name):
    for device in report["devices"]:
        if device["name"] == name:
            return device
    return {"requests": 0, "bytes": 0, "requests_of_other_devices": 0, "operations": []}


def check_sound(report):
    lost = [counter for counter in report["counters"] if counter["is_loss"] and counter["count"]]
    missed = checks.counters(report).get("BLOCKIO_UNFINISHED", 0)
    check(all(counter["name"] == "BLOCKIO_UNFINISHED" for counter in lost), f"nothing is lost: {lost}")
    requests = sum(device["requests"] for device in report["devices"])
    check(missed * 200 <= requests, f"{missed} completions were not seen, of {requests} requests")


def check_exact(report, folded, device, comm, requests, size):
    """The device did exactly this, all of it for one process, and nearly all of it below its own stack."""
    requests, size = int(requests), int(size)
    values = device_of(report, device)
    check(values["requests"] == requests, f"{device}: {values['requests']} requests of {requests}")
    check(values["bytes"] == size, f"{device}: {values['bytes']} bytes of {size}")
    check(values["requests_of_other_devices"] == 0, f"{device}: its requests are its own")
    # The process may have read itself and its libraries from another device, too.
    best = max((blockio_of(row) for row in rows_of(report, comm)), key=lambda row: row["requests"], default={})
    mine = best.get("read_bytes", 0) + best.get("written_bytes", 0)
    check(requests <= best.get("requests", 0) <= requests * 1.05 + 50, f"{comm}: {best.get('requests')} requests")
    check(size <= mine <= size * 1.05 + 2e6, f"{comm}: {mine} bytes")


def check_held_back(report, folded, comm, requests):
    """What the process has not issued itself is told as issued by workers."""
    own = max((blockio_of(row)["requests"] for row in rows_of(report, comm)), default=0)
    told = checks.counters(report).get("BLOCKIO_BY_WORKER", 0)
    check(told > 0 and own + told >= int(requests), f"{comm}: {own} requests, {told} of workers, of {requests}")


def check_device(report, folded, device, requests):
    """The device did exactly this, whoever issued it."""
    values = device_of(report, device)
    check(values["requests"] == int(requests), f"{device}: {values['requests']} requests of {requests}")


def check_stacks(report, folded, comm, pattern, kernel_pattern):
    """At least 99 % of the time of the process's stacks lies below this user and this kernel function."""
    whole = right = 0
    for line in folded:
        stack, _, value = line.rpartition(" ")
        frames = stack.split(";")
        if frames[0] != comm:
            continue
        # With what it read to start.
        whole += int(value)
        if re.search(pattern, stack) and re.search(kernel_pattern, stack):
            right += int(value)
    check(whole > 0 and right >= 0.99 * whole, f"{comm}: {right} of {whole} us below {pattern} and {kernel_pattern}")


def check_bystander(report, folded, bystander, wrote):
    """Buffered writes are never charged to somebody who happened to run."""
    wrote = int(wrote)
    for row in rows_of(report, bystander):
        check(blockio_of(row)["written_bytes"] == 0, f"{bystander} wrote {blockio_of(row)['written_bytes']} bytes")
    pages = sum(blockio_of(row)["written_bytes"] for row in rows_of(report, "[writeback]"))
    own = sum(blockio_of(row)["written_bytes"] for row in rows_of(report, "dd") + rows_of(report, "sync"))
    check(pages + own >= 0.95 * wrote, f"{pages} bytes by [writeback], {own} by who wrote or synced, of {wrote}")
    check(pages > 0, f"{pages} bytes by [writeback]")


def check_fsync(report, folded, comm, syncs, size):
    """What a process syncs is its own, and so are the flushes it waits for or those of the journal."""
    syncs, size = int(syncs), int(size)
    mine = max((blockio_of(row) for row in rows_of(report, comm)), key=lambda row: row["writes"], default={})
    check(mine.get("writes", 0) >= syncs, f"{comm}: {mine.get('writes')} writes for {syncs} syncs")
    check(mine.get("written_bytes", 0) >= size, f"{comm}: {mine.get('written_bytes')} bytes of {size}")


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, max(0, -(-len(values) * share // 1000) - 1))]


def read_trace(path, device):
    """Nanoseconds from issue to completion of each request in a tracefs trace."""
    line_of = re.compile(r"(\d+\.\d+): block_rq_(issue|complete): (\d+,\d+) \S+ (?:\d+ )?\(.*\) (\d+) \+ ")
    issued, times = {}, []
    with open(path, encoding="utf-8", errors="replace") as trace:
        for line in trace:
            match = line_of.search(line)
            if not match or match[3] != device:
                continue
            if match[2] == "issue":
                issued[match[4]] = float(match[1])
            elif match[4] in issued:
                times.append((float(match[1]) - issued.pop(match[4])) * 1e9)
    return times


def check_percentiles(report, folded, device, trace, number):
    """Percentiles are within 5 % of those of a trace of each request (plus its own resolution of 1 us)."""
    times = read_trace(trace, number)
    operations = [entry for entry in device_of(report, device)["operations"] if entry["operation"] == "read"]
    check(len(operations) == 1 and abs(operations[0]["requests"] - len(times)) <= len(times) / 200,
          f"{device}: {[entry['requests'] for entry in operations]} requests, {len(times)} in the trace")
    for name, share in (("p50_ns", 500), ("p95_ns", 950), ("p99_ns", 990)):
        measured, true = operations[0]["device_time"][name], percentile(times, share)
        check(abs(measured - true) <= 0.05 * true + 1500, f"{device} {name}: {measured} measured, {true:.0f} traced")


def check_unseen(report, folded, device, requests, unseen):
    """So many more were there, of whose ends it was not seen when they came: the device had none for half a second."""
    requests, unseen = int(requests), int(unseen)
    values = device_of(report, device)
    times = [operation["device_time"] for operation in values["operations"]]
    measured = sum(bucket["count"] for time in times for bucket in time["histogram"])
    missed = checks.counters(report).get("BLOCKIO_UNFINISHED", 0)
    check(values["requests"] == requests + unseen, f"{device}: {values['requests']} requests of {requests} and {unseen}")
    check(values["bytes"] == values["requests"] * 4096, f"{device}: {values['bytes']} bytes")
    check(unseen <= values["requests"] - measured <= missed, f"{device}: {measured} measured, {missed} not seen to end")
    longest = max(time["max_ns"] for time in times)
    check(longest < 5e8, f"{device}: the longest took {longest} ns")
    check(all(request["device"] != device or request["total_ns"] < 5e8 for request in report["slow_requests"]),
          f"{device}: none is slow: {report['slow_requests']}")


def check_stacked(report, folded, device, requests, lower):
    """The requests that carry out a loop device's are in the device below, and in no process."""
    requests = int(requests)
    mine = device_of(report, device)["requests"]
    check(abs(mine - requests) <= requests / 200, f"{device}: {mine} requests of {requests}")
    below = device_of(report, lower)["requests_of_other_devices"]
    check(below >= requests * 0.9, f"{lower}: {below} requests for others")
    size = requests * 4096
    for row in report["rows"]:
        if row["comm"] not in ("fio",):
            check(blockio_of(row)["read_bytes"] < size / 2, f"{row['comm']}: {blockio_of(row)['read_bytes']} bytes")


def main():
    report = checks.read_report(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8", errors="replace") as file:
        folded = file.read().splitlines()
    globals()["check_" + sys.argv[3]](report, folded, *sys.argv[4:])
    check_sound(report)


main()
