# SPDX-License-Identifier: BSD-2-Clause
"""Memory of the calling process at one time, and what has changed between two.

    before = pkbpf.snapshot()
    work()
    after = pkbpf.snapshot()
    print(after)                                    # RSS, peak, heap, what the allocator holds free
    print(after - before)                           # growth; by place while tracemalloc is on

Needs no rights and no program: it reads /proc/self and asks glibc's malloc.
"""
from __future__ import annotations

import ctypes
import sys
import tracemalloc
from dataclasses import dataclass, field, fields

__all__ = ["Growth", "Snapshot", "snapshot"]

_PLACES_SHOWN = 10


class _Mallinfo2(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")
    ]


def _bytes(count: int, sign: str = "") -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if abs(count) >= size:
            return f"{count / size:{sign}.1f} {unit}"
    return f"{count:{sign}} B"


@dataclass(frozen=True)
class Snapshot:
    """Bytes, but for python_blocks. None: not known, as of an allocator other than glibc's."""

    rss: int  # resident
    peak_rss: int  # since the start of the process
    private: int  # resident and of this process alone
    swap: int
    heap_used: int | None  # allocated by malloc and not freed
    heap_free: int | None  # freed, and still held by the allocator
    python_blocks: int | None  # allocated by CPython's own allocator
    places: dict[str, tuple[int, int]] | None = field(repr=False)  # "file:line": bytes, blocks; by tracemalloc

    @property
    def fragmentation(self) -> float | None:
        """The part of the heap that is held but free, 0 to 1."""
        if self.heap_used is None or self.heap_free is None:
            return None
        return self.heap_free / (self.heap_used + self.heap_free) if self.heap_used + self.heap_free else 0.0

    def __sub__(self, before: Snapshot) -> Growth:
        return Growth(before, self)

    def __str__(self) -> str:
        text = f"RSS {_bytes(self.rss)}, peak {_bytes(self.peak_rss)}, private {_bytes(self.private)}, swap {_bytes(self.swap)}"
        if self.heap_used is not None and self.heap_free is not None:
            text += f"; heap {_bytes(self.heap_used)}, free but held {_bytes(self.heap_free)} ({100 * (self.fragmentation or 0):.1f} %)"
        return text


@dataclass(frozen=True)
class Growth:
    """What has changed from one snapshot to another."""

    before: Snapshot
    after: Snapshot

    def __getattr__(self, name: str) -> int | None:
        if name == "places" or name not in {known.name for known in fields(Snapshot)}:
            raise AttributeError(name)
        old, new = getattr(self.before, name), getattr(self.after, name)
        return None if old is None or new is None else new - old

    @property
    def places(self) -> list[tuple[str, int, int]]:
        """Place, bytes and blocks, the largest change first; empty without tracemalloc."""
        old, new = self.before.places or {}, self.after.places or {}
        changes = []
        for place in {*old, *new} if self.before.places is not None and self.after.places is not None else ():
            (old_bytes, old_blocks), (new_bytes, new_blocks) = old.get(place, (0, 0)), new.get(place, (0, 0))
            if new_bytes != old_bytes:
                changes.append((place, new_bytes - old_bytes, new_blocks - old_blocks))
        return sorted(changes, key=lambda change: (-abs(change[1]), change[0]))

    def __str__(self) -> str:
        parts = []
        for name, label in (("rss", "RSS"), ("private", "private"), ("heap_used", "heap"), ("heap_free", "free but held")):
            change = getattr(self, name)
            if change is not None:
                parts.append(f"{label} {_bytes(change, '+')}")
        places = self.places
        lines = [f"{_bytes(size, '+'):>12}  {blocks:+8,} blocks  {place}" for place, size, blocks in places[:_PLACES_SHOWN]]
        if len(places) > _PLACES_SHOWN:
            lines.append(f"... and {len(places) - _PLACES_SHOWN} more places")
        return "\n".join([", ".join(parts), *lines])


def _proc(path: str) -> dict[str, int]:
    """Lines "Name:  123 kB", in bytes."""
    values = {}
    with open(path, encoding="ascii", errors="replace") as file:
        for line in file:
            words = line.split()
            if len(words) == 3 and words[2] == "kB":
                values[words[0].rstrip(":")] = int(words[1]) * 1024
    return values


_mallinfo2 = getattr(ctypes.CDLL(None), "mallinfo2", None)  # glibc 2.33 and newer
if _mallinfo2 is not None:
    _mallinfo2.restype = _Mallinfo2


def _heap() -> tuple[int | None, int | None]:
    if _mallinfo2 is None:
        return None, None
    info = _mallinfo2()
    return info.uordblks + info.hblkhd, info.fordblks


def _places() -> dict[str, tuple[int, int]] | None:
    if not tracemalloc.is_tracing():
        return None
    places = {}
    others = tracemalloc.take_snapshot().filter_traces(
        [tracemalloc.Filter(False, own) for own in (__file__, tracemalloc.__file__)]
    )
    for statistic in others.statistics("lineno"):
        frame = statistic.traceback[0]
        places[f"{frame.filename}:{frame.lineno}"] = (statistic.size, statistic.count)
    return places


def snapshot() -> Snapshot:
    """Memory of this process now. With tracemalloc.start() before, also by place of allocation."""
    places = _places()
    status = _proc("/proc/self/status")
    rollup = _proc("/proc/self/smaps_rollup")
    used, free = _heap()
    blocks = getattr(sys, "getallocatedblocks", None)
    return Snapshot(
        rss=rollup.get("Rss", status.get("VmRSS", 0)),
        peak_rss=max(status.get("VmHWM", 0), rollup.get("Rss", 0)),
        private=rollup.get("Private_Clean", 0) + rollup.get("Private_Dirty", 0),
        swap=status.get("VmSwap", 0),
        heap_used=used,
        heap_free=free,
        python_blocks=blocks() if blocks else None,
        places=places,
    )
