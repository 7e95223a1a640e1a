# SPDX-License-Identifier: BSD-2-Clause
"""Functions with a number in their names that are made, run for a moment and dropped, so that the next ones take their
places in memory.

usage: python_dying.py SECONDS (of CPU time)
"""
import sys
import time

TEXT = """
def inner_{0}():
    end = clock() + 0.001
    while clock() < end:
        pass
def outer_{0}():
    inner_{0}()
outer_{0}()
"""


def main():
    number = 0
    while time.process_time() < float(sys.argv[1]):
        exec(compile(TEXT.format(number), "dying.py", "exec"), {"clock": time.thread_time})
        number += 1


main()
