# SPDX-License-Identifier: BSD-2-Clause
"""Checks which share of a program's user stacks is whole.

usage: complete.py NAME COMM_PATTERN FOLDED BOUND [--but-depth] [--table]    or    complete.py --head
"""
import re
import shutil
import struct
import sys

import checks
import folded

# Where threads begin: outermost frames that nothing calls.
ROOTS = re.compile(
    r"^(_start|__?clone3?|clone|start_thread|thread_start|runtime\.(goexit|mstart|rt0_go|mcall|systemstack|gogo)\b.*"
    r"|_rt0_amd64.*|\[ld-linux.*|_dl_start.*|__restore_rt)"
)


def is_entry(frame):
    """[rg+0x59fd1] is where the stripped program rg begins: the frame behind its ELF entry point."""
    match = re.match(r"^\[([\w.+-]+)\+0x([0-9a-f]+)\]$", frame)
    path = match and (shutil.which(match[1]) or shutil.which(match[1], path=".:/usr/sbin"))
    if not path:
        return False
    with open(path, "rb") as program:
        entry = struct.unpack("<Q", program.read(32)[24:32])[0]
    return 0 <= int(match[2], 16) - entry < 64


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    options = {a for a in sys.argv[1:] if a.startswith("--")}
    if "--head" in options:
        print("| program | user stacks | frames | whole | from a known root | what cut the others |")
        print("|---|---:|---:|---:|---:|---|")
        return
    name, pattern, path, bound = arguments
    total = whole = rooted = frame_count = 0
    reasons, strange = {}, {}
    for frames, count in folded.read(path):
        if not re.search(pattern, frames[0]):
            continue
        user = folded.user_frames(frames[1:])
        if not user:
            continue
        total += count
        frame_count += len(user) * count
        if user[0].startswith("[truncated"):
            reason = user[0][len("[truncated: ") : -1]
            if "--but-depth" in options and "deep" in reason:
                total -= count
            reasons[reason] = reasons.get(reason, 0) + count
            continue
        whole += count
        if ROOTS.match(user[0]) or is_entry(user[0]):
            rooted += count
        else:
            strange[user[0]] = strange.get(user[0], 0) + count
    if total == 0:
        checks.fail(f"{name}: no user stacks")
    said = ", ".join(f"{r} {c}" for r, c in sorted(reasons.items(), key=lambda x: -x[1]))
    odd = ", ".join(f"{r} {c}" for r, c in sorted(strange.items(), key=lambda x: -x[1])[:4])
    if "--table" in options:
        print(f"| {name} | {total} | {frame_count / total:.0f} | {100 * whole / total:.2f} % | "
              f"{100 * rooted / total:.2f} % | {said} |", flush=True)
        if odd:
            print(f"  {name}: other outermost frames: {odd}", file=sys.stderr)
        return
    print(f"  {name}: {total} user stacks, {100 * whole / total:.3f} % whole"
          + (f" ({said})" if said else "") + (f"; begin elsewhere: {odd}" if odd else ""), flush=True)
    # Of three seconds on the clock, of which a busy machine gives it little.
    if total < 30:
        checks.fail(f"{name}: only {total} user stacks")
    # Late in execve there is no stack: the old one is gone, the new one not yet there. How many those are depends on how often
    # a program is started, and a few hundred stacks cannot tell 99.5 % from 99 %.
    if total - whole - reasons.get("inside execve", 0) > max((1 - float(bound)) * total, 4):
        checks.fail(f"{name}: only {100 * whole / total:.3f} % of user stacks are whole")


main()
