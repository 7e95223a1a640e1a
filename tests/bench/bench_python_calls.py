#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: bench_python_calls.py PKBPF [ROUNDS [PYTHON...]]

What it costs a Python program to have its calls counted: the CPU time of its work, the smallest of ROUNDS (default 5) runs in
turns, as a multiple of the time without; beside cProfile, whose numbers of calls are the same. Samples are taken in both rows
of pkbpf, too.
"""
import os
import subprocess
import sys
import tempfile

WORK = r"""
import sys, time

def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

class Point:
    def __init__(self, x):
        self.x = x
    def get(self):
        return self.x

def numbers(n):
    for i in range(n):
        yield i

def calls():
    fib(22)

def methods():
    for i in range(30000):
        Point(i).get()

def builtins():
    values = []
    for i in range(60000):
        values.append(len(values))
    sorted(values, key=lambda value: -value)

def generators():
    sum(numbers(60000))

def text():
    import json
    rows = [{"a": i, "b": str(i) * 5} for i in range(4000)]
    for _ in range(5):
        json.loads(json.dumps(rows, indent=1))

def timed(work):
    began = time.thread_time()
    work()
    return time.thread_time() - began

work = globals()[sys.argv[1]]
if sys.argv[2:] == ["cprofile"]:
    import cProfile
    seconds = cProfile.Profile().runcall(timed, work)
else:
    seconds = timed(work)
print(seconds)
"""
WORKS = ("calls", "methods", "builtins", "generators", "text")


def main():
    pkbpf, rounds = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    pythons = sys.argv[3:] or [sys.executable]
    worst = 0
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "work.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(WORK)
        print("| python | work | cProfile | --python-calls | of cProfile's | --python-lines |")
        print("|---|---|---:|---:|---:|---:|")
        for python in pythons:
            name = subprocess.run([python, "-c", "import sys; print('%d.%d.%d' % sys.version_info[:3])"], capture_output=True,
                                  text=True, check=True).stdout.strip()
            for work in WORKS:
                command = [python, script, work]
                profiled = [pkbpf, "-q", "-e", "cpu", "-o", os.path.join(folder, "x.pstats")]
                ways = {"plain": command, "cprofile": [*command, "cprofile"],
                        "calls": [*profiled, "--python-calls", "--", *command],
                        "lines": [*profiled, "--python-lines", "--", *command]}
                best = dict.fromkeys(ways, float("inf"))
                for _ in range(rounds):
                    for way, words in ways.items():
                        said = subprocess.run(words, capture_output=True, text=True, check=False).stdout
                        best[way] = min(best[way], float(said))
                worst = max(worst, best["calls"] / best["cprofile"])
                print(f"| {name} | {work} | {best['cprofile'] / best['plain']:.2f} x | {best['calls'] / best['plain']:.2f} x "
                      f"| {best['calls'] / best['cprofile']:.2f} | {best['lines'] / best['plain']:.2f} x |", flush=True)
    print(f"\nworst of cProfile's: {worst:.2f}")


if __name__ == "__main__":
    main()
