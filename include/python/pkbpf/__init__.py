# SPDX-License-Identifier: BSD-2-Clause
"""Marks regions of a Python program for `pkbpf --regions`, and profiles it from inside.

    import pkbpf

    with pkbpf.region("step", items=32):            # marks; see pkbpf.regions
        ...

    with pkbpf.profile() as p:                      # profiles this process; see pkbpf.profiling
        work()
    print(p.findings, p.functions[0], p.regions)
    p.save("x.html")

    before = pkbpf.snapshot()                       # memory of this process; see pkbpf.memory
    work()
    print(pkbpf.snapshot() - before)

`python -m pkbpf script.py` profiles a script, `%load_ext pkbpf` has `%pkbpf` and `%%pkbpf` for Jupyter.
"""
import importlib
import typing

from .regions import gc_regions, import_regions, items, region, thread_names

if typing.TYPE_CHECKING:
    from .memory import Growth as Growth, Snapshot as Snapshot, snapshot as snapshot
    from .notebook import load_ipython_extension as load_ipython_extension
    from .profiling import Error as Error, Profile as Profile, load as load, profile as profile

__version__ = "0.1.0"
__all__ = [
    "Error",
    "Growth",
    "Profile",
    "Snapshot",
    "gc_regions",
    "import_regions",
    "items",
    "load",
    "load_ipython_extension",
    "profile",
    "region",
    "snapshot",
    "thread_names",
]

# Loaded with their first use: a program that only marks regions starts as fast as ever.
_LATER = {
    "Error": "profiling",
    "Growth": "memory",
    "Profile": "profiling",
    "Snapshot": "memory",
    "load": "profiling",
    "load_ipython_extension": "notebook",
    "profile": "profiling",
    "snapshot": "memory",
}


def __getattr__(name):
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_LATER[name]}", __name__), name)
