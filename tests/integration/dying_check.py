# SPDX-License-Identifier: BSD-2-Clause
"""In folded stacks of node_dying.js or python_dying.py, a function and its caller have the same number.

usage: dying_check.py STACKS.folded BEHIND_NAME UNNAMED PERCENT WRONG
BEHIND_NAME, UNNAMED: patterns of what follows a name in its frame, and of a frame without a name. PERCENT: how many stacks
with such a frame there may be for a hundred with right names. WRONG: how many may have a wrong name for a thousand.
"""
import re
import sys

import checks
import folded


def number_of(function, behind_name, frames):
    matches = (re.match(rf"{function}_(\d+){behind_name}", frame) for frame in frames)
    return next((match[1] for match in matches if match), None)


def main():
    path, behind_name, unnamed_frame, percent, most_wrong = sys.argv[1:]
    right = wrong = unnamed = 0
    for frames, count in folded.read(path):
        inner, outer = (number_of(function, behind_name, frames) for function in ("inner", "outer"))
        has_unnamed = any(re.match(unnamed_frame, frame) for frame in frames)
        # At a function's first instruction a frame pointer leads past its caller.
        unnamed += count if has_unnamed or (inner and not outer) else 0
        if inner and inner == outer:
            right += count
        elif inner and outer:
            wrong += count
            print("wrong names:", ";".join(frames), count)
    checks.check(right > 50 and wrong <= right * int(most_wrong) / 1000, f"{right} stacks of functions that died have right names, {wrong} wrong ones")
    checks.check(unnamed <= right * int(percent) / 100, f"{unnamed} stacks have functions without a name, or lack one")


main()
