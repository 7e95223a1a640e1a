#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Measures what an open page costs `pkbpf serve`: CPU time of its front in equal times without a page, with one on "now", with three,
with one that is paused, and with one that is hidden, in turns.
usage: bench_live_page.py PKBPF [SECONDS [TURNS [INTERVAL]]]

INTERVAL (default 10s) is that of serve's slices, each of which renews the page. A figure is the median of the turns, in percent of one CPU;
"page" is the difference to the time without one. The front is the process that stores and answers; the collector does the same with and without
pages. Chromium is left out of the profile with --comm of the programs that the script starts: on other machines it would not be there."""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
from browser import Browser  # noqa: E402


def cpu_seconds(pid):
    """To the nanosecond, threads that ended included: the clock of another process (clock_getcpuclockid)."""
    return time.clock_gettime((~pid << 3) | 2)


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
        return [int(child) for child in file.read().split()]


class Serve:
    """The server on a free port, beside programs that work and wait."""

    def __init__(self, pkbpf, folder, interval):
        self.load = [subprocess.Popen([sys.executable, "-c", program]) for program in
                     ("import hashlib, time\nwhile True:\n  for _ in range(200): hashlib.sha256(b'x' * 10000).hexdigest()\n  time.sleep(0.005)",
                      "import json, threading, time\ndef work():\n  while True:\n    json.loads(json.dumps(list(range(3000))))\n    time.sleep(0.02)\n"
                      "for _ in range(8): threading.Thread(target=work, daemon=True).start()\ntime.sleep(1e6)")]
        self.said = os.path.join(folder, "said")
        settings = f"listen = 127.0.0.1:0\nstore = {folder}/store\ninterval = {interval}\ndefault-alerts = no\n"
        with open(os.path.join(folder, "serve.conf"), "w", encoding="utf-8") as file:
            file.write(settings)
        self.process = subprocess.Popen([pkbpf, "serve", "--config", file.name], stderr=open(self.said, "w", encoding="utf-8"))

    def wait_until_ready(self):
        self.url = self.wait_for(self.read_url)
        self.wait_for(lambda: len(self.windows()) > 2)
        self.front = self.wait_for(self.find_front)

    def wait_for(self, find, seconds=120):
        end = time.monotonic() + seconds
        while not (found := find()):
            if time.monotonic() > end or self.process.poll() is not None:
                raise SystemExit(f"serve: {open(self.said, encoding='utf-8').read()}")
            time.sleep(0.2)
        return found

    def read_url(self):
        return next((word.rstrip(",/") for word in open(self.said, encoding="utf-8").read().split() if word.startswith("http://")), None)

    def windows(self):
        with urllib.request.urlopen(f"{self.url}/api/v1/windows?from=-10m", timeout=10) as answer:
            return json.load(answer)["windows"]

    def find_front(self):
        """The child that listens."""
        port = f":{int(self.url.rsplit(':', 1)[1]):04X}"
        with open("/proc/net/tcp", encoding="utf-8") as file:
            inodes = {fields[9] for fields in map(str.split, file) if fields[1].endswith(port) and fields[3] == "0A"}
        for pid in [self.process.pid, *children_of(self.process.pid)]:
            for name in os.listdir(f"/proc/{pid}/fd"):
                if os.readlink(f"/proc/{pid}/fd/{name}")[8:-1] in inodes and pid != self.process.pid:
                    return pid
        return None

    def close(self):
        for process in [*self.load, self.process]:
            process.terminate()
        for process in [*self.load, self.process]:
            process.wait()


def open_now(browser, serve):
    browser.open(serve.url + "/#range=900")
    browser.until("return live.last > 0")
    browser.click("#now")
    browser.until("return view.now && typeof document.querySelector('#report').contentWindow.renewProfile === 'function'")


def measured(serve, seconds):
    time.sleep(2)
    before, since = cpu_seconds(serve.front), time.monotonic()
    time.sleep(seconds)
    percent = 100 * (cpu_seconds(serve.front) - before) / (time.monotonic() - since)
    print(f"{percent:.2f} %", file=sys.stderr)
    return percent


def turn(serve, seconds):
    figures = {"none": measured(serve, seconds)}
    browsers = []
    try:
        browsers.append(Browser())
        open_now(browsers[0], serve)
        figures["one page on now"] = measured(serve, seconds)
        browsers[0].click("#now")
        figures["paused"] = measured(serve, seconds)
        browsers[0].run("Object.defineProperty(document, 'hidden', { value: true, configurable: true }); document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))")
        figures["hidden"] = measured(serve, seconds)
        browsers[0].run("Object.defineProperty(document, 'hidden', { value: false, configurable: true }); document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))")
        browsers[0].click("#now")
        for _ in range(2):
            browsers.append(Browser())
            open_now(browsers[-1], serve)
        figures["three pages on now"] = measured(serve, seconds)
    finally:
        for browser in browsers:
            browser.__exit__()
    return figures


def main():
    pkbpf, seconds, turns = os.path.abspath(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 60, int(sys.argv[3]) if len(sys.argv) > 3 else 3
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        serve = Serve(pkbpf, folder, sys.argv[4] if len(sys.argv) > 4 else "10s")
        try:
            serve.wait_until_ready()
            all_turns = [turn(serve, seconds) for _ in range(turns)]
        finally:
            serve.close()
    without = statistics.median(figures["none"] for figures in all_turns)
    print(f"{'':<22}{'front, % of a CPU':>20}{'page':>10}{'ratio':>8}")
    for name in all_turns[0]:
        values = [figures[name] for figures in all_turns]
        extra = statistics.median(figures[name] - figures["none"] for figures in all_turns)
        print(f"{name:<22}{statistics.median(values):>12.2f} ({min(values):.2f}..{max(values):.2f}){extra:>8.2f}{statistics.median(values) / without if without else float('nan'):>8.1f}")


main()
