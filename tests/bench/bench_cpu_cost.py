#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What CPU profiling costs, next to perf doing the same on the same machine, taking turns.

usage (root): bench_cpu_cost.py PKBPF host [SECONDS [TURNS [HZ]]]   whole host, start to finished output
              bench_cpu_cost.py PKBPF target [SECONDS [TURNS [PID]]] one program without frame pointers, 999 Hz
              bench_cpu_cost.py PKBPF dwarf [SECONDS [TURNS [PID]]]  one program beside perf, which copies its stack or
                                                                     follows frame pointers, 999 Hz
              bench_cpu_cost.py PKBPF slowdown [TURNS]               how much longer fixed work takes, 99 and 999 Hz
              bench_cpu_cost.py PKBPF frames [SECONDS]               BPF time by depth of stack

host profiles whatever runs: bench_loaded.sh runs it, or any of these, while a program is under load.
perf record and perf script together print stacks; that is what "pkbpf" does, to folded. "With its report" it also accounts
for what every thread of the host uses.
"BPF s" is the time in our BPF programs, as the kernel counts it. What perf does in the kernel for each sample is counted
by nobody and therefore missing from "CPU in all"; host and target measure the sampling interrupts of both with bpftrace,
where that is installed, and slowdown sees both from the target's side.
"""
import ctypes
import json
import os
import re
import subprocess
import sys
from math import nan

import measure
from measure import Started, median, run, spread

ENOUGH = "604800"  # seconds that a target lives, unless it is stopped
MOST_SCRIPT_SECONDS = 100  # perf script can look for inlined frames for minutes; what it has printed until then counts
PR_SET_CHILD_SUBREAPER = 36


def pkbpf_once(pkbpf, folder, options, seconds, report):
    out = os.path.join(folder, "x")
    command = [pkbpf, "-v", "-e", "cpu", *options, "-d", str(seconds), "-o", out + ".folded"]
    with open(out + ".said", "w") as said:
        ended = run([*command, "-o", out + ".txt"] if report else command, stderr=said)
    header = measure.report_header(out + ".txt") if report else measure.folded_account(out + ".folded", out + ".said")
    return {"record": ended.cpu, "output": 0.0, "kernel": header["bpf"], "mib": header["mib"],
            "cpu": ended.cpu + header["bpf"], "samples": header["samples"], "whole": header["whole"], "seconds": ended.seconds - seconds,
            "bytes": os.path.getsize(out + ".folded"), "status": ended.status}


ROOTS = re.compile(r" (_start|__?clone3?|main)(\+|$)")


def perf_stacks(path):
    """Samples in what perf script has printed, and the share of those with user frames that reach a known root."""
    samples = with_user = whole = 0
    last = ""
    with open(path, errors="replace") as lines:
        for line in lines:
            if line[:1] not in ("\t", "\n", " ", "#"):
                samples += 1
            elif line == "\n":
                if last and "[kernel" not in last:
                    with_user += 1
                    whole += bool(ROOTS.search(last))
                last = ""
            else:
                last = line.split("(")[0].rstrip() + (" [kernel" if "[kernel" in line else "")
    return samples, 100 * whole / with_user if with_user else float("nan")


def adopt_orphans():
    """perf script leaves the addr2line that it asks for inlined frames behind: here it is waited for, and counted."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def orphans_cpu():
    """CPU seconds of addr2line processes that have lost their parent."""
    seconds = 0.0
    found = subprocess.run(["pgrep", "-x", "-P", str(os.getpid()), "addr2line"], capture_output=True, text=True).stdout
    for pid in found.split():
        _, _, usage = os.wait4(int(pid), 0)
        seconds += usage.ru_utime + usage.ru_stime
    return seconds


def call_graph(how):
    """The buffers that perf chooses hold 8 KiB of stack per sample without a loss, but not 64."""
    return ["--call-graph", how, *(["-m", "64M"] if how == "dwarf,65528" else [])]


def perf_record(data, options, seconds):
    started = Started(["perf", "record", "-q", *options, "-o", data, "--", "sleep", str(seconds)])
    ended, mib = watched(started)
    return {"record": ended.cpu, "mib": mib, "bytes": os.path.getsize(data), "seconds": ended.seconds - seconds}


def watched(started, most_seconds=None):
    """Waits for a process; the most memory that it was seen to use, in MiB."""
    mib = 0
    while True:
        pid, status, usage = os.wait4(started.pid, os.WNOHANG)
        if pid:
            started.process.returncode = status
            return measure.Ended(status, usage, measure.time.monotonic() - started.since), mib
        mib = max(mib, started.peak_kib() / 1024)
        if most_seconds and measure.time.monotonic() - started.since > most_seconds:
            started.process.terminate()
        measure.time.sleep(0.05)


def perf_script(data, recorded, options=()):
    text = data + ".txt"
    with open(text, "w") as out:
        ended, mib = watched(Started(["perf", "script", "-i", data, *options], stdout=out), MOST_SCRIPT_SECONDS)
    ended.cpu += orphans_cpu()
    samples, whole = perf_stacks(text)
    os.unlink(data)
    os.unlink(text)
    return {**recorded, "output": ended.cpu, "kernel": 0.0, "cpu": recorded["record"] + ended.cpu, "whole": whole,
            "mib": max(recorded["mib"], mib), "samples": samples, "seconds": recorded["seconds"] + ended.seconds,
            "status": ended.status}


def perf_once(folder, options, seconds, script_options=()):
    data = os.path.join(folder, "perf.data")
    return perf_script(data, perf_record(data, options, seconds), script_options)


def print_rows(title, results):
    print(f"\n{title}; {measure.load()}\n")
    print("| profiler | record s | output s | BPF s | CPU in all s | turns | samples | µs / sample | whole % | peak MiB | more than the interval s | "
          "interrupts s |")
    print("|---|---:|---:|---:|---:|---|---:|---:|---:|---:|---:|---:|")
    for name, runs in results.items():
        m = lambda key: median(r[key] for r in runs)
        print(f"| {name} | {m('record'):.3f} | {m('output'):.3f} | {m('kernel'):.3f} | {m('cpu'):.3f} | "
              f"{spread([r['cpu'] for r in runs])} | {m('samples'):.0f} | "
              f"{m('cpu') / max(m('samples'), 1) * 1e6:.1f} | {m('whole'):.1f} | {m('mib'):.1f} | {m('seconds'):.2f} | "
              f"{median(r.get('interrupts', nan) for r in runs):.3f} |")
    # Per sample where perf script was not let finish.
    part = lambda a, b: b["samples"] / a["samples"] if b["seconds"] > MOST_SCRIPT_SECONDS else 1
    ours = [name for name in results if name.startswith("pkbpf")]
    for our, name in ((our, name) for name in results if name not in ours for our in ours):
        turns = list(zip(results[our], results[name]))
        ratios = [a["cpu"] / b["cpu"] * part(a, b) for a, b in turns]
        print(f"\n{our} / {name}: {median(ratios):.3g} (median of {len(ratios)} turns, {spread(ratios)})", end="")
        if "interrupts" in turns[0][0]:
            both = [(a["record"] + a["interrupts"]) / (b["cpu"] + b["interrupts"]) * part(a, b) for a, b in turns]
            print(f"; with the interrupts of both {median(both):.3g} ({spread(both)})", end="")
    print(flush=True)


def host(pkbpf, seconds=60, turns=3, hertz=99):
    with measure.work_folder() as folder:
        profilers = {
            "pkbpf": lambda: pkbpf_once(pkbpf, folder, ["-F", str(hertz)], seconds, report=False),
            "pkbpf with its report": lambda: pkbpf_once(pkbpf, folder, ["-F", str(hertz)], seconds, report=True),
            "perf record -g -a + perf script": lambda: perf_once(folder, ["-g", "-a", "-F", str(hertz)], seconds)}
        results = {name: [] for name in profilers}
        for _ in range(turns):
            for name, once in profilers.items():
                with measure.SamplingTime() as interrupts:
                    result = once()
                results[name].append(dict(result, interrupts=interrupts.seconds))
        print_rows(f"whole host, {hertz} Hz, {seconds} s, {turns} turns", results)


def target(pkbpf, seconds=10, turns=3, pid=0):
    with measure.work_folder() as folder:
        program = recursion(folder)
        for depth in (0,) if pid else (12, 50):
            child = None if pid else Started([program, str(depth), ENOUGH])
            of = ["-p", str(pid or child.pid)]
            what = open(f"/proc/{pid}/comm").read().strip() if pid else f"{depth} frames deep"
            # perf script looks for inlined frames, as pkbpf does, unless told otherwise. The stack is copied up to 8 KiB
            # unless perf is told otherwise: deep ones end there.
            perfs = {"perf record -g + perf script": (["-g"], [])}
            for how in ("dwarf", "dwarf,65528") if pid else ():
                perfs[f"perf record --call-graph {how} + perf script --no-inline"] = (call_graph(how), ["--no-inline"])
            perfs["perf record --call-graph dwarf + perf script"] = (call_graph("dwarf"), [])
            ours = {"pkbpf": False, "pkbpf with its report": True}
            results = {name: [] for name in (*ours, *perfs)}
            for _ in range(turns):
                for name, report in ours.items():
                    with measure.SamplingTime() as interrupts:
                        result = pkbpf_once(pkbpf, folder, ["-F", "999", *of], seconds, report)
                    results[name].append(dict(result, interrupts=interrupts.seconds))
                for name, (record, script) in perfs.items():
                    with measure.SamplingTime() as interrupts:
                        result = perf_once(folder, [*record, "-F", "999", *of], seconds, script)
                    results[name].append(dict(result, interrupts=interrupts.seconds))
            if child:
                child.kill()
            print_rows(f"one program without frame pointers, {what}, 999 Hz, {seconds} s, {turns} turns", results)


def recursion(folder):
    return measure.build(folder, "../integration/workload/recursion.inc", "-fomit-frame-pointer",
                         "-fno-optimize-sibling-calls", "-fno-inline", "-fno-ipa-cp")


def dwarf_one(folder, pkbpf, seconds, turns, what, pids):
    """All record first: a compiler may not live until perf script has asked addr2line about all its frames."""
    of = ["-F", "999", "-p", ",".join(pids)]
    results = {"pkbpf": []}
    for _ in range(turns):
        with measure.SamplingTime() as interrupts:
            result = pkbpf_once(pkbpf, folder, of, seconds, report=False)
        results["pkbpf"].append(dict(result, interrupts=interrupts.seconds))
        recorded = {}
        for how in ("dwarf", "dwarf,65528", "fp"):
            data = os.path.join(folder, how)
            with measure.SamplingTime() as interrupts:
                recorded[how] = perf_record(data, [*call_graph(how), *of], seconds)
            recorded[how]["interrupts"] = interrupts.seconds
        for how, record in recorded.items():
            name = f"perf record --call-graph {how} + perf script"
            results.setdefault(name, []).append(perf_script(os.path.join(folder, how), record))
    print_rows(f"{what}, 999 Hz, {seconds} s, {turns} turns", results)


def dwarf(pkbpf, seconds=20, turns=1, pid=0):
    """As people type it: perf script looks for inlined frames. A server's workers, forked already, are named too."""
    with measure.work_folder() as folder:
        if pid:
            workers = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split()
            comm = open(f"/proc/{pid}/comm").read().strip()
            dwarf_one(folder, pkbpf, seconds, turns, comm, [str(pid), *workers])
            return
        for depth in (55, 129):
            child = Started([recursion(folder), str(depth), ENOUGH])
            dwarf_one(folder, pkbpf, seconds, turns, f"{depth} calls deep", [str(child.pid)])
            child.kill()


def slowdown(pkbpf, turns=9):
    with measure.work_folder() as folder:
        program = measure.build(folder, "fixed_work.inc", "-fomit-frame-pointer", "-fno-optimize-sibling-calls",
                                "-fno-inline", "-fno-ipa-cp")
        data = os.path.join(folder, "perf.data")
        watchers = {"nothing": None}
        for hertz in ("99", "999"):
            watchers[f"pkbpf {hertz} Hz"] = [pkbpf, "-q", "-e", "cpu", "-F", hertz, "-o", os.path.join(folder, "x.folded")]
            watchers[f"perf record -g -a {hertz} Hz"] = ["perf", "record", "-q", "-g", "-a", "-F", hertz, "-o", data]
        watchers["perf record --call-graph dwarf -a 999 Hz"] = [
            "perf", "record", "-q", "--call-graph", "dwarf", "-m", "8M", "-a", "-F", "999", "-o", data]
        times = {name: [] for name in watchers}
        for _ in range(turns):
            for name, command in watchers.items():
                watcher = Started(command) if command else None
                measure.time.sleep(0.4)
                said = subprocess.run([program, "50", "500"], check=True, capture_output=True, text=True)
                if watcher:
                    watcher.stop()
                times[name].append(float(said.stdout))
        print(f"\nCPU seconds of fixed work, 50 frames deep, {turns} turns; {measure.load()}\n")
        print("| watched by | median s | least s | slow-down by medians of turns | by least |")
        print("|---|---:|---:|---:|---:|")
        alone = times["nothing"]
        for name, seconds in times.items():
            by_turn = median(a / b for a, b in zip(seconds, alone)) - 1
            print(f"| {name} | {median(seconds):.4f} | {min(seconds):.4f} | {100 * by_turn:+.2f} % | "
                  f"{100 * (min(seconds) / min(alone) - 1):+.2f} % |", flush=True)


def program_time(name):
    """Nanoseconds and runs of the BPF programs of that name, since the kernel began to count for pkbpf."""
    shown = subprocess.run(["bpftool", "-j", "prog", "show"], check=True, capture_output=True, text=True)
    programs = [p for p in json.loads(shown.stdout) if p.get("name") == name]
    return sum(p.get("run_time_ns", 0) for p in programs), sum(p.get("run_cnt", 0) for p in programs)


def frames(pkbpf, seconds=5):
    with measure.work_folder() as folder:
        program = recursion(folder)
        print(f"\nBPF time by depth, 999 Hz, {seconds} s each, best of 3; {measure.load()}\n")
        print("| calls | samples | whole | BPF µs / sample | ns / frame more than at 10 |")
        print("|---:|---:|---:|---:|---:|")
        first = None
        for depth in (10, 50, 127, 500, 1000):
            best = None
            for _ in range(3):
                child = Started([program, str(depth), ENOUGH])
                measure.time.sleep(0.2)
                out = os.path.join(folder, "x.txt")
                profiler = Started([pkbpf, "-q", "-e", "cpu", "-F", "999", "-U", "-d", str(seconds), "-p", str(child.pid),
                                    "-o", out])
                measure.time.sleep(seconds - 0.5)
                spent_ns, runs = program_time("sample_cpu")
                profiler.wait()
                child.kill()
                header = measure.report_header(out)
                # Most runs of the program take a sample; the others find another process on the CPU and cost little.
                samples = header["samples"] * (seconds - 0.5) / seconds
                each = spent_ns / max(samples, 1) / 1000
                if not best or each < best[0]:
                    best = (each, header)
            first = first or best[0]
            slope = f"{(best[0] - first) * 1e3 / (depth - 10):.0f}" if depth > 10 else ""
            print(f"| {depth} | {best[1]['samples']} | {best[1]['whole']} % | {best[0]:.2f} | {slope} |", flush=True)


def main():
    kinds = {"host": host, "target": target, "dwarf": dwarf, "slowdown": slowdown, "frames": frames}
    if len(sys.argv) < 3 or sys.argv[2] not in kinds:
        sys.exit(__doc__)
    adopt_orphans()
    kinds[sys.argv[2]](os.path.realpath(sys.argv[1]), *(int(x) for x in sys.argv[3:]))


main()
