#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: python_calls_subject.py [--cprofile FILE | --lines FILE] [PROGRAM...]

Ten programs with calls of every kind, always the same number. --cprofile: cProfile's own counts, of all threads and processes.
--lines: how often each line ran, by sys.settrace(). Functions whose names begin with an underscore belong to neither program.
"""
import _thread
import asyncio
import cProfile
import dataclasses
import functools
import json
import marshal
import multiprocessing
import os
import pstats
import sys
import threading

TRUTH = sys.argv[2] if sys.argv[1:2] == ["--cprofile"] else None
# One tool for all threads since 3.12.
IS_GLOBAL = sys.version_info >= (3, 12)
_lock = threading.Lock()
_profiles = []


def _profiled(function, *arguments):
    """Calls it with a profile of its own, in a thread that has none."""
    if not TRUTH or IS_GLOBAL:
        return function(*arguments)
    profile = cProfile.Profile()
    with _lock:
        _profiles.append(profile)
    return profile.runcall(function, *arguments)


# ---- programs ----

def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def is_even(n):
    return n == 0 or is_odd(n - 1)


def is_odd(n):
    return n != 0 and is_even(n - 1)


def deep(n):
    return 1 + deep(n - 1) if n else 0


def recursion():
    fib(16)
    is_even(61)
    deep(700)


def numbers(n):
    for i in range(n):
        yield i


def chained(n):
    yield from numbers(n)
    yield from numbers(n)


def echo():
    value = None
    while True:
        try:
            value = yield value
        except ValueError:
            value = "error"


def generators():
    sum(chained(50))
    list(zip(numbers(7), numbers(9)))
    talk = echo()
    next(talk)
    for i in range(5):
        talk.send(i)
    talk.throw(ValueError())
    talk.close()
    for value in numbers(100):  # left open
        if value == 3:
            break


def raises(n):
    if n == 0:
        raise KeyError("bottom")
    try:
        raises(n - 1)
    finally:
        len("x")


def in_c():
    for text in ("1", "x", "3", "y"):
        try:
            int(text)
        except ValueError:
            pass


def exceptions():
    for depth in range(8):
        try:
            raises(depth)
        except KeyError:
            pass
    in_c()
    try:
        sorted([1, 2, 3], key=lambda value: value / 0)
    except ZeroDivisionError:
        pass


def thread_work(n):
    return sum(fib(3) for _ in range(n))


def raw_work(done):
    thread_work(11)
    done.release()


def _in_thread(*arguments):
    _profiled(*arguments)


def _start_threads():
    all_threads = [threading.Thread(target=_in_thread, args=(thread_work, n)) for n in range(20)]
    for thread in all_threads:
        thread.start()
    for thread in all_threads:
        thread.join()
    done = _thread.allocate_lock()
    done.acquire()
    _thread.start_new_thread(_in_thread, (raw_work, done))
    done.acquire()


def threads():
    _start_threads()


async def answer(n):
    await asyncio.sleep(0)
    return fib(n)


async def ask_all():
    return sum(await asyncio.gather(*(answer(n) for n in range(10))))


def coroutines():
    asyncio.run(ask_all())


def key_of(value):
    return -value


def builtins():
    values = []
    for i in range(100):
        values.append(i)
        len(values)
        str(i).upper().encode()
    sorted(values, key=key_of)
    list(map(key_of, values))
    max(values, default=0)
    functools.reduce(lambda a, b: a + b, values)
    {"a": 1}.get("a")
    getattr(values, "pop")()


def lambdas():
    double = lambda x: 2 * x
    triple = lambda x: 3 * x
    for i in range(30):
        double(triple(i))
    double(1)


def comprehensions():
    [fib(2) for _ in range(10)]
    {i: key_of(i) for i in range(11)}
    {key_of(i) for i in range(12)}
    sum(key_of(i) for i in range(13))
    [
        [key_of(j) for j in range(i)]
        for i in range(5)
    ]


class Meta(type):
    def __call__(cls, *arguments):
        return super().__call__(*arguments)


class Base(metaclass=Meta):
    def __init__(self, x):
        self.x = x

    @property
    def twice(self):
        return 2 * self.x

    @staticmethod
    def static():
        return 1

    @classmethod
    def of(cls, x):
        return cls(x)

    def __getattr__(self, name):
        return len(name)

    def __eq__(self, other):
        return self.x == other.x

    def __hash__(self):
        return self.x


class Derived(Base):
    def __init__(self, x):
        super().__init__(x)


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


def classes():
    for i in range(20):
        one = Derived.of(i)
        one.twice + one.missing + one.static()
        one == Base(i)
        {one: 1}
        repr(Point(i))
    json.dumps([{"a": i} for i in range(20)], indent=1)


def process_work(n):
    return fib(n)


def _child(n):
    inherited = _profiles[0]
    _profiles.clear()
    if IS_GLOBAL and TRUTH:  # it goes on in the child, with what it has counted in its parent
        inherited.disable()
        inherited.clear()
        inherited.runcall(process_work, n)
        _profiles.append(inherited)
    else:
        _profiled(process_work, n)
    if TRUTH:
        _save(f"{TRUTH}.{n}")


def _start_processes():
    context = multiprocessing.get_context("fork")
    children = [context.Process(target=_child, args=(n,)) for n in range(4, 8)]
    for child in children:
        child.start()
    for child in children:
        child.join()


def processes():
    _start_processes()


PROGRAMS = (recursion, generators, exceptions, threads, coroutines, builtins, lambdas, comprehensions, classes, processes)


# ---- truth ----

def _save(path):
    total = None
    for profile in _profiles:
        total = total.add(profile) if total else pstats.Stats(profile)
    with open(path, "wb") as file:
        marshal.dump(total.stats if total else {}, file)


def _traced(path, chosen):
    hits = {}

    def _on_event(frame, event, _argument):
        if event == "line":
            key = f"{frame.f_code.co_name}:{frame.f_lineno}"
            hits[key] = hits.get(key, 0) + 1
        return _on_event

    sys.settrace(_on_event)
    for program in chosen:
        program()
    sys.settrace(None)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(hits, file)


def _main():
    names = sys.argv[3:] if sys.argv[1:2] in (["--cprofile"], ["--lines"]) else sys.argv[1:]
    chosen = PROGRAMS
    if names:
        chosen = [program for program in PROGRAMS if program.__name__ in names]
    if sys.argv[1:2] == ["--lines"]:
        _traced(sys.argv[2], chosen)
        return
    profile = cProfile.Profile()
    _profiles.append(profile)
    for program in chosen:
        if TRUTH:
            profile.runcall(program)
        else:
            program()
    if TRUTH:
        _save(TRUTH)


if __name__ == "__main__":
    _main()
