# SPDX-License-Identifier: BSD-2-Clause
"""Marks regions of a Python program for `pkbpf --regions`. No dependency: as a file of its own,
pkbpf.py, it needs nothing else of this package.

    import pkbpf

    with pkbpf.region("step"):
        with pkbpf.region("load", items=32):        # items per second, too
            ...

    @pkbpf.region("predict")                        # each call; of a generator, from the first value
    def predict(x): ...                             # that is asked for to the end

    @pkbpf.region                                   # the same, with the name of the function
    def predict(x): ...

    async with pkbpf.region("handler"):             # may wait for others of its loop
        ...

    pkbpf.items(n)                                  # more items of the innermost region

Once, at the start of a program that wants them:

    pkbpf.gc_regions()                              # runs of the garbage collector: "gc generation 2"
    pkbpf.import_regions()                          # modules that are imported later: "import json"
    pkbpf.thread_names()                            # copies Python's thread names to the kernel

A region is two calls of sys.audit(), which returns at once unless somebody has installed an audit
hook; pkbpf puts probes on it from outside. While nobody looks, a region costs about a tenth of a
microsecond. Nothing is written, opened or logged.

Names are cut at 63 bytes of UTF-8. Regions of a thread nest, up to 32 deep. `with` around an
`await`, or around a `yield`, is left out of order: such regions keep their wall time, but not what
it consists of; `async with` is meant for them. Seen in CPython 3.8 and newer; elsewhere regions do
nothing.
"""
from __future__ import annotations

import contextvars
import functools
import gc
import importlib
import inspect
import sys
import threading
from typing import Any, Callable, TypeVar, overload

_Function = TypeVar("_Function", bound=Callable[..., Any])

__all__ = ["gc_regions", "import_regions", "items", "region", "thread_names"]

if sys.implementation.name == "cpython" and hasattr(sys, "audit"):
    _audit = sys.audit
else:

    def _audit(event, *arguments):
        """Nobody could see it."""


_frame = getattr(sys, "_getframe", lambda depth: None)

# What this context has open with `async with`: (its region, key there, what was open before), or None.
_open = contextvars.ContextVar("pkbpf", default=None)


class _Region:
    """A region for `with`, `async with` and as a decorator. Any number of threads may use it at once,
    and all regions of one name are the same."""

    # Special methods are looked up in the class, where these slots hand out what the region holds:
    # calls of sys.audit() without any Python code in between.
    __slots__ = ("__enter__", "__exit__", "_text", "_marks")

    def __init__(self, name, items):
        # Name, NUL, number of items: bytes lie at a known place in their object.
        text = str(name).encode("utf-8", "replace").replace(b"\0", b"?")[:63]
        text = text.decode("utf-8", "ignore").encode()  # no half character at the end
        text += b"\0%d" % items if items else b"\0"
        self._text = text
        self.__enter__ = functools.partial(_audit, "pkbpf.enter", text)
        self.__exit__ = functools.partial(_audit, "pkbpf.leave", text)
        # What `async with` has open, by the frame in which it stands: asynchronous generators may
        # be closed by another task, in another context, than that which began them.
        self._marks = {}

    async def __aenter__(self):
        mark = bytes(bytearray(self._text))  # an object, and so a number, of its own
        key = id(_frame(1))
        self._marks.setdefault(key, []).append(mark)
        _open.set((self, key, _still_open(_open.get())))
        _audit("pkbpf.begin", mark)

    async def __aexit__(self, *exception):
        mark = self._take(id(_frame(1)))
        if mark is None:  # entered elsewhere, as by an AsyncExitStack
            entry = _still_open(_open.get())
            while entry and entry[0] is not self:
                entry = _still_open(entry[2])
            mark = self._take(entry[1]) if entry else None
        if mark is not None:
            _audit("pkbpf.done", mark)

    def _take(self, key):
        marks = self._marks.get(key)
        if not marks:
            return None
        mark = marks.pop()
        if not marks:
            self._marks.pop(key, None)
        return mark

    def __call__(self, function: _Function) -> _Function:
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def marked(*arguments, **named):
                async with self:
                    return await function(*arguments, **named)

        elif inspect.isasyncgenfunction(function):

            @functools.wraps(function)
            async def marked(*arguments, **named):
                async with self:
                    inner = function(*arguments, **named)
                    step = inner.__anext__()
                    while True:
                        try:
                            value = await step
                        except StopAsyncIteration:
                            return
                        try:
                            sent = yield value
                        except GeneratorExit:
                            await inner.aclose()
                            raise
                        except BaseException as error:
                            step = inner.athrow(error)
                        else:
                            step = inner.asend(sent)

        elif inspect.isgeneratorfunction(function):
            # From the first value asked for to the end; others run in between.
            @functools.wraps(function)
            def marked(*arguments, **named):
                mark = bytes(bytearray(self._text))
                _audit("pkbpf.begin", mark)
                try:
                    return (yield from function(*arguments, **named))
                finally:
                    _audit("pkbpf.done", mark)

        else:

            @functools.wraps(function)
            def marked(*arguments, **named):
                with self:
                    return function(*arguments, **named)

        return marked


def _still_open(entry):
    """What ended in another context stays behind in this one."""
    while entry and entry[1] not in entry[0]._marks:
        entry = entry[2]
    return entry


@overload
def region(name: _Function) -> _Function: ...
@overload
def region(name: object, items: int = 0) -> _Region: ...
@functools.lru_cache(maxsize=1024)
def region(name, items=0):
    """A region of this name; items: what it works on, for items per second. Of a function: the
    function, each call of which is a region of its name."""
    if inspect.isroutine(name):
        return _Region(name.__qualname__, items)(name)
    return _Region(name, items)


def items(count: int) -> None:
    """Adds to the items of the innermost region that this thread has open with `with`."""
    _audit("pkbpf.items", b"\0%d" % count)


def _mark_collection(phase, info):
    collection = region(f"gc generation {info['generation']}")
    if phase == "start":
        collection.__enter__()
    else:
        collection.__exit__()


def gc_regions() -> None:
    """Each run of the garbage collector becomes a region."""
    callbacks = getattr(gc, "callbacks", None)
    if callbacks is not None and _mark_collection not in callbacks:
        callbacks.append(_mark_collection)


def import_regions() -> None:
    """Each module that is loaded from now on becomes a region, with those that it imports inside."""
    bootstrap = getattr(importlib, "_bootstrap", None)
    load = getattr(bootstrap, "_find_and_load", None)
    if load is None or getattr(load, "is_marked", False):
        return

    def marked(name, *arguments):
        with region("import " + name):
            return load(name, *arguments)

    marked.is_marked = True
    bootstrap._find_and_load = marked


def _name_thread(thread):
    """The kernel keeps 15 bytes: of longer names the beginning and the end, which often is a number."""
    text = thread.name.encode("utf-8", "replace")
    if len(text) > 15:
        text = text[:8] + b"~" + text[-6:]
        text = text.decode("utf-8", "ignore").encode()  # no half characters
    try:
        with open(f"/proc/self/task/{thread.native_id}/comm", "wb", buffering=0) as file:
            file.write(text)
    except OSError:
        pass  # the thread has exited


def thread_names() -> None:
    """Copies names of threading.Thread to the kernel, as CPython 3.14 does itself; the main thread
    keeps the program's name."""
    begin = getattr(threading.Thread, "_bootstrap_inner", None)
    if begin is None or sys.version_info >= (3, 14) or getattr(begin, "is_named", False):
        return
    if not hasattr(threading.Thread, "_set_native_id"):
        return
    for thread in threading.enumerate():
        if thread is not threading.main_thread() and thread.native_id:
            _name_thread(thread)

    def named(self):
        # Its native_id is set later, with its other attributes.
        self._set_native_id()
        _name_thread(self)
        begin(self)

    named.is_named = True
    threading.Thread._bootstrap_inner = named
