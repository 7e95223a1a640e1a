# SPDX-License-Identifier: BSD-2-Clause
# -*- coding: utf-8 -*-
"""Ways in which Python functions come to run, each over and over for some seconds of CPU time.

usage: python_scenarios.py SECONDS CHAINS.json

Each scenario ends in a function of its own, whose callers the program asks the interpreter for: CHAINS.json says, for the
name of each last function, the lines on which it burns and its callers from the outermost, as [function, file, line].
Versions before 3.11 have no qualified names, and neither has the file then. Runs on 3.8 and newer.
"""
import asyncio
import contextlib
import ctypes
import functools
import importlib
import json
import os
import re
import sys
import tempfile
import threading
import time

BURN = 0.004
clock = time.thread_time
expected = {}


def name_of(code):
    return getattr(code, "co_qualname", code.co_name)


def line_of(text):
    with open(__file__, encoding="utf-8") as file:
        return next(number for number, line in enumerate(file, 1) if line.strip().startswith(text))


CALL_LINE = line_of("getattr(interpreters, ")


def note_chain(name):
    frame = sys._getframe(1)
    lines = sorted({line for line in range(frame.f_code.co_firstlineno, frame.f_code.co_firstlineno + 8)})
    chain = []
    frame = frame.f_back
    while frame:
        chain.append([name_of(frame.f_code), os.path.basename(frame.f_code.co_filename), frame.f_lineno])
        frame = frame.f_back
    chains = expected.setdefault(name, {"lines": lines, "chains": []})["chains"]
    if chain[::-1] not in chains:
        chains.append(chain[::-1])


def burner(name):
    """A function of this name that burns, and notes who called it."""
    def burn(*ignored):
        note_chain(name)
        end = clock() + BURN
        while clock() < end:
            pass
        return 1
    renamed = {"co_name": name}
    if hasattr(burn.__code__, "co_qualname"):
        renamed["co_qualname"] = name
    burn.__code__ = burn.__code__.replace(**renamed)
    return burn


scenarios = []


def scenario(function):
    scenarios.append(functools.partial(function, burner("burn_" + function.__name__)))
    return function


@scenario
def recursion(burn, depth=30):
    if depth:
        return recursion(burn, depth - 1)
    return burn()


@scenario
def generator_in_python(burn):
    def numbers():
        yield burn()
    for _ in numbers():
        pass


@scenario
def generator_in_c(burn):
    def numbers():
        yield burn()
    return sum(numbers())


@scenario
def yield_from(burn):
    def inner():
        yield burn()

    def outer():
        yield from inner()
    return list(outer())


@scenario
def sorted_key(burn):
    return sorted([1], key=burn)


@scenario
def list_sort(burn):
    [1].sort(key=lambda value: burn())


@scenario
def reduce(burn):
    return functools.reduce(lambda left, right: burn(), [1, 2])


@scenario
def partial(burn):
    def with_argument(argument):
        return burn()
    return functools.partial(with_argument, 1)()


@scenario
def re_sub(burn):
    def replace(match):
        burn()
        return "b"
    return re.sub("a", replace, "a")


COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
libc = ctypes.CDLL(None)


@scenario
def ctypes_qsort(burn):
    def compare(left, right):
        burn()
        return 0
    values = (ctypes.c_int * 2)(2, 1)
    libc.qsort(values, 2, ctypes.sizeof(ctypes.c_int), COMPARE(compare))


@scenario
def properties(burn):
    class Thing:
        @property
        def value(self):
            return burn()
    return Thing().value


@scenario
def getattr_method(burn):
    class Thing:
        def __getattr__(self, name):
            return burn()
    return Thing().anything


@scenario
def less_than(burn):
    class Thing:
        def __lt__(self, other):
            burn()
            return False
    return Thing() < Thing()


@scenario
def call_method(burn):
    class Thing:
        def __call__(self):
            return burn()
    return Thing()()


@scenario
def constructor(burn):
    class Thing:
        def __init__(self):
            self.value = burn()
    return Thing()


@scenario
def next_method(burn):
    class Thing:
        def __iter__(self):
            return self

        def __next__(self):
            burn()
            raise StopIteration
    return list(Thing())


@scenario
def map_lambda(burn):
    return list(map(lambda value: burn(), [1]))


@scenario
def comprehension(burn):
    return [burn() for _ in range(2)]


@scenario
def lru_cache(burn):
    @functools.lru_cache(maxsize=1)
    def cached(argument):
        return burn()
    return cached(1)


@scenario
def run_asyncio(burn):
    async def inner():
        await asyncio.sleep(0)
        return burn()

    async def outer():
        return await inner()
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(outer())
    finally:
        loop.close()


@scenario
def exec_text(burn):
    exec("def in_text():\n    burn()\nin_text()\n", {"burn": burn})


@scenario
def fresh_module(burn):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "fresh_module_text.py"), "w") as file:
            file.write("import __main__\ndef in_module():\n    __main__.fresh_burn()\nin_module()\n")
        globals()["fresh_burn"] = burn
        sys.modules["__main__"].fresh_burn = burn
        sys.path.insert(0, folder)
        importlib.invalidate_caches()
        try:
            importlib.import_module("fresh_module_text")
        finally:
            sys.path.remove(folder)
            sys.modules.pop("fresh_module_text", None)


@scenario
def names_of_all_widths(burn):
    def größe():
        return burn()

    def размер():
        return größe()

    def 大小():
        return размер()
    wide = 大小
    exec("def \U00020000(f):\n    return f()\n", globals())
    return globals()["\U00020000"](wide)


@scenario
def thread(burn):
    def in_thread():
        burn()
    other = threading.Thread(target=in_thread)
    other.start()
    other.join()


@scenario
def exceptions(burn):
    def raises():
        raise ValueError
    try:
        raises()
    except ValueError:
        burn()


@scenario
def context_managers(burn):
    @contextlib.contextmanager
    def managed():
        yield burn()
        burn()
    with managed():
        pass


@scenario
def finalizer(burn):
    class Thing:
        def __del__(self):
            burn()
    thing = Thing()
    del thing


@scenario
def decorated(burn):
    def decorator(function):
        @functools.wraps(function)
        def wrapper(*arguments):
            return function(*arguments)
        return wrapper

    @decorator
    def inner():
        return burn()
    return inner()


IN_INTERPRETER = """
import time
def burn_in_interpreter():
    end = time.thread_time() + 0.004
    while time.thread_time() < end:
        pass
def in_interpreter():
    burn_in_interpreter()
in_interpreter()
"""


@functools.lru_cache(maxsize=1)
def interpreter():
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters
    return interpreters, interpreters.create()


@scenario
def sub_interpreter(burn):
    """Frames of two interpreters on one stack: each knows only its own."""
    interpreters, number = interpreter()
    name = "burn_in_interpreter"
    if name not in expected:
        note_chain(name)
        file = "<script>" if sys.version_info >= (3, 14) else "<string>"
        expected[name]["lines"] = [4, 5, 6]
        expected[name]["chains"][0] += [["sub_interpreter", os.path.basename(__file__), CALL_LINE], ["<module>", file, 9],
                                        ["in_interpreter", file, 8]]
    getattr(interpreters, "run_string", getattr(interpreters, "exec", None))(number, IN_INTERPRETER)


@scenario
def long_function(burn):
    lines = ["def long_function_text(burn):", "    x = 0"] + ["    x += %d" % i for i in range(2000)] + ["    burn()"]
    space = {}
    exec(compile("\n".join(lines), "long_text.py", "exec"), space)
    space["long_function_text"](burn)


def main():
    while time.process_time() < float(sys.argv[1]):
        for each in scenarios:
            each()
    with open(sys.argv[2] + ".new", "w") as file:
        json.dump(expected, file)
    os.rename(sys.argv[2] + ".new", sys.argv[2])


if __name__ == "__main__":
    main()
