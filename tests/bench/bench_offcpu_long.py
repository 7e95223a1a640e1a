#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A minute at the highest switch rate: what is lost, how memory grows, whether the total is right, how long the end takes.

usage: bench_offcpu_long.py PKBPF BENCH_PINGPONG [SECONDS [PERCENT|none]]     as root; the last for --max-overhead, default none
"""
import os
import re
import signal
import subprocess
import sys
import time

import measure


def resident_kib(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as lines:
        return int(re.search(r"VmRSS:\s+(\d+)", lines.read())[1])


def cpu_seconds(pids):
    """On-CPU time of both by the kernel's account."""
    total = 0
    for pid in pids:
        with open(f"/proc/{pid}/schedstat", encoding="utf-8") as text:
            total += int(text.read().split()[0])
    return total / 1e9


def main():
    if len(sys.argv) < 3 or os.geteuid() != 0:
        sys.exit(__doc__)
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 60
    pair = subprocess.Popen([sys.argv[2], "pipe", "1", "4", "0"], stdout=subprocess.DEVNULL)
    time.sleep(0.3)
    child = subprocess.run(["pgrep", "-P", str(pair.pid)], capture_output=True, text=True, check=True).stdout.split()[0]
    pids = [str(pair.pid), child]
    with measure.work_folder() as work:
        folded, report = work + "/a.folded", work + "/a.txt"
        limit = ["--max-overhead", sys.argv[4] if len(sys.argv) > 4 else "none"]
        command = [sys.argv[1], "-q", "-e", "offcpu", *limit, "-p", ",".join(pids), "-o", folded, "-o", report]
        tracer = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        memory = []
        time.sleep(3)
        cpu, since = cpu_seconds(pids), time.monotonic()
        for _ in range(int(seconds)):
            memory.append(resident_kib(tracer.pid))
            time.sleep(1)
        begin = time.monotonic()
        share = (cpu_seconds(pids) - cpu) / (begin - since)
        tracer.send_signal(signal.SIGINT)
        status = tracer.wait()
        took = time.monotonic() - begin
        pair.kill()
        with open(folded, encoding="utf-8") as lines:
            listed = sum(int(line.rsplit(" ", 1)[1]) for line in lines) / 1e6
        with open(report, encoding="utf-8") as lines:
            text = " ".join(lines.read().split())
    interval = float(re.search(r"interval: ([\d.]+) s", text)[1])
    true = interval * (2 - share)
    print(f"status {status}; stop to finished output {took * 1000:.0f} ms; {measure.load()}")
    print(f"memory {memory[0] / 1024:.1f} MiB after 3 s, {max(memory) / 1024:.1f} at most, {memory[-1] / 1024:.1f} at the end")
    print(f"off the CPU {listed:.3f} s by the stacks, {true:.3f} s by the kernel's account: {100 * listed / true - 100:+.2f} %")
    for what in ("recorded: [^:]*?waits", "lost: .*?(?= \\w+: )", "notes: .*?(?:own cost|overhead)"):
        found = re.search(what, text)
        print(found[0] if found else f"no line {what.split(':', maxsplit=1)[0]!r}")


main()
