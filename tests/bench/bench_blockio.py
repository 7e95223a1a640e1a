#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What tracing block I/O costs: 4k random reads of a loop device in memory, one at a time, beside each tracer.

usage: bench_blockio.py PKBPF [ROUNDS [SECONDS [think|hash] [apart [awake]] [disk] [TRACER…]]]   as root, with fio

One fio reads all the time. In each turn a tracer is started, has settled, and watches for SECONDS; as long is measured
without one before and after, and the loss is to the mean of those two. Turns of all tracers alternate, so that other load
hits all alike; the turns of "nothing" show what the method itself scatters by. Requests are counted by the device
(/sys/block), CPU time is that of fio and of the device's worker together, since the tracers' programs run in both. fio and
the workers have one CPU, tracers have the others. With the word "apart" the workers have another CPU than fio, so that each
request wakes a CPU twice: a third of the requests, and caches that are colder; with "awake" loops of the idle class keep both
CPUs from idling. With "disk" a file in the working folder is read, wherever that lies.

A reader that does nothing else makes 93,000 requests per second. With "think" it spends 20 us of CPU time between two, with
which there are 32,000 (fio spins when asked for a pause shorter than it can sleep); with "hash" it verifies the SHA-256 of
what was read, 12 us, which leaves caches colder.

TRACER…: the path of another build of pkbpf, or of nothing pkbpf pkbpf-kernel pkbpf-user pkbpf-cpu biolatency perf (all that are here but the last).
"""
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

MODES = ("think", "hash", "apart", "awake", "disk")
READER = {"think": ["--thinktime=20"], "hash": ["--verify=sha256", "--verify_state_save=0"]}
WORKER_MASK = "/sys/devices/virtual/workqueue/cpumask"


def quartiles(values):
    low, middle, high = statistics.quantiles(values, n=4) if len(values) > 1 else values * 3
    return f"{middle:6.1f} %  (quartiles {low:.1f} to {high:.1f}; all {min(values):.1f} to {max(values):.1f})"


class Load:
    """A loop device in memory or a file on a disk, and what reads it."""

    def __init__(self, folder, modes):
        self.folder, self.device, self.reader, self.disk, self.loops = folder, None, None, "disk" in modes, []
        if not self.disk:
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300m", "none", folder], check=True)
        image = tempfile.mkstemp(dir=".")[1] if self.disk else folder + "/image"
        with open(image, "wb") as out:
            for _ in range(256):
                out.write(os.urandom(1 << 20))
            os.fsync(out.fileno())
        if self.disk:
            self.device, number = image, os.stat(image).st_dev
            self.stat = f"/sys/dev/block/{os.major(number)}:{os.minor(number)}/stat"
        else:
            self.device = subprocess.run(["losetup", "-f", "--show", image], check=True, capture_output=True, text=True).stdout.strip()
            self.stat = f"/sys/block/{os.path.basename(self.device)}/stat"
        self.cpu = max(os.sched_getaffinity(0))
        self.workers = min(os.sched_getaffinity(0)) if "apart" in modes else self.cpu
        with open(WORKER_MASK) as mask:
            self.mask = mask.read()
        with open(WORKER_MASK, "w") as mask:
            mask.write(f"{1 << self.workers:x}\n")
        fio = ["fio", "--minimal", "--name=read", "--filename=" + self.device, "--direct=1", "--bs=4k", "--ioengine=psync",
               "--size=256m", "--thread", f"--cpus_allowed={self.cpu}"]
        for mode in modes:
            fio += READER.get(mode, [])
        if "hash" in modes:
            subprocess.run([*fio, "--rw=write", "--do_verify=0"], check=True, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL)
        self.reader = subprocess.Popen([*fio, "--rw=randread", "--time_based", "--runtime=100000", "--randrepeat=0"],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        for cpu in {self.cpu, self.workers} if "awake" in modes else ():
            self.loops.append(subprocess.Popen(["taskset", "-c", str(cpu), "chrt", "-i", "0", "sh", "-c", "while :; do :; done"]))
        time.sleep(2)

    def close(self):
        for loop in self.loops:
            loop.kill()
            loop.wait()
        if self.reader:
            self.reader.kill()
            self.reader.wait()
            with open(WORKER_MASK, "w") as mask:
                mask.write(self.mask)
        if self.disk:
            os.unlink(self.device)
            return
        if self.device:
            subprocess.run(["losetup", "-d", self.device], check=False)
        subprocess.run(["umount", self.folder], check=False)

    def requests(self):
        with open(self.stat) as stat:
            return int(stat.read().split()[0])

    def busy(self):
        """Seconds that the load's CPUs were idle, negative."""
        idle = 0
        with open("/proc/stat") as stat:
            for line in stat:
                if line.split()[0] in (f"cpu{self.cpu}", f"cpu{self.workers}"):
                    ticks = [int(word) for word in line.split()[1:]]
                    idle += ticks[3] + ticks[4]
        return -idle / os.sysconf("SC_CLK_TCK")

    def measure(self, seconds):
        """Requests per second, microseconds of CPU time per request."""
        begin, requests, busy = time.monotonic(), self.requests(), self.busy()
        time.sleep(seconds)
        requests, passed = self.requests() - requests, time.monotonic() - begin
        cpus = len({self.cpu, self.workers})
        return requests / passed, (cpus * passed + self.busy() - busy) * 1e6 / max(requests, 1)


class Tracer:
    def __init__(self, name, pkbpf, folder, others):
        out = ["-o", folder + "/out.txt"]
        self.ready = None
        self.command = {
            "nothing": ["sleep", "1000"],
            "pkbpf": [pkbpf, "-v", "-e", "blockio", *out],
            "pkbpf-kernel": [pkbpf, "-v", "-K", "-e", "blockio", *out],
            "pkbpf-user": [pkbpf, "-v", "-U", "-e", "blockio", *out],
            "pkbpf-cpu": [pkbpf, "-v", "-e", "cpu,blockio", *out],
            "biolatency": ["biolatency", "1000"],
            "perf": ["perf", "record", "-q", "-a", "-g", "-e", "block:block_rq_issue", "-e", "block:block_rq_complete",
                     "-o", folder + "/perf.data"],
        }.get(name) or [name, "-v", "-e", "blockio", *out]
        self.command = ["taskset", "-c", others, *self.command]
        self.is_pkbpf, self.process = "-v" in self.command, None

    def start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE if self.is_pkbpf else subprocess.DEVNULL, text=True)
        if self.is_pkbpf:
            for line in self.process.stderr:
                if "profiling since" in line:
                    break
            time.sleep(0.3)
        else:
            time.sleep(1)
        if self.process.poll() is not None:
            raise SystemExit(f"{' '.join(self.command)}: ended")

    def stop(self):
        self.process.send_signal(2)
        if self.is_pkbpf:
            self.process.stderr.read()
        self.process.wait()
        time.sleep(0.2)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what was set on the machine is set back
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 15
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 1.5
    words = sys.argv[4:]
    modes = [word for word in words if word in MODES]
    names = [word for word in words if word not in MODES] or [name for name in ("nothing", "pkbpf", "biolatency") if shutil.which(name) or name in ("nothing", "pkbpf")]
    folder = tempfile.mkdtemp()
    cpus = sorted(os.sched_getaffinity(0))
    others = ",".join(map(str, cpus[:-1] or cpus))
    loss, more, base = {name: [] for name in names}, {name: [] for name in names}, []
    load = None
    try:
        load = Load(folder, modes)
        tracers = {name: Tracer(name, os.path.realpath(sys.argv[1]), folder, others) for name in names}
        before = load.measure(seconds)
        for _ in range(rounds):
            for name in random.sample(names, len(names)):
                tracers[name].start()
                during = load.measure(seconds)
                tracers[name].stop()
                after = load.measure(seconds)
                base.append(((before[0] + after[0]) / 2, (before[1] + after[1]) / 2))
                loss[name].append(100 * (1 - during[0] / base[-1][0]))
                more[name].append(100 * (during[1] / base[-1][1] - 1))
                before = after
    finally:
        if load:
            load.close()
        os.path.isfile(folder + "/out.txt") and os.unlink(folder + "/out.txt")
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{statistics.median(b[0] for b in base):.0f} IOPS and {statistics.median(b[1] for b in base):.2f} us of CPU time per "
          f"request without a tracer, {rounds} turns of {seconds:g} s")
    for name in names:
        print(f"{name:13} fewer IOPS {quartiles(loss[name])}")
        print(f"{'':13} more CPU   {quartiles(more[name])}")


main()
