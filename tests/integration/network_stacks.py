#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Whether stacks end in the peer that they are about, and add up: messages to all bytes, waits for the slow server to what the
client saw.

usage: network_stacks.py COUNTS REPORT NETWORK_FOLDED OFFCPU_FOLDED
"""
import json
import sys

from checks import check, read_report


def read_folded(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.rsplit(" ", 1) for line in file]
    return [(stack.split(";"), int(number)) for stack, number in lines]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        truth = json.load(file)
    report = read_report(sys.argv[2])
    total = report["total"]["network"]
    messages, waits = read_folded(sys.argv[3]), read_folded(sys.argv[4])
    slow = f"[tcp 127.0.0.1:{truth['ports']['slow']}"
    told = sum(number for _, number in messages)
    check(told == total["sent_bytes"] + total["received_bytes"], f"stacks of messages have {told} bytes, the report {total}")
    check(any(stack[-1].startswith(slow) for stack, _ in messages), f"no message ends in {slow}")
    waited_us = sum(number for stack, number in waits if stack[-1].startswith(slow))
    seen_us = sum(truth["counts"]["client"]["slow"]["response_ns"]) / 1000
    # Beside other work a thread waits for a CPU as well, before it reads the clock.
    check(0.5 * seen_us < waited_us < 1.5 * seen_us, f"waits that end in {slow}: {waited_us} us, the client saw {seen_us:.0f}")
    # The account of waits and that of peers measure the same sleeps, each with its own clock reading; a stack also has what
    # passes on the run queue after the wake-up. Who is preempted between that and the message has a wait without a peer.
    peers_us = sum(peer["waits"]["total_ns"] for peer in report["peers"] if peer["peer"].startswith(slow[1:])) / 1000
    queued_us = sum(row["waiting"]["runqueue_ns"] for row in report["rows"] if row.get("pid") == truth["pids"]["client"]) / 1000
    slack_us = 0.01 * peers_us + 20000
    check(-slack_us <= waited_us - peers_us <= queued_us + slack_us,
          f"waits that end in {slow}: {waited_us} us of the threads, {peers_us:.0f} of the peer, {queued_us:.0f} on the run queue")
    check(all(any("recv" in frame for frame in stack) for stack, _ in waits if stack[-1].startswith(slow)),
          "and they are waits in recv()")


main()
