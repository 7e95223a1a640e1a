# SPDX-License-Identifier: BSD-2-Clause
"""What Firefox Profiler's own command line reads from a profile, beside the folded stacks: firefox_check.py FOLDER KIND…"""
import collections
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from checks import check

folder, kinds = sys.argv[1], sys.argv[2:]
TITLES = {"cpu": "CPU", "offcpu": "Off-CPU", "blockio": "Block I/O", "faults": "Page faults"}
# Its socket has a short path, and it asks nobody for anything.
os.environ["PROFILER_CLI_SESSION_DIR"] = os.path.join(folder, "cli")
os.makedirs(os.environ["PROFILER_CLI_SESSION_DIR"], exist_ok=True)


def ask(*words):
    return json.loads(subprocess.run(["profiler-cli", *words, "--json"], capture_output=True, check=True, timeout=30).stdout)


def load(path):
    """The daemon that holds the profile gives itself half a second to start, and may need more."""
    subprocess.run(["profiler-cli", "load", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=30)
    until = time.monotonic() + 15
    while True:
        try:
            return ask("profile", "info", "--all")
        except subprocess.CalledProcessError as error:
            if time.monotonic() > until:
                raise RuntimeError(f"profiler-cli: {error.stderr.decode()[:300]}") from None
            time.sleep(0.2)


def kind_of(thread):
    return next((kind for kind, title in TITLES.items() if thread["name"].endswith(": " + title)), None)


def leaf(frame):
    """The name of a frame of folded stacks, without the mark of its kind."""
    return frame[:-4] if frame[-4:] in ("_[k]", "_[i]", "_[j]", "_[p]") else frame


def folded(kind):
    """name -> what its innermost frames have, name -> number of stacks, each of which is rounded where it is time"""
    own, stacks = collections.Counter(), collections.Counter()
    for line in open(f"{folder}/app.{kind}.folded", encoding="utf-8"):
        stack, weight = line.rsplit(" ", 1)
        # Of a stack without frames the folded line has its process alone; there it has a frame that says so.
        name = leaf(stack.rsplit(";", 1)[1]) if ";" in stack else "[no stack]"
        own[name] += int(weight)
        stacks[name] += 1
    return own, stacks


try:
    info = load(f"{folder}/app.firefox.json")
    threads = [thread for process in info["processes"] for thread in process["threads"]]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = list(pool.map(lambda thread: ask("thread", "functions", "--thread", thread["threadHandle"]), threads))
finally:
    subprocess.run(["profiler-cli", "stop", "--all"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=30)
for kind in kinds:
    # It counts time in ms, and the folded stacks in µs.
    unit = 1000 if kind in ("offcpu", "blockio") else 1
    theirs, (ours, stacks) = collections.Counter(), folded(kind)
    for thread, answer in zip(threads, answers):
        if kind_of(thread) == kind:
            for function in answer["functions"]:
                theirs[function["name"]] += unit * function["selfSamples"]
    slack = unit > 1
    check(abs(theirs.total() - ours.total()) <= slack * stacks.total() and ours.total() > 0, f"{kind}: {theirs.total():.0f} in all, the folded stacks {ours.total()}")
    wrong = {name: (theirs[name], ours[name]) for name in ours | theirs if abs(theirs[name] - ours[name]) > slack * stacks[name]}
    check(not wrong, f"{kind}: {len(ours)} functions are innermost as often: {wrong or 'the same'}")
