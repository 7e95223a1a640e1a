# SPDX-License-Identifier: BSD-2-Clause
"""`%load_ext pkbpf` in Jupyter and IPython: profiles a statement or a cell.

    %pkbpf work()
    %%pkbpf -e cpu --frequency 999
    work()

The profile is shown with its flame graph. After that it is the variable `_pkbpf`.
"""
from __future__ import annotations

import shlex
from typing import Any

from .profiling import Profile, profile

__all__ = ["load_ipython_extension"]


def load_ipython_extension(shell: Any) -> None:
    """Called by `%load_ext pkbpf`."""

    def pkbpf(line: str, cell: str | None = None) -> Profile:
        options, code = (shlex.split(line), cell) if cell is not None else ([], line)
        with profile(options=options) as taken:
            result = shell.run_cell(code)
        shell.push({"_pkbpf": taken})
        if getattr(result, "error_in_exec", None) is None and getattr(result, "error_before_exec", None) is None:
            return taken
        return None  # the shell has shown the exception

    shell.register_magic_function(pkbpf, magic_kind="line_cell", magic_name="pkbpf")
