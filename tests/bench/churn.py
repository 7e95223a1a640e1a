#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""
Containers that come and go while pkbpf watches their cgroup: memory may not grow, and no loss may stay uncounted.

Every round makes a cgroup as Docker does, a process in it that forks three times, each of which loads a library that nobody
has loaded before, computes and ends; then the cgroup goes. Beside --every, `pkbpf serve` watches the same.

usage: churn.py PKBPF [SECONDS [ROUNDS_PER_SECOND]]    (needs root and gcc)
Prints a line every minute, and at the end the growth of the second half.
"""
import glob
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

LIBRARY = """
volatile unsigned long sink;
unsigned long load_and_compute(unsigned long rounds)
{
	for (unsigned long i = 0; i < rounds; i++)
		sink += i ^ sink << 1;
	return sink;
}
"""
PROGRAM = """
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (fork())
			continue;
		void *library = dlopen(argv[i], RTLD_NOW);
		unsigned long (*compute)(unsigned long) = library ? dlsym(library, "load_and_compute") : 0;
		if (compute)
			compute(6000000);
		_exit(!compute);
	}
	for (int status, failed = 0;; failed |= status)
		if (wait(&status) < 0)
			return failed != 0;
}
"""


def resident_kib(pid):
    with open(f"/proc/{pid}/status") as lines:
        found = dict(re.findall(r"(\w+):\s+(\d+) kB", lines.read()))
    return int(found["RssAnon"]), int(found["VmRSS"])


def map_kib(pid):
    total = 0
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        try:
            with open(path) as lines:
                text = lines.read()
        except OSError:
            continue
        if "map_type:" in text:
            total += int(re.search(r"memlock:\s+(\d+)", text)[1])
    return total // 1024


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def descendants(pid):
    """The process and all below it: a front, and those that read files."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as children:
            return [pid, *(each for child in children.read().split() for each in descendants(int(child)))]
    except OSError:
        return []


class Watched:
    """A pkbpf that runs, and of serve the process that captures."""

    def __init__(self, name, command):
        self.name = name
        with open(name + ".log", "w") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log)
        self.measured = []

    def processes(self):
        return descendants(self.process.pid)

    def measure(self, elapsed):
        anon = rss = maps = files = 0
        for pid in self.processes():
            own, whole = resident_kib(pid)
            anon, rss = anon + own, rss + whole
            maps, files = maps + map_kib(pid), files + descriptors(pid)
        self.measured.append((elapsed, anon, rss, maps, files))
        print(f"{elapsed:6.0f} s {self.name:8} anonymous {anon} KiB, RSS {rss} KiB, maps {maps} KiB, descriptors {files}", flush=True)

    def growth(self):
        half = len(self.measured) // 2
        return [
            max(row[i] for row in self.measured[half + half // 2 :]) - max(row[i] for row in self.measured[half : half + half // 2])
            for i in (1, 3, 4)
        ]


def compile_c(source, output, *flags):
    subprocess.run(["gcc", "-O2", "-g", "-x", "c", "-", *flags, "-o", output], input=source, text=True, check=True)


def cgroup_root():
    for root in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified"):
        if os.path.exists(root + "/cgroup.controllers"):
            return root
    raise SystemExit("no cgroup v2 hierarchy is mounted")


def churn(base, number):
    folder = f"{base}/docker/{random.getrandbits(256):064x}"
    libraries = [f"{os.getcwd()}/lib{number}_{i}.so" for i in range(3)]
    os.mkdir(folder)
    for library in libraries:
        shutil.copy("library.so", library)

    def enter():
        with open(folder + "/cgroup.procs", "w") as procs:
            procs.write(str(os.getpid()))

    ended = subprocess.run(["./program", *libraries], preexec_fn=enter, check=False)
    for library in libraries:
        os.unlink(library)
    os.rmdir(folder)
    return ended.returncode == 0


def check_counts(failures):
    intervals = 0
    for path in glob.glob("every-*.json"):
        with open(path) as file:
            samples = json.load(file)["samples"]
        intervals += 1
        if samples["expected"] != samples["recorded"] + samples["lost"]:
            failures.append(f"{path}: {samples}")
    print(f"{intervals} intervals kept: all samples recorded or counted as lost")


def main():
    pkbpf = os.path.realpath(sys.argv[1])
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 3600
    rate = float(sys.argv[3]) if len(sys.argv) > 3 else 2
    base = f"{cgroup_root()}/pkbpf-churn-{os.getpid()}"
    failures = []
    with tempfile.TemporaryDirectory(prefix="pkbpf-churn-") as work:
        os.chdir(work)
        compile_c(LIBRARY, "library.so", "-shared", "-fPIC")
        compile_c(PROGRAM, "program")
        os.makedirs(base + "/docker")
        watched = [
            Watched("every", [pkbpf, "-v", "-G", base, "--every", "10s", "--keep", "6", "-o", "every-%t.json", "-o", "every-%t.pkbpf"]),
            Watched("serve", [pkbpf, "serve", "-v", "--max-cpu", "off", "-G", base, "--listen", work + "/socket", "--store", work + "/store", "-e", "cpu,offcpu,faults,blockio"]),
        ]
        start = time.monotonic()
        rounds, next_look = 0, 60
        try:
            while (elapsed := time.monotonic() - start) < seconds and not failures:
                if not churn(base, rounds):
                    failures.append("a program of the churn failed")
                rounds += 1
                if elapsed >= next_look:
                    next_look += 60
                    for one in watched:
                        one.measure(elapsed)
                time.sleep(max(0, rounds / rate - (time.monotonic() - start)))
            check_counts(failures)
        finally:
            for one in watched:
                one.process.send_signal(signal.SIGINT)
            for one in watched:
                if one.process.wait():
                    failures.append(f"{one.name} ended with {one.process.returncode}")
                with open(one.name + ".log") as log:
                    print(one.name, "says last:", *log.read().splitlines()[-3:], sep="\n    ")
            os.rmdir(base + "/docker")
            os.rmdir(base)
        for one in watched:
            if len(one.measured) >= 8:
                growth = one.growth()
                print(f"{one.name}: from the third quarter to the fourth: anonymous {growth[0]:+} KiB, maps {growth[1]:+} KiB, descriptors {growth[2]:+}")
                if max(growth[:2]) > 1024:
                    failures.append(f"{one.name} grows")
        print(f"{rounds} containers, {4 * rounds} processes, {3 * rounds} libraries")
    for failure in failures:
        print("FAILED:", failure)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
