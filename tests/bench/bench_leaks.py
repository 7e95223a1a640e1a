#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Which leaks --alloc finds, and what it takes for one: thirty programs that leak (C, C++, Python, a plugin, threads, one block
in twenty) and twelve healthy ones (caches that fill and turn over, pools, queues, growing load, batches), side by side.

usage: bench_leaks.py PKBPF [SECONDS [NAME...]]		120 seconds; fails below 27 of 30 found, or with a false one
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "leaks")


def build(folder):
    subprocess.run(["g++", "-std=c++17", "-O1", "-fno-inline-functions", "-fno-optimize-sibling-calls", "-g", "-pthread", "-o", f"{folder}/programs",
                    f"{HERE}/programs.cpp", "-ldl"], check=True)
    subprocess.run(["gcc", "-O1", "-g", "-fno-optimize-sibling-calls", "-shared", "-fPIC", "-o", f"{folder}/plugin.so", f"{HERE}/plugin.c"], check=True)


def commands(folder, seconds):
    """By the name of its process: does it leak, and how to run it."""
    listed = subprocess.run([f"{folder}/programs"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    found = {}
    for line in listed:
        name = line[1:]
        shutil.copy(f"{folder}/programs", f"{folder}/{name}")
        found[name] = (line[0] == "+", f"LEAKS_PLUGIN={folder}/plugin.so {folder}/{name} {name} {seconds}")
    python = os.path.realpath(sys.executable)
    for name, leaks in (("py_buffers", True), ("py_registry", True), ("py_closures", True), ("py_objects", True), ("py_batches", False), ("py_cache", False)):
        os.symlink(python, f"{folder}/{name}")
        objects = "PYTHONMALLOC=malloc " if name == "py_objects" else ""
        found[name] = (leaks, f"{objects}{folder}/{name} {HERE}/programs.py {name} {seconds}")
    return found


def judge(name, leaks, places):
    """The outcome in a word, and the places that are said to grow."""
    grow = [[frame["name"] for frame in place["frames"]] for place in places if place["trend"] == "grows like a leak"]
    right = [frames for frames in grow if any("leak_" in frame for frame in frames)]
    if leaks:
        return ("found" if right else "at another place" if grow else "missed"), grow
    return ("false" if grow else "healthy"), grow


def why(places):
    most = max(places, key=lambda place: place["live"]["bytes"], default=None)
    if not most:
        return "nothing sampled"
    return (f"live {most['live']['bytes'] >> 10} KiB in {most['live']['samples']} samples, trend {most['trend']}, grew by {most.get('growth_bytes', 0) >> 10} "
            f"+- {most.get('growth_error_bytes', 0) >> 10} KiB, {most['frames'][0]['name'] if most['frames'] else 'no stack'}")


def main():
    pkbpf, seconds = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 120
    with tempfile.TemporaryDirectory() as folder:
        build(folder)
        all_commands = commands(folder, seconds)
        chosen = {name: command for name, command in all_commands.items() if not sys.argv[3:] or name in sys.argv[3:]}
        script = "\n".join(f"{command} &" for _, command in chosen.values()) + "\nwait\n"
        # All end at once: what they did to the end counts, not what they give back at their exit.
        subprocess.run([pkbpf, "-q", "-e", "alloc,live", "--alloc", "-d", str(seconds - 2), "-o", f"{folder}/report.json", "--", "sh", "-c", script], check=True)
        with open(f"{folder}/report.json", encoding="utf-8") as file:
            heap = json.load(file)["heap"]
    outcomes = {}
    for name, (leaks, _) in chosen.items():
        places = [place for place in heap if place["comm"] == name[:15]]
        outcome, grow = judge(name, leaks, places)
        outcomes.setdefault(outcome, []).append(name)
        if outcome not in ("found", "healthy"):
            print(f"{name}: {outcome}; {why(places)}; grow: {[frames[:3] for frames in grow]}")
    total = sum(leaks for leaks, _ in chosen.values())
    found, false = len(outcomes.get("found", [])), len(outcomes.get("false", []))
    print(f"{found} of {total} leaks found, {false} of {len(chosen) - total} healthy programs said to leak")
    sys.exit(found < 0.9 * total or false > 0)


main()
