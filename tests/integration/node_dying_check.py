# SPDX-License-Identifier: BSD-2-Clause
"""In folded stacks of node_dying.js, a function and its caller have the same number.

usage: node_dying_check.py STACKS.folded
"""
import re
import sys

import checks

right = wrong = unnamed = 0
with open(sys.argv[1]) as file:
    for line in file:
        stack, weight = line.rsplit(" ", 1)
        inner = re.search(r";inner_(\d+)_\[", stack)
        outer = re.search(r";outer_(\d+)_\[", stack)
        if inner and outer and inner[1] == outer[1]:
            right += int(weight)
        elif inner and outer:
            wrong += int(weight)
            print("wrong names:", stack)
        elif inner or outer and "[unknown]" in stack:
            unnamed += int(weight)
checks.check(right > 50 and not wrong, f"{right} stacks of functions that died have right names, {wrong} wrong ones")
checks.check(unnamed <= right / 10, f"{unnamed} stacks have functions without a name")
