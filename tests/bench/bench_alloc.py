#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: bench_alloc.py PKBPF [ROUNDS [PROGRAMS...]]

What it costs a program to have its allocations sampled: its own CPU time, smallest of ROUNDS (default 5) runs in turns, as a
multiple of the time without. "preload": the sampler is loaded, nobody listens. heaptrack, massif and gperftools' heap profiler where
they are installed: one run each. PROGRAMS: only rows with these words.
"""
import ctypes.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

LOOP = r"""
#include <stdlib.h>
static void *volatile here;
int main(void) { for (int i = 0; i < 60000000; i++) free(here = malloc(100)); }
"""
MAP = r"""
#include <map>
#include <string>
int main() {
	for (int round = 0; round < 60; round++) {
		std::map<int, std::string> map;
		for (int i = 0; i < 10000; i++)
			map[i * 7919 % 10007] = std::string(60 + i % 40, 'x');
	}
}
"""
SQL = """create table t(a integer primary key, b text);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 400000) insert into t select x, hex(x * x) from c;
select count(*) from t where b like '%7%';"""
PYTHON = """
import json
rows = [{"a": i, "b": str(i) * 5} for i in range(100000)]
for _ in range(3): json.loads(json.dumps(rows))
"""
# Prints the CPU time of the command that it runs.
WATCH = "import os, sys; pid = os.fork() or os.execvp(sys.argv[2], sys.argv[2:]); used = os.wait4(pid, 0)[2]; " \
        "open(sys.argv[1], 'w').write(str(used.ru_utime + used.ru_stime))"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def load_redis(port):
    """The same requests each time, then its end."""
    while subprocess.run(["redis-cli", "-p", port, "ping"], capture_output=True, check=False).stdout != b"PONG\n":
        time.sleep(0.05)
    subprocess.run(["redis-benchmark", "-p", port, "-q", "-n", "60000", "-P", "16", "-r", "20000", "-d", "200", "-t", "set"],
                   stdout=subprocess.DEVNULL, check=True)
    subprocess.run(["redis-cli", "-p", port, "shutdown", "nosave"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def build(folder, name, text, compiler):
    path = os.path.join(folder, name)
    suffix = ".cc" if compiler == "c++" else ".c"
    with open(path + suffix, "w", encoding="utf-8") as file:
        file.write(text)
    subprocess.run([compiler, "-O2", "-fno-builtin", "-o", path, path + suffix], check=True)
    return [path]


def programs(folder):
    yield "malloc/free", build(folder, "loop", LOOP, "cc"), None
    yield "std::map", build(folder, "map", MAP, "c++"), None
    if shutil.which("sqlite3"):
        yield "sqlite3", ["sqlite3", ":memory:", SQL], None
    yield "python3", ["/usr/bin/python3", "-c", PYTHON], None
    if shutil.which("redis-server"):
        port = str(free_port())
        yield "redis SET", ["redis-server", "--port", port, "--save", ""], lambda: load_redis(port)
    yield "gcc", ["gcc", "-O2", "-c", "-o", os.path.join(folder, "map.o"), "-x", "c++", os.path.join(folder, "map.cc")], None


def ways(pkbpf, folder):
    library = os.path.join(os.path.dirname(pkbpf), "libpkbpf-alloc.so")
    yield "plain", [], {}
    yield "preload", [], {"LD_PRELOAD": library}
    yield "pkbpf --alloc", [pkbpf, "-q", "-e", "alloc", "--alloc", "-o", os.path.join(folder, "out.folded"), "--"], {}
    if shutil.which("heaptrack"):
        yield "heaptrack", ["heaptrack", "-o", os.path.join(folder, "heaptrack"), "--"], {}
    if shutil.which("valgrind"):
        yield "massif", ["valgrind", "-q", "--tool=massif", "--massif-out-file=" + os.path.join(folder, "massif")], {}
    library = ctypes.util.find_library("tcmalloc")
    if library:
        yield "tcmalloc", [], {"LD_PRELOAD": library}
        yield "gperftools", [], {"LD_PRELOAD": library, "HEAPPROFILE": os.path.join(folder, "gperftools")}


ONCE = ("heaptrack", "massif", "gperftools")
MOST_SECONDS = 60


def run(way, command, load, folder):
    """The CPU time of the command in seconds; None: it takes too long."""
    name, before, environment = way
    result = os.path.join(folder, "time")
    watched = ["/usr/bin/python3", "-c", WATCH, result] + command
    # Valgrind and heaptrack follow no children: they are what is watched.
    line = ["/usr/bin/python3", "-c", WATCH, result] + before + command if name in ("heaptrack", "massif") else before + watched
    with subprocess.Popen(line, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          start_new_session=True) as process:
        if load:
            load()
        try:
            if process.wait(MOST_SECONDS):
                raise SystemExit(f"{' '.join(line)[:300]}: status {process.returncode}")
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None
    with open(result, encoding="utf-8") as file:
        return float(file.read())


def main():
    pkbpf, rounds = os.path.realpath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory() as folder:
        all_ways = list(ways(pkbpf, folder))
        print("| | plain | " + " | ".join(way[0] for way in all_ways[1:]) + " |")
        print("|---|---:|" + "---:|" * (len(all_ways) - 1))
        for name, command, load in programs(folder):
            if sys.argv[3:] and not any(word in name for word in sys.argv[3:]):
                continue
            best = {}
            for turn in range(rounds):
                for way in all_ways:
                    if way[0] in ONCE and turn:
                        continue
                    used = run(way, command, load, folder)
                    best[way[0]] = min(best.get(way[0], used), used) if used else None
            plain = best["plain"]
            times = [f"{best[way[0]] / plain:.2f}" if best[way[0]] else f"over {MOST_SECONDS / plain:.0f}" for way in all_ways[1:]]
            print(f"| {name} | {plain:.2f} s | {' | '.join(times)} |", flush=True)


main()
