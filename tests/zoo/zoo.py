# SPDX-License-Identifier: BSD-2-Clause
"""Planted bottlenecks of known cause: how a scenario is described, started, proven and judged."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(1, f"{HERE}/../integration")
import mcp_client  # noqa: E402
SCENARIOS = {}


class Unproven(Exception):
    """This run does not show the bottleneck: it says nothing about the profiler."""


class Unavailable(Exception):
    """A program or a feature of the kernel is missing here."""


class Scenario:
    def __init__(self, run, group, first, rules, seconds, short):
        self.run, self.group, self.first, self.rules, self.seconds, self.short = run, group, first, rules, seconds, short
        self.name = run.__name__


def scenario(group, *first, rules=(), seconds=4, short=False):
    """A generator: yields what to record (options of pkbpf) once, proves after it. The first finding must have one of
    the rules and match all patterns."""

    def register(run):
        SCENARIOS[run.__name__] = Scenario(run, group, first, rules, seconds, short)
        return run

    return register


def healthy(seconds=4, short=False):
    return scenario("healthy", rules=None, seconds=seconds, short=short)


def field(pid, file, key):
    for line in open(f"/proc/{pid}/{file}"):
        if line.startswith(key):
            return int(line.split()[1])
    raise Unproven(f"no {key} in /proc/{pid}/{file}")


def cpu_seconds(pid):
    """user and system time of a process, children that it waited for not included"""
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def delay_seconds(pid):
    """run-queue time of the first thread"""
    return int(open(f"/proc/{pid}/schedstat").read().split()[1]) / 1e9


class Zoo:
    """What a scenario has at hand; everything it started ends with it."""

    def __init__(self, pkbpf, work, disk):
        self.pkbpf, self.work, self.disk = pkbpf, work, disk
        self.started, self.undo = [], []

    def prove(self, holds, what):
        if not holds:
            raise Unproven(what)

    def need(self, *programs):
        for program in programs:
            if not shutil.which(program) and not os.path.exists(program):
                raise Unavailable(f"no {program}")

    def build(self, source, name):
        """A program of programs/, under a name of its own"""
        binary = f"{self.work}/{name}"
        subprocess.run(["gcc", "-O1", "-g", "-fno-omit-frame-pointer", "-Wall", "-Wno-unused-function", "-o", binary,
                        f"{HERE}/programs/{source}.c", "-lpthread"], check=True)
        return binary

    def start(self, command, cgroup=None, **options):
        def enter():
            os.setsid()
            if cgroup:
                open(f"{cgroup}/cgroup.procs", "w").write("0")

        options.setdefault("cwd", self.disk)
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.DEVNULL)
        options.setdefault("stderr", subprocess.DEVNULL)
        process = subprocess.Popen([str(part) for part in command], preexec_fn=enter, **options)
        self.started.append(process)
        return process

    def plant(self, source, name, *arguments, **options):
        process = self.start([self.build(source, name), *arguments], **options)
        time.sleep(0.2)
        self.prove(process.poll() is None, f"{name} ended")
        return process

    def script(self, interpreter, name, text, *arguments, **options):
        path = f"{self.work}/{name}"
        open(path, "w").write(text)
        self.need(interpreter)
        process = self.start([interpreter, path, *arguments], **options)
        time.sleep(0.3)
        self.prove(process.poll() is None, f"{name} ended")
        return process

    def cgroup(self, controller, name):
        """A cgroup of this controller, version 1 or 2"""
        for root in (f"/sys/fs/cgroup/{controller}", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"):
            if not os.path.exists(f"{root}/cgroup.procs"):
                continue
            path = f"{root}/{name}"
            os.makedirs(path, exist_ok=True)
            self.undo.append(lambda: os.rmdir(path))
            return path
        raise Unavailable(f"no cgroup hierarchy of {controller}")

    def write(self, path, text):
        try:
            with open(path, "w") as file:
                file.write(text)
        except OSError as error:
            raise Unavailable(f"{path}: {error.strerror}") from error

    def data_file(self, name, mib):
        path = f"{self.disk}/{name}"
        subprocess.run(["dd", "if=/dev/urandom", f"of={path}", "bs=1M", f"count={mib}", "oflag=direct", "status=none"], check=True)
        return path

    def profile(self, options, seconds, output):
        result = subprocess.run([self.pkbpf, "-q", "-d", str(seconds), "-o", output, *map(str, options)],
                                stderr=subprocess.PIPE, text=True, timeout=seconds + 60)
        if result.returncode:
            raise RuntimeError(f"pkbpf: status {result.returncode}: {result.stderr.strip()}")

    def record(self, options, seconds):
        report = f"{self.work}/report.json"
        self.profile(options, seconds, report)
        return json.load(open(report))

    def record_for_tools(self, options, seconds):
        """The findings as the tools of `pkbpf mcp` print them."""
        recording = f"{self.work}/run.pkbpf"
        self.profile(options, seconds, recording)
        client = mcp_client.Client(self.pkbpf, recording)
        client.call("sources")
        head, *lines = client.call("findings").splitlines()
        busy = re.search(r"([\d.]+) % busy", head)
        found = [re.fullmatch(r"\d+\. (.*) \(rule (\w+), severity (\d+) %\)", line) for line in lines]
        if client.close():
            raise RuntimeError("pkbpf mcp failed")
        return {"host": {"busy_percent": float(busy[1])},
                "findings": [{"text": f[1], "rule": f[2], "severity_percent": float(f[3])} for f in found if f]}

    def close(self):
        for process in reversed(self.started):
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        time.sleep(0.1)
        for undo in reversed(self.undo):
            try:
                undo()
            except OSError as error:
                print(f"  left behind: {error}")


# Rules of today that limit nobody; a report that says so itself is believed.
NO_ALARM = {"cpu_bound", "idle_for_peers", "healthy"}


def is_alarm(finding):
    return finding.get("alarm", finding["rule"] not in NO_ALARM)


def matches(finding, scenario_):
    return [not scenario_.rules or finding["rule"] in scenario_.rules] + [
        bool(re.search(pattern, finding["text"])) for pattern in scenario_.first]


def is_beside(finding, sessions, is_busy, rules):
    """Whether a finding about the whole machine is about other work on it, which is no matter of the scenario's."""
    if finding["rule"] == "cpu_starved":
        return is_busy and "cpu_starved" not in rules
    try:
        return "pid" in finding and os.getsid(finding["pid"]) not in sessions
    except ProcessLookupError:
        return finding["rule"] not in rules


def judge(scenario_, findings, is_busy):
    # Beside a busy neighbour, the neighbour costs most: it may be said first.
    if is_busy and scenario_.rules is not None and findings[1:] and findings[0]["rule"] in {"queue_bound", "cpu_starved"} - set(scenario_.rules):
        findings = findings[1:]
    if scenario_.rules is None:
        # Beside other work that fills the machine it is true that it waits for a CPU.
        alarms = [finding for finding in findings if is_alarm(finding) and not (is_busy and finding["rule"] in ("queue_bound", "cpu_starved"))]
        return "false alarm" if alarms else "right" if findings else "missed"
    if not findings:
        return "missed"
    first = matches(findings[0], scenario_)
    if all(first):
        return "right"
    if first[0] or any(all(matches(finding, scenario_)) for finding in findings):
        return "partly"
    return "wrong" if is_alarm(findings[0]) else "missed"


def run(scenario_, pkbpf, work, disk, longest, by_tools=False):
    """Verdict and the findings' texts; of a recording no longer than this"""
    zoo = Zoo(pkbpf, work, disk)
    try:
        running = scenario_.run(zoo)
        options = next(running)
        report = (zoo.record_for_tools if by_tools else zoo.record)(options, min(scenario_.seconds, longest))
        try:
            next(running)
        except StopIteration:
            pass
        findings = report["findings"]
        is_busy = report["host"].get("busy_percent", 0) >= 75
        if not options:
            sessions = {process.pid for process in zoo.started}
            findings = [f for f in findings if not is_beside(f, sessions, is_busy, scenario_.rules or ())]
        return judge(scenario_, findings, is_busy), [f"{f['rule']} {f['severity_percent']:.0f}: {f['text']}" for f in findings]
    except Unproven as error:
        return "unproven", [str(error)]
    except Unavailable as error:
        return "not here", [str(error)]
    except StopIteration:
        return "unproven", ["nothing to record"]
    finally:
        zoo.close()
