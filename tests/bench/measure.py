# SPDX-License-Identifier: BSD-2-Clause
"""Runs profilers for the benchmarks and says what they cost: CPU seconds, memory, time."""
import os
import re
import signal
import statistics
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))


class Ended:
    """What a process has used, its finished children included."""

    def __init__(self, status, usage, seconds):
        self.status, self.seconds = status, seconds
        self.user, self.system = usage.ru_utime, usage.ru_stime
        self.cpu = usage.ru_utime + usage.ru_stime


class Started:
    def __init__(self, command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, realtime=False, **options):
        # On a machine that others use: not to wait for them.
        if realtime and os.environ.get("PKBPF_BENCH_REALTIME"):
            command = ["chrt", "-r", "5", *command]
        self.since = time.monotonic()
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, **options
        )
        self.pid = self.process.pid

    def peak_kib(self):
        try:
            with open(f"/proc/{self.pid}/status") as lines:
                found = re.search(r"VmHWM:\s+(\d+)", lines.read())
        except OSError:
            return 0
        return int(found[1]) if found else 0

    def wait(self):
        _, status, usage = os.wait4(self.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return Ended(self.process.returncode, usage, time.monotonic() - self.since)

    def stop(self):
        os.kill(self.pid, signal.SIGINT)  # not send_signal(), which reaps
        return self.wait()

    def kill(self):
        self.process.kill()
        self.process.wait()


def run(command, **options):
    return Started(command, **options).wait()


def build(folder, source, *flags):
    """Compiles an .inc of this folder the way distributions do: without frame pointers unless flags say so."""
    name = os.path.join(folder, re.sub(r"\W", "_", source + "".join(flags[:1])))
    compiler = ["gcc", "-x", "c", "-O2", os.path.join(HERE, source), "-x", "none", *flags, "-o", name]
    built = subprocess.run(compiler, capture_output=True, text=True)
    if built.returncode:
        raise SystemExit(" ".join(compiler) + "\n" + built.stderr[:2000])
    return name


def median(values):
    values = list(values)
    return statistics.median(values) if values else float("nan")


def spread(values):
    values = sorted(values)
    return f"{values[0]:.3g}..{values[-1]:.3g}" if values else "-"


def report_header(path):
    """The first lines of a report: what pkbpf says about itself."""
    with open(path, encoding="utf-8") as lines:
        text = " ".join(line.strip() for line in lines.read().split("\n\n")[0].splitlines())
    number = {"ms": 1e-3, "s": 1.0, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
    found = {}
    # Also as older versions wrote it ("own cost"): they are measured in turns with this one.
    match = re.search(r"(?:own cost:\s+|CPU time )([\d.]+) (\S+) (?:CPU|\+ BPF)", text)
    found["cpu"] = float(match[1]) * number[match[2]] if match else float("nan")
    match = re.search(r"(?:BPF programs|CPU time .*? \+ BPF) ([\d.]+) (\w+)", text)
    found["bpf"] = float(match[1]) * number[match[2]] if match else float("nan")
    match = re.search(r"peak RSS ([\d.]+) MiB|([\d.]+) MiB resident", text)
    found["mib"] = float(match[1] or match[2]) if match else float("nan")
    match = re.search(r"recorded ([\d,]+)", text)
    found["samples"] = int(match[1].replace(",", "")) if match else 0
    match = re.search(r"stacks:\s+>?([\d.]+)%", text)
    found["whole"] = float(match[1]) if match else float("nan")
    return found


def folded_account(folded, said):
    """The same of a run that makes no report: from its stacks, and what pkbpf -v has said."""
    with open(said, encoding="utf-8") as lines:
        text = lines.read()
    cost = re.search(r"(?:own cost|overhead:) ([\d.]+) ms CPU(?: time)?, BPF programs ([\d.]+) ms, (?:peak RSS )?([\d.]+) MiB", text)
    samples = cut = 0
    with open(folded, encoding="utf-8") as lines:
        for line in lines:
            stack, count = line.rsplit(" ", 1)
            samples += int(count)
            cut += int(count) if "[truncated:" in stack else 0
    return {"cpu": float(cost[1]) / 1e3, "bpf": float(cost[2]) / 1e3, "mib": float(cost[3]), "samples": samples,
            "whole": 100 * (1 - cut / max(samples, 1))}


# Timers of cpu-clock perf events, whoever opened them; their interrupts take the samples.
SAMPLING_TIMERS = """
tracepoint:timer:hrtimer_expire_entry /args->function == kaddr("perf_swevent_hrtimer")/ { @since[cpu] = nsecs; }
tracepoint:timer:hrtimer_expire_exit /@since[cpu]/ { @spent = @spent + (nsecs - @since[cpu]); delete(@since[cpu]); }
"""


class SamplingTime:
    """Seconds that the interrupts of cpu-clock sampling take meanwhile, the same for every profiler; NaN without
    bpftrace, when it does not end, or with a hardware counter, whose interrupts are others."""

    def __enter__(self):
        self.seconds = float("nan")
        self.tracer = None
        try:
            self.tracer = subprocess.Popen(["bpftrace", "-e", SAMPLING_TIMERS], stdout=subprocess.PIPE,
                                           stderr=subprocess.STDOUT, text=True)
        except FileNotFoundError:
            return self
        while "Attaching" not in (line := self.tracer.stdout.readline()) and line:
            pass
        time.sleep(1)
        return self

    def __exit__(self, *_):
        if not self.tracer:
            return
        self.tracer.send_signal(signal.SIGINT)
        try:
            said = self.tracer.communicate(timeout=20)[0]
        except subprocess.TimeoutExpired:
            self.tracer.kill()
            self.tracer.communicate()
            return
        found = re.search(r"@spent: (\d+)", said)
        if found:
            self.seconds = int(found[1]) / 1e9


def load():
    return "load average " + " ".join(f"{x:.1f}" for x in os.getloadavg())


def work_folder():
    return tempfile.TemporaryDirectory(prefix="pkbpf-bench-", dir="/tmp")
