# SPDX-License-Identifier: BSD-2-Clause
"""Programs in Python with a leak, and healthy ones, as in programs.cpp: programs.py NAME SECONDS"""
import sys
import time

kept = []
table = {}


def leak_py_buffers(_):
    kept.append(bytes(4000))


def leak_py_registry(tick):
    table[f"request {tick}"] = bytearray(3000)


def leak_py_closures(_):
    held = "x" * 5000 + str(time.monotonic())
    kept.append(lambda: held)


# With PYTHONMALLOC=malloc each of the small objects is seen.
def leak_py_objects(tick):
    kept.append([(tick, i, str(tick * 1000 + i)) for i in range(30)])


def py_batches(tick):
    kept.append(bytes(10000))
    if tick % 300 == 299:
        kept.clear()


def py_cache(tick):
    table[tick % 1500] = bytes(3000)


PROGRAMS = [leak_py_buffers, leak_py_registry, leak_py_closures, leak_py_objects, py_batches, py_cache]

if __name__ == "__main__":
    run = next(program for program in PROGRAMS if program.__name__ in (sys.argv[1], "leak_" + sys.argv[1]))
    begin, ticks = time.monotonic(), int(sys.argv[2]) * 50
    for number in range(ticks):
        run(number)
        time.sleep(max(0, begin + number / 50 - time.monotonic()))
