#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Whether a report has of each end and peer what network_talk.py counted.

usage: network_check.py COUNTS REPORT
"""
import json
import sys

from checks import check, fail, read_report


def find(report, pid, role, peer, truth):
    for row in report["peers"]:
        if row.get("pid") != pid or row.get("role") != role:
            continue
        if peer == "unix" and row.get("name") == truth["path"]:
            return row
        if peer != "unix" and row.get("port") == truth["ports"][peer]:
            return row
    fail(f"no peer {peer} of the {role} in the report: {json.dumps(report['peers'])[:1500]}")
    return None


def percentile(values, share):
    """The value of this share with its neighbours: the rank may be off by one, but for that of the maximum."""
    values, at = sorted(values), min(len(values) - 1, int(len(values) * share))
    low = at if share == 1 else max(at - 1, 0)
    return values[low], values[at], values[min(at + 1, len(values) - 1)]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        truth = json.load(file)
    report = read_report(sys.argv[2])
    for end, peers in truth["counts"].items():
        for peer, counted in peers.items():
            row = find(report, truth["pids"][end], end, peer, truth)
            told = {"sent": row["sent_messages"], "sent_bytes": row["sent_bytes"], "received": row["received_messages"],
                    "received_bytes": row["received_bytes"], "connects": row["connects"]["count"], "accepts": row["accepted"]}
            wanted = {key: counted[key] for key in told}
            # Who uses sendfile() sees no messages.
            if peer == "file" and end == "client":
                told.pop("sent"), wanted.pop("sent")
            check(told == wanted, f"{end} and {peer}: {told}, counted {wanted}")
            if counted["response_ns"]:
                responses = counted["response_ns"]
                check(row["responses"]["count"] == len(responses), f"{len(responses)} answers timed")
                for share, key in ((0.5, "p50_ns"), (0.95, "p95_ns"), (1, "max_ns")):
                    (low, true, high), is_told = percentile(responses, share), row["responses"][key]
                    check(0.95 * low - 0.5e6 <= is_told <= 1.05 * high + 0.5e6, f"{key} {is_told}, the client saw {true}")
                waits, total = row["waits"]["total_ns"], sum(responses)
                # What it sees has in it how long it then waits for a CPU that others use, and computes.
                check(0.9 * total - 10e6 * len(responses) < waits < 1.1 * total, f"waited {waits} ns, the client saw {total}")
    for peer in ("tcp", "udp", "unix"):
        row = find(report, truth["pids"]["client"], "client", peer, truth)
        check(row.get("peer_comm", "").startswith("python"), f"the process that serves {peer}: {row.get('peer_comm')}")
    row = find(report, truth["pids"]["client"], "client", "nobody", truth)
    check([(failure["errno"], failure["count"]) for failure in row["failures"]] == [(111, 7)],
          f"7 connections were refused: {row['failures']}")
    check(report["total"]["network"]["failures"] == 7, "and nothing else failed")


main()
