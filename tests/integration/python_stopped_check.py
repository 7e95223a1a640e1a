# SPDX-License-Identifier: BSD-2-Clause
"""The stacks of waits have the frames that faulthandler says, one by one, with their lines.

usage: python_stopped_check.py STACKS.folded TRACEBACKS
"""
import re
import sys

import checks
import folded


def tracebacks(path):
    """Of each thread, outermost first: (function, file, line)."""
    threads = []
    with open(path) as lines:
        for text in lines:
            if text.startswith(("Thread ", "Current thread ")):
                threads.append([])
            found = re.match(r'  File "(?:.*/)?([^/"]+)", line (\d+) in (.*)', text)
            if found:
                threads[-1].insert(0, (found[3].rsplit(".", 1)[-1], found[1], int(found[2])))
    return threads


def chain(frames):
    found = [re.fullmatch(r"(.*) \((.*):(\d+)\)_\[p\]", frame) for frame in frames]
    return [(m[1].rsplit(".", 1)[-1], m[2], int(m[3])) for m in found if m]


stacks = [chain(frames) for frames, _ in folded.read(sys.argv[1])]
known = tracebacks(sys.argv[2])
waiting = [thread for thread in known if any(name == "deep" for name, _, _ in thread)]
checks.check(len(waiting) == 5, f"{len(waiting)} threads wait")
for thread in waiting:
    name = next((name for name, _, _ in thread if name in (
        "sleeps", "waits_for_lock", "waits_for_item", "waits_for_event", "selects")), "?")
    same = thread in stacks
    checks.check(same, f"{name}: {len(thread)} frames as faulthandler has them")
    if not same:
        print("  faulthandler:", thread)
        for stack in stacks:
            if any(function == name for function, _, _ in stack):
                print("  here:        ", stack)
