# SPDX-License-Identifier: BSD-2-Clause
"""In folded stacks of python_dying.py, a function and its caller have the same number.

usage: python_dying_check.py STACKS.folded
"""
import re
import sys

import checks

right = wrong = unnamed = 0
with open(sys.argv[1]) as file:
    for line in file:
        stack, weight = line.rsplit(" ", 1)
        inner = re.search(r"inner_(\d+) \(dying\.py", stack)
        outer = re.search(r"outer_(\d+) \(dying\.py", stack)
        unnamed += int(weight) if "[python]" in stack else 0
        if inner and outer and inner[1] == outer[1]:
            right += int(weight)
        elif inner:
            wrong += int(weight)
            print("wrong names:", stack)
checks.check(right > 50 and not wrong, f"{right} stacks of functions that died have right names, {wrong} wrong ones")
checks.check(unnamed <= right / 100, f"{unnamed} stacks have functions without a name")
