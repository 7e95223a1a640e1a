#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Holds the windows of a history against what was there before a process of serve was killed.
usage: serve_windows.py URL FILE       notes the windows that there are
       serve_windows.py URL FILE TIME  checks those noted, after a kill at this time: all there, the end told as a gap of 15 s at most before it"""
import json
import sys
import urllib.request

MOST_LOST_S = 15
# Shorter holes are not told: starts of slices differ by less.
LEAST_TOLD_S = 2


def ask(url):
    with urllib.request.urlopen(f"{url}/api/v1/windows?from=-1h", timeout=30) as answer:
        return json.load(answer)


def main():
    url, path = sys.argv[1:3]
    now = ask(url)
    if len(sys.argv) == 3:
        with open(path, "w") as file:
            json.dump(now, file)
        return
    killed = float(sys.argv[3])
    with open(path) as file:
        before = json.load(file)
    there = {tuple(window) for window in now["windows"]}
    missing = [window for window in before["windows"] if tuple(window) not in there]
    if missing:
        sys.exit(f"{len(missing)} windows are missing: {missing[:3]}")
    ends = [end for _, end in there if end <= killed + 0.1]
    if not ends:
        return
    if killed - max(ends) > MOST_LOST_S:
        sys.exit(f"{killed - max(ends):.1f} s before the kill are missing")
    after = [begin for begin, _ in there if begin > max(ends)]
    if after and min(after) - max(ends) >= LEAST_TOLD_S and not any(gap["from"] - 0.1 <= killed <= gap["to"] + 0.1 for gap in now["gaps"]):
        sys.exit(f"the gap at {killed} is not told: {now['gaps']}")


main()
