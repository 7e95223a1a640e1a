# SPDX-License-Identifier: BSD-2-Clause
"""Waits in Python functions, with the time of each by the program's own clocks.

usage: python_waits.py SECONDS TIMES.json

TIMES.json: for each function the seconds it has waited (its time without the CPU time of its thread), and the innermost
Python function in which it waits.
"""
import asyncio
import json
import os
import queue
import select
import sys
import threading
import time

WAIT = 0.02
ours, theirs = os.pipe()
lock = threading.Lock()
items = queue.Queue()
waited = {}
innermost = {}


def measured(inner):
    def decorate(function):
        def measure(*arguments):
            start, start_cpu = time.perf_counter(), time.thread_time()
            function(*arguments)
            spent = time.perf_counter() - start - (time.thread_time() - start_cpu)
            waited[function.__name__] = waited.get(function.__name__, 0) + spent
        innermost[function.__name__] = inner or function.__name__
        return measure
    return decorate


@measured(None)
def wait_sleep():
    time.sleep(WAIT)


@measured(None)
def wait_lock():
    lock.acquire()


@measured("wait")
def wait_queue():
    items.get()


@measured(None)
def wait_select():
    select.select([], [], [], WAIT)


@measured(None)
def wait_pipe():
    os.read(ours, 1)


async def sleeping():
    await asyncio.sleep(WAIT)


@measured("select")
def wait_asyncio(loop):
    loop.run_until_complete(sleeping())


@measured(None)
def wait_gil():
    end = time.thread_time() + 0.002
    while time.thread_time() < end:
        pass


def feed(turns):
    """Lets go what the other thread waits for, a while after it has begun to."""
    for turn in iter(turns.get, None):
        time.sleep(WAIT)
        turn()


def hold(stop):
    while not stop.is_set():
        for _ in range(1000):
            pass


def main():
    turns, stop = queue.Queue(), threading.Event()
    loop = asyncio.new_event_loop()
    feeder = threading.Thread(target=feed, args=(turns,))
    feeder.start()
    lock.acquire()
    end = time.monotonic() + float(sys.argv[1])
    while time.monotonic() < end:
        wait_sleep()
        wait_select()
        wait_asyncio(loop)
        turns.put(lambda: os.write(theirs, b"x"))
        wait_pipe()
        turns.put(lambda: items.put(1))
        wait_queue()
        turns.put(lock.release)
        wait_lock()
    turns.put(None)
    feeder.join()
    loop.close()
    holder = threading.Thread(target=hold, args=(stop,))
    holder.start()
    end = time.monotonic() + float(sys.argv[1]) / 3
    while time.monotonic() < end:
        wait_gil()
    stop.set()
    holder.join()
    with open(sys.argv[2], "w") as file:
        json.dump({"waited": waited, "innermost": innermost}, file)


main()
