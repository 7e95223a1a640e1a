# SPDX-License-Identifier: BSD-2-Clause
"""Limited by memory"""
import os
import time

from zoo import field, scenario


def faults(pid):
    return int(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[7])


@scenario("memory", "remember_session", rules=("memory_grows",), short=True, seconds=5)
def leak(zoo):
    pid = zoo.plant("memory", "leak").pid
    before = field(pid, "status", "VmRSS:")
    yield ["-p", pid]
    zoo.prove(field(pid, "status", "VmRSS:") - before > 20 << 10, "VmRSS grows")


@scenario("memory", "munmap|given back|returned", "render_frame", rules=("fault_storm",))
def map_churn(zoo):
    pid = zoo.plant("memory", "map_churn").pid
    before = faults(pid)
    yield ["-p", pid]
    zoo.prove(faults(pid) - before > 50000, "/proc/PID/stat: minor faults")


@scenario("memory", "madvise", "fill_arena", rules=("fault_storm",))
def madvise_churn(zoo):
    pid = zoo.plant("memory", "madvise_churn").pid
    before = faults(pid)
    yield ["-p", pid]
    zoo.prove(faults(pid) - before > 50000, "/proc/PID/stat: minor faults")


def oom_kills(group):
    file = f"{group}/memory.events" if os.path.exists(f"{group}/memory.events") else f"{group}/memory.oom_control"
    return next(int(line.split()[1]) for line in open(file) if line.startswith("oom_kill "))


@scenario("memory", "oom_victim", "zoo-oom", "32(.0)? MiB", rules=("out_of_memory",))
def oom_kill(zoo):
    group = zoo.cgroup("memory", "zoo-oom")
    zoo.write(f"{group}/memory.max" if os.path.exists(f"{group}/memory.max") else f"{group}/memory.limit_in_bytes", str(32 << 20))
    victim = zoo.build("memory", "oom_victim")
    zoo.start(["bash", "-c", f"while :; do {victim} 500000; done"], cgroup=group)
    time.sleep(1)
    before = oom_kills(group)
    yield []
    zoo.prove(oom_kills(group) > before + 1, "the kernel killed some")


@scenario("memory", "grow", "leaky_cache", rules=("memory_grows",), seconds=5)
def python_leak(zoo):
    pid = zoo.script("python3", "leak.py", """
import time
cache = []
def leaky_cache():
    cache.append(bytearray(200_000))
while True:
    leaky_cache()
    time.sleep(0.01)
""", executable="/usr/bin/python3").pid
    before = field(pid, "status", "VmRSS:")
    yield ["-p", pid]
    zoo.prove(field(pid, "status", "VmRSS:") - before > 20 << 10, "VmRSS grows")


@scenario("memory", "munmap|given back|returned", "build_reply", rules=("fault_storm",))
def malloc_churn(zoo):
    pid = zoo.plant("memory", "malloc_churn").pid
    before = faults(pid)
    yield ["-p", pid]
    zoo.prove(faults(pid) - before > 20000, "/proc/PID/stat: minor faults")


@scenario("memory", "fault", "modify_heap", rules=("fault_storm",))
def fork_snapshot(zoo):
    pid = zoo.plant("memory", "fork_snapshot").pid
    before = faults(pid)
    yield ["-p", pid]
    zoo.prove(faults(pid) - before > 50000, "/proc/PID/stat: minor faults")


@scenario("memory", "look_up", rules=("major_faults", "memory_limit"))
def thrash(zoo):
    data = zoo.data_file("data", 128)
    group = zoo.cgroup("memory", "zoo-thrash")
    zoo.write(f"{group}/memory.max" if os.path.exists(f"{group}/memory.max") else f"{group}/memory.limit_in_bytes", str(32 << 20))
    pid = zoo.plant("memory", "thrash", data, cgroup=group).pid
    time.sleep(1)
    major = lambda: int(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[9])
    before = major()
    yield ["-p", pid]
    zoo.prove(major() - before > 200, "/proc/PID/stat: major faults")


@scenario("memory", "grow", "remember|node", rules=("memory_grows",), seconds=5)
def node_leak(zoo):
    open(f"{zoo.work}/leak.js", "w").write("""
const sessions = [];
function remember() { sessions.push(Buffer.alloc(200000, 1)); }
setInterval(remember, 10);
""")
    zoo.need("node")
    pid = zoo.start(["node", f"{zoo.work}/leak.js"]).pid
    time.sleep(1)
    before = field(pid, "status", "VmRSS:")
    yield ["-p", pid]
    zoo.prove(field(pid, "status", "VmRSS:") - before > 20 << 10, "VmRSS grows")
