# SPDX-License-Identifier: BSD-2-Clause
"""Profiles the calling process by the installed program pkbpf.

    with pkbpf.profile() as p:                      # until the end of the block
        work()
    p = pkbpf.profile(duration=5)                   # of the other threads, for five seconds

    p.findings                                      # what limits the process, the worst first
    p.functions, p.lines, p.regions, p.threads      # tables: a dictionary for each row
    p.to_pandas("functions")                        # one of them as a DataFrame
    p.save("x.html")                                # any output of `pkbpf report`, by its suffix
    print(p)                                        # the report as text
    p = pkbpf.load("app.pkbpf")                     # the same of a recording, without rights

The program needs root, or the capabilities that `pkbpf doctor` names. The environment variable PKBPF
is its command when it is not in PATH, or needs another one in front: PKBPF="sudo -n pkbpf".
"""
from __future__ import annotations

import csv
import html
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import weakref
from typing import Any, Sequence

__all__ = ["Error", "Profile", "load", "profile"]

_START_SECONDS = 120  # loading its BPF programs takes seconds where all CPUs are busy
_NOTHING_RECORDED = 4  # its exit status


class Error(RuntimeError):
    """Profiling failed; the text has the reason and the remedy."""


def command(program: str | None = None) -> list[str]:
    """The words of the command that is pkbpf."""
    words = shlex.split(program or os.environ.get("PKBPF") or "pkbpf")
    if not words or not shutil.which(words[0]):
        raise Error(
            f"cannot find the program {words[0] if words else 'pkbpf'}: install pkbpf, or set the environment "
            "variable PKBPF to its path"
        )
    return words


_TEXTS = {"kind", "function", "module", "file", "region", "comm", "container", "name"}
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")


def _value(column: str, text: str) -> Any:
    # Functions are called nan and inf, programs 7.
    if column in _TEXTS or column.startswith("hottest.") or not _NUMBER.fullmatch(text):
        return text or None
    return float(text) if "." in text else int(text)


def _remove(folder: str, pid: int) -> None:
    if os.getpid() == pid:  # and not of a forked child that exits
        shutil.rmtree(folder, ignore_errors=True)


class Profile:
    """A profile of this process, or a recording. Tables are read when they are asked for first, and kept."""

    def __init__(self, options: Sequence[str], program: str | None, recording: str | None = None):
        self._command = command(program)
        self._options = list(options)
        self._folder = tempfile.mkdtemp(prefix="pkbpf-")
        weakref.finalize(self, _remove, self._folder, os.getpid())
        self._recording = recording or os.path.join(self._folder, "profile.pkbpf")
        self._messages = os.path.join(self._folder, "messages")
        self._process: subprocess.Popen[bytes] | None = None
        self._tables: dict[str, list[dict[str, Any]]] = {}
        self._report: dict[str, Any] | None = None

    # ---- recording ----

    def _said(self) -> str:
        lines = pathlib.Path(self._messages).read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(lines[-3:])

    def _start(self, options: Sequence[str]) -> None:
        with open(self._messages, "wb") as messages:
            # A session of its own: Ctrl-C in a terminal is for the program that is profiled.
            self._process = subprocess.Popen(
                [*self._command, "-v", "--pid", str(os.getpid()), "-o", self._recording, *self._options, *options],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=messages,
                start_new_session=True,
            )

    def _await_start(self) -> None:
        end = time.monotonic() + _START_SECONDS
        assert self._process
        while b"profiling since" not in pathlib.Path(self._messages).read_bytes():
            if self._process.poll() is not None:
                raise Error(f"pkbpf exited with status {self._process.returncode}: {self._said()}")
            if time.monotonic() > end:
                raise Error(f"pkbpf has not begun within {_START_SECONDS} s: {self._said()}")
            time.sleep(0.01)

    def _stop(self) -> None:
        assert self._process
        try:
            self._process.send_signal(signal.SIGTERM)  # jobs in the background ignore SIGINT
        except PermissionError:  # it is sudo, which hands the signal on
            subprocess.run(["sudo", "-n", "kill", "-TERM", str(self._process.pid)], check=True)

    def _finish(self) -> None:
        assert self._process
        status = self._process.wait()
        if status not in (0, _NOTHING_RECORDED) or not os.path.exists(self._recording):
            raise Error(f"pkbpf exited with status {status}: {self._said()}")

    def run(self, seconds: float) -> Profile:
        """Profiles this process for so long; returns itself."""
        self._start(["--duration", f"{seconds:g}"])
        try:
            self._finish()
        except KeyboardInterrupt:  # it is in a session of its own, and would go on
            self._stop()
            raise
        return self

    def __enter__(self) -> Profile:
        self._start([])
        try:
            self._await_start()
        except BaseException:  # Ctrl-C, too: nothing goes on profiling
            self._stop()
            raise
        return self

    def __exit__(self, kind: object, *exception: object) -> None:
        try:
            self._stop()
            self._finish()
        except (Error, subprocess.CalledProcessError):
            if kind is None:  # else the program's own exception is the one to see
                raise

    # ---- figures ----

    def save(self, path: str | os.PathLike[str], *options: str) -> None:
        """Writes an output: its suffix is its format, as of `pkbpf report -o`, which takes the options."""
        if not os.path.exists(self._recording):
            raise Error("there is no profile yet: it ends with its `with` block")
        result = subprocess.run(
            [*self._command, "report", "-q", self._recording, "-o", os.fspath(path), *options],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if result.returncode:
            raise Error(f"cannot write {os.fspath(path)}: {result.stderr.decode(errors='replace').strip()}")

    def _table(self, suffix: str, *options: str) -> list[dict[str, Any]]:
        name = suffix + " ".join(options)
        if name not in self._tables:
            path = os.path.join(self._folder, "table" + suffix)
            self.save(path, *options)
            with open(path, newline="", encoding="utf-8") as file:
                rows = csv.DictReader(file)
                self._tables[name] = [{key: _value(key, value) for key, value in row.items()} for row in rows]
        return self._tables[name]

    @property
    def report(self) -> dict[str, Any]:
        """All figures: the JSON report."""
        if self._report is None:
            path = os.path.join(self._folder, "report.json")
            self.save(path)
            with open(path, encoding="utf-8") as file:
                self._report = json.load(file)
        assert self._report is not None
        return self._report

    @property
    def findings(self) -> list[dict[str, Any]]:
        """What limits the process: "text", "cause", "evidence", "next", "cost_percent" of each."""
        return self.report["findings"]

    @property
    def functions(self) -> list[dict[str, Any]]:
        """Functions of each kind of event, with the weight of themselves and of those they call."""
        return self._table(".functions.csv")

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Source lines of each kind of event."""
        return self._table(".lines.csv")

    @property
    def regions(self) -> list[dict[str, Any]]:
        """Regions as a tree: "parent" is the "id" of the enclosing one, None of the outermost."""
        return self._table(".regions.csv")

    @property
    def threads(self) -> list[dict[str, Any]]:
        """Threads with their CPU time, waits, I/O and faults."""
        return self._table(".csv", "--by", "thread")

    def to_pandas(self, table: str = "functions") -> Any:
        """A table as a DataFrame: functions, lines, regions, threads or findings."""
        if table not in ("functions", "lines", "regions", "threads", "findings"):
            raise ValueError(f"no table {table!r}: expected functions, lines, regions, threads or findings")
        try:
            import pandas
        except ImportError as error:
            raise Error("to_pandas() needs pandas, which is not installed") from error
        return pandas.DataFrame(getattr(self, table))

    def __str__(self) -> str:
        path = os.path.join(self._folder, "report.txt")
        self.save(path)
        return pathlib.Path(path).read_text(encoding="utf-8")

    def _repr_html_(self) -> str:
        """For notebooks: the flame graph of CPU time, where there is one, above the report."""
        folder = tempfile.mkdtemp(dir=self._folder)
        self.save(os.path.join(folder, "graph.svg"))
        graphs = sorted(os.listdir(folder), key=lambda name: (".cpu." not in name and name != "graph.svg", name))
        frames = ""
        if graphs:
            graph = pathlib.Path(folder, graphs[0]).read_text(encoding="utf-8")
            frames = (
                f'<iframe sandbox="allow-scripts" srcdoc="{html.escape(graph)}" width="100%" height="500" '
                'style="border:0"></iframe>'
            )
        return f"{frames}<pre>{html.escape(str(self))}</pre>"


def profile(
    duration: float | None = None,
    *,
    options: Sequence[str] = (),
    regions: bool = True,
    program: str | None = None,
) -> Profile:
    """Profiles the calling process, all its threads.

    duration: seconds; returns the profile after them. Without it: to be used by `with`.
    options: more of the options of pkbpf, such as ["-e", "cpu,offcpu", "--frequency", "999"].
    regions: has the times of marked regions, too.
    program: the command; default: the environment variable PKBPF, or pkbpf.
    Raises Error with the reason: no program, no rights, a kernel without what it needs.
    """
    taken = Profile(["--per-thread", *(["--regions"] if regions else []), *options], program)
    return taken if duration is None else taken.run(duration)


def load(recording: str | os.PathLike[str], *, program: str | None = None) -> Profile:
    """A recording (`pkbpf -o app.pkbpf`) as a profile. It needs the program, but no rights."""
    path = os.path.abspath(os.fspath(recording))
    if not os.path.exists(path):
        raise Error(f"cannot read {path}: no such file")
    return Profile([], program, path)
