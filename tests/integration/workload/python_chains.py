# SPDX-License-Identifier: BSD-2-Clause
"""Known chains of Python functions, each called for as long as the first argument says, in seconds."""
import functools
import sys
import threading
import time


def burn():
    total = 0
    for i in range(20000):
        total += i * i
    return total


def outer_function():
    def inner_function():
        burn()
    inner_function()


def numbers():
    for _ in range(3):
        burn()
        yield 1


def generator_user():
    return sum(numbers())


def sort_key(value):
    burn()
    return value


def sorting():
    sorted([3, 1, 2], key=sort_key)


def descend(depth):
    if depth:
        descend(depth - 1)
    else:
        burn()


class Counter:
    @property
    def value(self):
        return burn()

    def read_property(self):
        return self.value


def sleeping_first():
    time.sleep(0.004)


def sleeping_second():
    time.sleep(0.004)


def in_thread(end):
    while time.monotonic() < end:
        sleeping_first()
        sleeping_second()


def main():
    end = time.monotonic() + float(sys.argv[1])
    thread = threading.Thread(target=in_thread, args=(end,))
    thread.start()
    counter = Counter()
    while time.monotonic() < end:
        outer_function()
        generator_user()
        sorting()
        descend(10)
        counter.read_property()
        functools.reduce(lambda a, b: burn(), [1, 2, 3])
    thread.join()


main()
