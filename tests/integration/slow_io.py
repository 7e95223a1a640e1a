#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes of known length, and whether the list of slow block requests is about them and nobody else.

A loop device's file lies in a file system that can be frozen: a request is with the device for as long as that lasts.
The program that writes says how long its call took. So of each request a time is known that it took at least (frozen,
from when it was seen under way), and one that it took at most.

usage: slow_io.py PKBPF SLOW_WRITES DEVICE FROZEN_FOLDER CHECK
"""
import fcntl
import os
import subprocess
import sys
import time

from checks import check, not_checked, read_report

FIFREEZE, FITHAW = 0xC0045877, 0xC0045878
MS = 1_000_000
def wait_for(holds, what):
    end = time.monotonic() + 20
    while not holds():
        if time.monotonic() > end:
            raise SystemExit(f"FAILED: waited in vain until {what}")
        time.sleep(0.001)


class Writer:
    """The program, and what it did."""

    def __init__(self, program, device, folder):
        self.device = device
        self.name = os.path.basename(device)
        self.process = subprocess.Popen([program, device], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.folder = os.open(folder, os.O_RDONLY)
        self.offset, self.frozen = 0, False
        self.done = {}  # first sector -> what is known of the write

    def under_way(self):
        with open(f"/sys/block/{self.name}/inflight", encoding="ascii") as file:
            return sum(int(word) for word in file.read().split())

    def freeze(self, on):
        if on != self.frozen:
            fcntl.ioctl(self.folder, FIFREEZE if on else FITHAW, 0)
            self.frozen = on

    def begin(self, who, size):
        self.process.stdin.write(f"{who} {self.offset} {size}\n")
        self.process.stdin.flush()
        self.offset += size
        return {"who": who, "size": size, "sector": (self.offset - size) // 512, "least_ns": 0}

    def end(self, write):
        words = self.process.stdout.readline().split()
        write["tid"], write["most_ns"] = int(words[0]), int(words[1])
        self.done[write["sector"]] = write

    def write(self, who, size):
        self.end(self.begin(who, size))

    def begin_slowly(self, who, size):
        """Returns when the request is under way, and stays there."""
        self.freeze(True)
        write = self.begin(who, size)
        wait_for(lambda: self.under_way() > 0, "the request is under way")
        write["seen_ns"] = time.monotonic_ns()
        return write

    def end_slowly(self, write):
        write["least_ns"] = time.monotonic_ns() - write["seen_ns"]
        self.freeze(False)
        self.end(write)

    def write_slowly(self, who, size, least_ns):
        write = self.begin_slowly(who, size)
        time.sleep(least_ns / 1e9)
        self.end_slowly(write)

    def close(self):
        self.freeze(False)
        self.process.stdin.close()
        self.process.wait()


class Profile:
    def __init__(self, pkbpf, *options):
        with open("err.txt", "w", encoding="utf-8") as errors:
            self.process = subprocess.Popen(
                [pkbpf, "-v", "-e", "blockio", "--full", "-o", "report.json", "-o", "report.txt", *options],
                stdin=subprocess.DEVNULL, stderr=errors)
        wait_for(lambda: "profiling since" in self.errors() or self.process.poll() is not None, "pkbpf profiles")

    @staticmethod
    def errors():
        with open("err.txt", encoding="utf-8") as file:
            return file.read()

    def stop(self, may_lose=False):
        self.process.send_signal(2)
        check(self.process.wait() == 0, f"pkbpf ends well: {self.errors()[-300:]}")
        report = read_report("report.json")
        with open("report.txt", encoding="utf-8") as file:
            report["printed"] = file.read()
        lost = [counter for counter in report["counters"] if counter["name"] == "SLOW_IO_LOST"]
        check(may_lose or not lost, f"no slow request is lost: {lost}")
        report["lost"] = bool(lost)
        return report


def listed(report, writer):
    return [request for request in report["slow_requests"] if request["device"] == writer.name]


def check_request(request, write, writer, operation="write"):
    what = f"sector {write['sector']}, {request['total_ns'] / MS:.3f} ms"
    frames = [frame["name"] for frame in request["frames"]]
    check(request["pid"] == writer.process.pid and request["comm"] == "slow_writes", f"{what}: whose it is: {request}")
    check("tid" not in write or request["tid"] == write["tid"], f"{what}: thread {request['tid']} of {write}")
    check(request["operation"] == operation and request["bytes"] == write["size"], f"{what}: {request} of {write}")
    check(request["queue_ns"] + request["device_ns"] == request["total_ns"], f"{what}: its parts are the whole")
    check(write["least_ns"] <= request["total_ns"] <= write.get("most_ns", request["total_ns"]), f"{what}: of {write}")
    check(f"write_of_{write['who']}" in frames, f"{what}: {frames} of {write['who']}")


def check_list(report, writer, threshold_ns, top):
    """Of all writes the slowest, if they took long enough, slowest first."""
    requests = listed(report, writer)
    totals = [request["total_ns"] for request in report["slow_requests"]]
    check(totals == sorted(totals, reverse=True) and len(totals) <= top, f"slowest first, at most {top}: {totals}")
    check(all(total >= threshold_ns for total in totals), f"all of {threshold_ns} ns or longer: {totals}")
    check(len({request["sector"] for request in requests}) == len(requests), "each once")
    for request in requests:
        check(request["sector"] in writer.done, f"{request['sector']} was written")
        check_request(request, writer.done[request["sector"]], writer)
    # Others on this machine may have been slower.
    bound_ns = max(threshold_ns, totals[-1] if len(totals) == top else 0)
    sectors = {request["sector"] for request in requests}
    missing = [write for sector, write in writer.done.items() if write["least_ns"] > bound_ns and sector not in sectors]
    check(not missing, f"all that took longer than {bound_ns} ns: {missing}")
    return requests


def check_threshold(pkbpf, writer):
    profile = Profile(pkbpf, "--slow-io", "50ms", "--top", "100")
    for i in range(40):
        writer.write("main" if i % 2 else "thread", 4096 * (1 + i % 5))
        if i % 8 == 3:
            writer.write_slowly("main", 4096 * (2 + i), 60 * MS)
            writer.write_slowly("thread", 4096 * (3 + i), 80 * MS)
    report = profile.stop()
    requests = check_list(report, writer, 50 * MS, 100)
    check(len(requests) >= 10, f"{len(requests)} requests of 10 that were slow")
    check(all(request["flags"] == ["sync"] for request in requests), f"{[request['flags'] for request in requests]}")
    check("\nSlowest block I/O requests (" in report["printed"], "the text shows them")
    check("write_of_thread" in report["printed"].split("Slowest block I/O requests")[1], "and their stacks")
    times = [request["at_ns"] for request in sorted(requests, key=lambda request: request["sector"])]
    check(times == sorted(times) and 0 <= times[0] and times[-1] < report["time"]["duration_ns"], f"in order: {times}")


def check_top(pkbpf, writer):
    """The bound rises with the slowest: with each write slower than those before, and with each one faster."""
    profile = Profile(pkbpf, "--slow-io", "1ms", "--top", "4")
    for length_ms in (*range(20, 120, 10), *range(115, 25, -10)):
        writer.write_slowly("main", 4096, length_ms * MS)
    report = profile.stop()
    check_list(report, writer, 1 * MS, 4)
    check(len(report["slow_requests"]) == 4, f"{len(report['slow_requests'])} requests of 4")


def check_all(pkbpf, writer):
    """Every request is slow: the list is that of the slowest all the same, and agrees with the sums."""
    profile = Profile(pkbpf, "--slow-io", "0")
    subprocess.run(["fio", "--name=load", f"--filename={writer.device}", "--direct=1", "--ioengine=libaio",
                    "--iodepth=32", "--rw=randread", "--bs=4k", "--number_ios=20000", "--norandommap", "--minimal"],
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    # All at once, before anything is known of them: a reader that does not get a CPU may be too late for some.
    report = profile.stop(may_lose=True)
    slowest = report["slow_requests"]
    check(len(slowest) == 10, f"{len(slowest)} requests of 10")
    longest_ns = max(operation["device_time"]["max_ns"] for device in report["devices"] if
                     not device["requests_of_other_devices"] for operation in device["operations"])
    if report["lost"]:
        not_checked("the slowest request of all is listed: some were lost, too many came at once")
    else:
        check(slowest[0]["total_ns"] >= longest_ns,
              f"the slowest took {slowest[0]['total_ns']} ns, the longest {longest_ns} ns")


def check_none(pkbpf, writer):
    profile = Profile(pkbpf, "--slow-io", "none")
    writer.write_slowly("main", 4096, 20 * MS)
    report = profile.stop()
    check(report["slow_requests"] == [] and "Slowest block" not in report["printed"], "no list when none is wanted")


def check_unfinished(pkbpf, writer):
    profile = Profile(pkbpf, "--slow-io", "50ms")
    write = writer.begin_slowly("main", 8192)
    time.sleep(0.1)
    write["least_ns"] = time.monotonic_ns() - write["seen_ns"]
    report = profile.stop()
    writer.freeze(False)
    writer.end(write)
    requests = listed(report, writer)
    check(len(requests) == 1, f"one request: {requests}")
    for request in requests:
        check(request["flags"] == ["sync", "unfinished"], f"it is unfinished: {request['flags']}")
        check_request(request, write, writer)
    check("> " in report["printed"].split("Slowest block I/O requests")[-1], "the text says so")


def main():
    pkbpf, program, device, folder, name = sys.argv[1:]
    writer = Writer(program, device, folder)
    try:
        globals()["check_" + name](pkbpf, writer)
    finally:
        writer.close()


main()
