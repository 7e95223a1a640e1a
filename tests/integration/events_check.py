# SPDX-License-Identifier: BSD-2-Clause
"""Single events as text, read as scripts for `perf script` read it: the same stacks as the folded ones.
usage: events_check.py EVENTS FOLDED"""
import collections
import re
import sys

from checks import check

HEAD = re.compile(r"(\S.*?)\s+(\d+)/(\d+)\s+(\d+\.\d+):\s+(\d+)\s+(\S+):")
FRAME = re.compile(r"\s*(\w+)\s(.+) \((.*)\)")

events, stacks, times, strange = collections.Counter(), collections.Counter(), [], []
for block in open(sys.argv[1], encoding="utf-8").read().split("\n\n"):
    lines = [line for line in block.split("\n") if line and not line.startswith("#")]
    if not lines:
        continue
    head, frames = HEAD.fullmatch(lines[0]), [FRAME.fullmatch(line) for line in lines[1:]]
    if not head or not all(frames):
        strange.append(lines)
        continue
    kind = head[6]
    events[kind] += 1
    times.append(float(head[4]))
    if kind == "cpu":
        stacks[";".join([head[1], *(frame[2] for frame in reversed(frames))])] += int(head[5])
check(not strange, f"{len(strange)} events are none for a reader: {strange[:1]}")
check(sum(count for kind, count in events.items() if kind.startswith("offcpu-")) > 0, f"waits: {dict(events)}")
folded = collections.Counter()
for line in open(sys.argv[2], encoding="utf-8"):
    stack, weight = line.rstrip("\n").rsplit(" ", 1)
    folded[re.sub(r"_\[[kijpw]\](?=;|$)", "", stack)] += int(weight)
check(stacks == folded and folded, f"{sum(stacks.values())} samples in {len(stacks)} stacks, folded {sum(folded.values())} in {len(folded)}: {list((stacks - folded).items())[:2]} {list((folded - stacks).items())[:2]}")
check(min(times) >= 0 and max(times) < 600, f"times from {min(times)} to {max(times)} s")
