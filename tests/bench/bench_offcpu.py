#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What off-CPU tracers cost at the highest switch rate: CPU time per switch of a ping-pong, with and without each.

usage: bench_offcpu.py PKBPF BENCH_PINGPONG [ROUNDS [MODE [DEPTH [RATE]]]]     as root

Rounds are interleaved: each tracer's window lies between two without one, and the ratio is to their mean. Medians over
rounds. Tracers that are not installed, or do not work here, are left out.
"""
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

WARM_UP, WINDOW, REST = 2.5, 1.2, 0.7


class PingPong:
    def __init__(self, program, mode, depth, rate):
        self.samples = []
        self.process = subprocess.Popen([program, mode, "1", depth, rate], stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self.read, daemon=True).start()
        time.sleep(0.3)
        children = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True).stdout
        self.pids = ",".join([str(self.process.pid), *children.split()])

    def read(self):
        for line in self.process.stdout:
            rate, cpu_ns = line.split()
            self.samples.append((time.time(), float(rate), float(cpu_ns)))

    def window(self, seconds):
        begin = time.time() + 0.15
        time.sleep(seconds)
        return statistics.median(s[2] for s in self.samples if s[0] > begin)


def tracers(pkbpf, pids, work):
    every = ["--max-overhead", "none"]
    yield "pkbpf -p", [pkbpf, "-q", "-e", "offcpu", "-p", pids, "-o", work + "/a.folded"]
    yield "pkbpf -p, every stack", [pkbpf, "-q", "-e", "offcpu", *every, "-p", pids, "-o", work + "/a.folded"]
    yield "pkbpf -p, locks", [pkbpf, "-q", "-e", "offcpu,locks", "-p", pids, "-o", work + "/a.folded"]
    yield "pkbpf, host", [pkbpf, "-q", "-e", "offcpu", "-o", work + "/b.folded"]
    yield "pkbpf, host, every stack", [pkbpf, "-q", "-e", "offcpu", *every, "-o", work + "/b.folded"]
    yield "offcputime -p", ["offcputime", "-p", pids.split(",", maxsplit=1)[0], "600"]
    yield "offcputime, host", ["offcputime", "600"]
    yield "perf --off-cpu", ["perf", "record", "-q", "--off-cpu", "-a", "-g", "-o", work + "/perf.data"]
    yield "perf sched", ["perf", "sched", "record", "-q", "-a", "-o", work + "/sched.data"]


def stop(process):
    """As Ctrl-C would; a shell that ran this in the background may have made it deaf to that."""
    process.send_signal(signal.SIGINT)
    try:
        return process.communicate(timeout=3)
    except subprocess.TimeoutExpired:
        process.terminate()
        return process.communicate()


def starts(command):
    """Does it run for a second, without leaving out what it was asked for?"""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    running = process.poll() is None
    return "is being ignored" not in stop(process)[1] and running


def main():
    if len(sys.argv) < 3 or os.geteuid() != 0:
        sys.exit(__doc__)
    pkbpf, program = sys.argv[1:3]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 7
    mode, depth, rate = (sys.argv[4:7] + ["pipe", "4", "0"][len(sys.argv[4:7]) :])
    pair = PingPong(program, mode, depth, rate)
    results, bases = {}, []
    with tempfile.TemporaryDirectory() as work:
        chosen = []
        for name, command in tracers(pkbpf, pair.pids, work):
            if shutil.which(command[0]) and starts(command):
                chosen.append((name, command))
        for _ in range(rounds):
            for name, command in chosen:
                before = pair.window(REST)
                process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(WARM_UP)
                during = pair.window(WINDOW)
                stop(process)
                time.sleep(0.2)
                base = (before + pair.window(REST)) / 2
                bases.append(base)
                results.setdefault(name, []).append((during - base, during / base - 1))
    pair.process.kill()
    rates = statistics.median(s[1] for s in pair.samples)
    print(f"{mode}, depth {depth}: {statistics.median(bases):.0f} ns CPU per switch, {rates:.0f} switches/s (all windows)")
    for name, values in results.items():
        print(
            f"  {name:24} {statistics.median(v[0] for v in values):+6.0f} ns {100 * statistics.median(v[1] for v in values):+5.0f} %"
            f"   ({' '.join(f'{100 * v[1]:.0f}' for v in values)})"
        )


main()
