# SPDX-License-Identifier: BSD-2-Clause
"""Threads that wait in different ways, and what Python's own faulthandler says of them meanwhile.

usage: python_stopped.py TRACEBACKS
"""
import faulthandler
import functools
import queue
import select
import sys
import threading
import time

ways = []
lock = threading.Lock()
items = queue.Queue()
event = threading.Event()


def way(function):
    ways.append(function)
    return function


@way
def sleeps():
    return [time.sleep(wait) for wait in (1.0,)]


@way
def waits_for_lock():
    with lock:
        pass


@way
def waits_for_item():
    def numbers():
        yield items.get()

    return list(numbers())


@way
def waits_for_event():
    return sorted([2, 1], key=lambda item: event.wait())


@way
def selects():
    return functools.reduce(lambda left, right: select.select([], [], [], 1.0), (1, 2))


def deep(function, depth=20):
    return deep(function, depth - 1) if depth else function()


def main():
    lock.acquire()
    threads = [threading.Thread(target=deep, args=(function,)) for function in ways]
    for thread in threads:
        thread.start()
    time.sleep(0.5)
    with open(sys.argv[1], "w") as file:
        faulthandler.dump_traceback(file)
    lock.release()
    items.put(None)
    event.set()
    for thread in threads:
        thread.join()


main()
