# SPDX-License-Identifier: BSD-2-Clause
"""Profiles a script: `pkbpf --regions -- python script.py`, by the installed program.

usage: python -m pkbpf [OPTION... --] SCRIPT.py [ARGUMENT...]
       python -m pkbpf [OPTION... --] -m MODULE [ARGUMENT...]

Options are those of pkbpf: python -m pkbpf -o x.html -- train.py --epochs 1
"""
from __future__ import annotations

import os
import sys

from .profiling import Error, command


def words(arguments: list[str]) -> list[str]:
    """The command that the arguments mean. ValueError: they name no script."""
    options: list[str] = []
    if arguments and arguments[0].startswith("-") and arguments[0] != "-m":
        if "--" not in arguments:
            raise ValueError("options of pkbpf end with --, before the script")
        at = arguments.index("--")
        options, arguments = arguments[:at], arguments[at + 1 :]
    if not arguments or arguments == ["-m"]:
        raise ValueError("no script")
    return [*command(), "--regions", *options, "--", sys.executable, *arguments]


def main() -> int:
    arguments = sys.argv[1:]
    if arguments in (["-h"], ["--help"]):
        print(__doc__.split("\n\n", 1)[1].strip())
        return 0
    try:
        started = words(arguments)
    except ValueError as error:
        print(f"python -m pkbpf: {error}; see python -m pkbpf --help", file=sys.stderr)
        return 2
    except Error as error:
        print(f"python -m pkbpf: {error}", file=sys.stderr)
        return 1
    os.execvp(started[0], started)


if __name__ == "__main__":
    sys.exit(main())
