#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""How soon a profiler sees its first sample and how soon after the stop its output is finished, profiler by profiler.

usage (root): bench_latency.py PKBPF [TURNS]

The target runs in functions named after the time (slots.inc), so the profile itself says when its first sample was.
"Started" is the moment before the profiler is executed, "stopped" the moment of SIGINT, "finished" its exit, for perf
the exit of the perf script that follows. Everything is at 999 Hz, so that the next sample is never far.
With PKBPF_BENCH_REALTIME set the profilers, not their target, run in the real-time class: for a busy machine.
"""
import os
import re
import shutil
import subprocess
import sys
import time

import measure
from measure import Started, median, spread

SLOT_MS = 2
SLOTS = 1024


def slot_now():
    return int(time.monotonic() * 1000 / SLOT_MS) % SLOTS


def first_slot_ms(text, started, whole_only):
    """Milliseconds from `started` to the first slot in the profile; None: no sample."""
    first = None
    for line in text.splitlines():
        found = re.findall(r"slot_([0-9a-f]{3})\b", line)
        if not found or (whole_only and ("[truncated" in line or ";main;" not in line)):
            continue
        after = (int(found[-1], 16) - started) % SLOTS
        # Clocks are cut to slots, which may put a sample before the start.
        after = 0 if after >= SLOTS - 2 else after
        first = after if first is None else min(first, after)
    return first * SLOT_MS if first is not None else None


def once(start, finish, output, run_s, whole_only=False):
    """start: the profiler's command; finish: a command that follows its end, or None; output: the file of stacks"""
    before_slot, out = slot_now(), open(output + ".stdout", "w")
    profiler = Started(start, stdout=out, realtime=True)
    time.sleep(run_s)
    stopped = time.monotonic()
    status = profiler.stop().status
    if start[0] != "perf" and status != 0:
        print(f"ended with {status}: {' '.join(start)}", file=sys.stderr)
    if finish:
        with open(output, "w") as text:
            measure.run(finish, stdout=text, realtime=True)
    finished = time.monotonic()
    path = output if os.path.exists(output) else output + ".stdout"
    with open(path, errors="replace") as text:
        first = first_slot_ms(text.read(), before_slot, whole_only)
    for name in (output, output + ".stdout"):
        if os.path.exists(name):
            os.unlink(name)
    return first, (finished - stopped) * 1000


def profilers(pkbpf, folder, pid):
    """name: (command, command that finishes, file, seconds to run: all slots but a few fit in)"""
    x = os.path.join(folder, "x")
    of = ["-p", str(pid)] if pid else []
    result = {
        "pkbpf to folded": ([pkbpf, "-q", "-e", "cpu", "-F", "999", *of, "-o", x + ".folded"], None, x + ".folded", 1.2),
        "pkbpf to report and folded": ([pkbpf, "-q", "-e", "cpu", "-F", "999", *of, "-o", x + ".txt", "-o", x + ".folded"],
                                       None, x + ".folded", 1.2),
        "perf record -g, perf script": (["perf", "record", "-q", "-g", "-F", "999", *(of or ["-a"]), "-o", x + ".data"],
                                        ["perf", "script", "-i", x + ".data"], x + ".txt2", 1.2),
    }
    libbpf_profile = shutil.which("profile", path="/usr/sbin:/usr/share/bcc/libbpf-tools:/usr/local/bin")
    if libbpf_profile:
        result["libbpf-tools profile"] = ([libbpf_profile, "-F", "999", "-f", *of], None, x + ".none", 1.2)
    return result


def compare(pkbpf, turns, title, program, whole_host):
    with measure.work_folder() as folder:
        flags = ["-fno-omit-frame-pointer"] if program == "slots" else \
            ["-DSLOTS_BELOW_LLVM", "-l:" + os.path.basename(LLVM), "-L" + os.path.dirname(LLVM)]
        target = Started([measure.build(folder, "slots.inc", *flags)])
        time.sleep(0.3)
        results = {}
        for _ in range(turns):
            for name, (start, finish, output, run_s) in profilers(pkbpf, folder, 0 if whole_host else target.pid).items():
                if program != "slots" and not name.startswith("pkbpf"):
                    continue
                results.setdefault(name, []).append(once(start, finish, output, run_s, program != "slots"))
        target.kill()
        print(f"\n{title}; {turns} turns; {measure.load()}\n")
        print("| profiler | start to first sample ms | turns | stop to finished output ms | turns |")
        print("|---|---:|---|---:|---|")
        for name, pairs in results.items():
            firsts = [f for f, _ in pairs if f is not None]
            stops = [s for _, s in pairs]
            print(f"| {name} | {median(firsts):.0f} | {spread(firsts)} | {median(stops):.0f} | {spread(stops)} |", flush=True)


LLVM = next((path for path in ("/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1", "/usr/lib/llvm-14/lib/libLLVM-14.so.1")
             if os.path.exists(path)), None)


def mapped(pkbpf, turns):
    """While pkbpf watches it, a program loads libLLVM: from there to the first whole stack through its code."""
    with measure.work_folder() as folder:
        program = measure.build(folder, "slots.inc", "-DSLOTS_BELOW_LLVM", f'-DSLOTS_DLOPEN="{LLVM}"')
        out = os.path.join(folder, "x.folded")
        runs_from, first_from_load, first_from_run = [], [], []
        for _ in range(turns):
            target = Started([program], stdout=subprocess.PIPE)
            profiler = Started([pkbpf, "-q", "-e", "cpu", "-F", "999", "-p", str(target.pid), "-o", out], realtime=True)
            loaded, runs = (int(target.process.stdout.readline(), 16) for _ in range(2))
            time.sleep(1.2)
            profiler.stop()
            target.kill()
            with open(out, errors="replace") as text:
                text = text.read()
            runs_from.append((runs - loaded) % SLOTS * SLOT_MS)
            first_from_load.append(first_slot_ms(text, loaded, True))
            first_from_run.append(first_slot_ms(text, runs, True))
        print(f"\nlibLLVM loaded while watched, first whole stack through its code; {turns} turns; {measure.load()}\n")
        print("| from | to | ms | turns |\n|---|---|---:|---|")
        for start, end, values in (("dlopen() called", "its code runs", runs_from),
                                   ("dlopen() called", "first whole stack", first_from_load),
                                   ("its code runs", "first whole stack", first_from_run)):
            print(f"| {start} | {end} | {median(values):.0f} | {spread(values)} |", flush=True)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    pkbpf, turns = os.path.realpath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 9
    compare(pkbpf, turns, "one process", "slots", False)
    compare(pkbpf, turns, "whole host", "slots", True)
    if LLVM:
        compare(pkbpf, turns, "one process below frames of libLLVM, first whole stack", "llvm", False)
        mapped(pkbpf, turns)


main()
