#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a launch costs under --gpu-calls, in hits of a probe whose program does nothing.

usage (root): bench_gpu_calls.py PKBPF [TURNS [LAUNCHES]]

A loop of launches of stand-ins of CUDA and HIP, in CPU time of its thread, in turns: alone, with an empty probe at the launch function
of the driver (of HIP), and under pkbpf --gpu-calls. A turn gives (watched - alone) / (hit - alone); the medians of the turns, and their range. The run-time's
launches have two probes each, its own and the driver's. The last column is the time of pkbpf's programs and of its process, in percent
of a CPU, at the rate of launches beside it.
"""
import json
import os
import subprocess
import sys
import tempfile

import measure

GPU = os.path.join(os.path.dirname(measure.HERE), "gpu")
# Functions begin with a push, as those of the real libraries do as a rule, and not with what has to be stepped.
FLAGS = ["-O0", "-fcf-protection=none"]
KINDS = {
    "driver": ("libcuda.so.1", "cuLaunchKernel", ["-DDRIVER"]),
    "run-time": ("libcuda.so.1", "cuLaunchKernel", []),
    "HIP": ("libamdhip64.so.7", "hipLaunchKernel", ["-DHIP"]),
}


def compile_all(folder):
    def cc(*words):
        subprocess.run(["gcc", *FLAGS, *words], check=True, cwd=folder)

    cc("-shared", "-fPIC", f"{GPU}/gpu_driver_stand_in.c", "-o", "libcuda.so.1")
    cc("-shared", "-fPIC", f"{GPU}/gpu_runtime_stand_in.c", "-o", "libcudart.so.12", "./libcuda.so.1")
    cc("-shared", "-fPIC", "-DRETURNS", f"{GPU}/gpu_hip_stand_in.c", "-o", "libamdhip64.so.7")
    cc("-x", "c", f"{measure.HERE}/uprobe_hit.inc", "-o", "uprobe_hit")
    for kind, (library, _, flags) in KINDS.items():
        needed = ["./libcudart.so.12"] if kind == "run-time" else []
        cc("-x", "c", *flags, f"{measure.HERE}/launch_loop.inc", "-x", "none", *needed, f"./{library}", "-o", f"loop_{kind}")


def offset_of(path, name):
    """Of the function in its file; both segments of a stand-in begin at the same distance."""
    symbols = subprocess.run(["nm", "-D", path], capture_output=True, text=True, check=True).stdout
    address = next(int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(f" T {name}"))
    headers = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True, check=True).stdout
    for line in headers.splitlines():
        words = line.split()
        if words[:1] == ["LOAD"]:
            start, at, size = int(words[1], 16), int(words[2], 16), int(words[4], 16)
            if at <= address < at + size:
                return start + address - at
    raise SystemExit(f"{path}: no segment has {name}")


def loop(folder, kind, launches, *before):
    said = subprocess.run([*before, f"./loop_{kind}", str(launches)], cwd=folder, capture_output=True, text=True, check=True).stdout
    return [float(word) for word in said.split()[-2:]]


def with_hit(folder, kind, launches):
    library, name, _ = KINDS[kind]
    path = os.path.join(folder, library)
    probe = subprocess.Popen([f"{folder}/uprobe_hit", path, hex(offset_of(path, name))], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if probe.stdout.readline() != "ready\n":
        raise SystemExit("no probe")
    result = loop(folder, kind, launches)
    probe.stdin.close()
    probe.wait()
    return result


def watched(pkbpf, folder, kind, launches):
    result = loop(folder, kind, launches, pkbpf, "-q", "-e", "offcpu", "--gpu-calls", "-o", f"{folder}/out.json", "--")
    report = json.load(open(f"{folder}/out.json"))
    counted = 0 if os.environ.get("LOOSE") else sum(call["calls"] for call in report["gpu_calls"]["functions"] if call["group"] == "launch")
    if not os.environ.get("LOOSE") and counted != launches:
        raise SystemExit(f"{kind}: {counted} launches counted of {launches}")
    return result


def main():
    pkbpf = os.path.realpath(sys.argv[1])
    turns = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    launches = int(sys.argv[3]) if len(sys.argv) > 3 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        compile_all(folder)
        print(f"{'launches of':<12} {'alone':>8} {'a hit':>8} {'watched':>8} {'in hits':>8}   range         launches/s watched")
        for kind in os.environ.get("KINDS", "driver,run-time,HIP").split(","):
            rows = []
            for _ in range(turns):
                alone, hit, seen = loop(folder, kind, launches), with_hit(folder, kind, launches), watched(pkbpf, folder, kind, launches)
                rows.append((alone[0], hit[0] - alone[0], seen[0] - alone[0], (seen[0] - alone[0]) / (hit[0] - alone[0]), seen[1]))
            middle = [measure.median(column) for column in zip(*rows)]
            ratios = [row[3] for row in rows]
            print(
                f"{kind:<12} {middle[0]:>5.1f} ns {middle[1]:>5.0f} ns {middle[2]:>5.0f} ns {middle[3]:>8.2f}   {measure.spread(ratios):<13} {middle[4]:,.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
