# SPDX-License-Identifier: BSD-2-Clause
"""Limited by CPUs"""
import os
import time

from zoo import cpu_seconds, delay_seconds, field, scenario


def usage(pid):
    return cpu_seconds(pid), time.monotonic(), all_delays(pid)


def all_delays(pid):
    """run-queue time of all threads"""
    return sum(int(open(f"/proc/{pid}/task/{tid}/schedstat").read().split()[1]) for tid in os.listdir(f"/proc/{pid}/task")) / 1e9


def share(pid, before):
    """Of a CPU, were the machine idle"""
    return (cpu_seconds(pid) - before[0] + all_delays(pid) - before[2]) / (time.monotonic() - before[1])


@scenario("cpu", "score_matrix", rules=("cpu_bound", "healthy"))
def hot_function(zoo):
    pid = zoo.plant("cpu", "hot_function").pid
    before = usage(pid)
    yield ["-p", pid]
    zoo.prove(share(pid, before) > 0.5, "it uses a CPU")


@scenario("cpu", "limit", r"0\.20? CPU", rules=("cpu_limit",), short=True)
def cgroup_limit(zoo):
    group = zoo.cgroup("cpu", "zoo-limit")
    if os.path.exists(f"{group}/cpu.max"):
        zoo.write(f"{group}/cpu.max", "20000 100000")
    else:
        zoo.write(f"{group}/cpu.cfs_quota_us", "20000")
    pid = zoo.plant("cpu", "hot_function", cgroup=group).pid
    yield ["-p", pid]
    throttled = [line for line in open(f"{group}/cpu.stat") if line.startswith("nr_throttled")]
    zoo.prove(throttled and int(throttled[0].split()[1]) > 10, "cpu.stat: nr_throttled")


@scenario("cpu", "server", "rival", rules=("cpu_starved", "queue_bound"))
def pinned_beside_rival(zoo):
    zoo.start(["taskset", "-c", "0", zoo.build("cpu", "rival")])
    server = zoo.start(["taskset", "-c", "0", zoo.build("cpu", "server")])
    time.sleep(0.3)
    before = delay_seconds(server.pid)
    yield ["-p", server.pid]
    zoo.prove(delay_seconds(server.pid) - before > 0.4, "schedstat: it waits for its CPU")


@scenario("cpu", "wait_for_batch", "yield", rules=("spin",), short=True)
def yield_spin(zoo):
    pid = zoo.plant("cpu", "yield_spin").pid
    before = usage(pid)
    yield ["-p", pid]
    zoo.prove(share(pid, before) > 0.4, "it uses a CPU")


@scenario("cpu", "poll_mailbox", r"\bpoll\b", rules=("spin", "syscall_bound"))
def poll_spin(zoo):
    pid = zoo.plant("cpu", "poll_spin").pid
    before = usage(pid)
    yield ["-p", pid]
    zoo.prove(share(pid, before) > 0.4, "it uses a CPU")


@scenario("cpu", "spin_until_ready", rules=("cpu_bound", "spin", "healthy"))
def busy_wait(zoo):
    pid = zoo.plant("cpu", "busy_wait").pid
    before = usage(pid)
    yield ["-p", pid]
    zoo.prove(share(pid, before) > 0.4, "it uses a CPU")


@scenario("cpu", "next_char|parse_records", r"\bread\b", rules=("syscall_bound",), short=True)
def byte_reader(zoo):
    data = f"{zoo.disk}/records"
    open(data, "w").write("0123456789\n" * 100000)
    pid = zoo.plant("cpu", "byte_reader", data).pid
    before = {key: field(pid, "io", key) for key in ("rchar:", "syscr:")}
    yield ["-p", pid]
    bytes_, calls = field(pid, "io", "rchar:") - before["rchar:"], field(pid, "io", "syscr:") - before["syscr:"]
    zoo.prove(calls > 100000 and bytes_ < 2 * calls, "/proc/PID/io: a byte per read")


@scenario("cpu", "put_char|write_records", r"\bwrite\b", rules=("syscall_bound",))
def byte_writer(zoo):
    pid = zoo.plant("cpu", "byte_writer", "/dev/shm/zoo-out").pid
    zoo.undo.append(lambda: os.unlink("/dev/shm/zoo-out"))
    before = {key: field(pid, "io", key) for key in ("wchar:", "syscw:")}
    yield ["-p", pid]
    bytes_, calls = field(pid, "io", "wchar:") - before["wchar:"], field(pid, "io", "syscw:") - before["syscw:"]
    zoo.prove(calls > 100000 and bytes_ < 2 * calls, "/proc/PID/io: a byte per write")


@scenario("cpu", "many_threads", rules=("cpu_starved",))
def too_many_threads(zoo):
    pid = zoo.plant("cpu", "many_threads", 4 * os.cpu_count()).pid
    yield []
    pressure = open("/proc/pressure/cpu").read().split()[1] if os.path.exists("/proc/pressure/cpu") else None
    zoo.prove(pressure is None or float(pressure.split("=")[1]) > 5, "/proc/pressure/cpu")
    zoo.prove(cpu_seconds(pid) > 2, "they compute")


@scenario("cpu", "exchange", rules=("handover",))
def pipe_pingpong(zoo):
    pid = zoo.plant("cpu", "pipe_pingpong").pid
    before = field(pid, "status", "voluntary_ctxt_switches")
    yield ["--comm", "pipe_pingpong"]
    zoo.prove(field(pid, "status", "voluntary_ctxt_switches") - before > 20000, "tens of thousands of switches")


@scenario("cpu", "ask_partner", rules=("handover",))
def semaphore_pingpong(zoo):
    pid = zoo.plant("locks", "handover").pid
    before = field(pid, "status", "voluntary_ctxt_switches")
    yield ["-p", pid]
    zoo.prove(field(pid, "status", "voluntary_ctxt_switches") - before > 20000, "tens of thousands of switches")


@scenario("cpu", "nightly", rules=("short_lived",))
def process_storm(zoo):
    zoo.script("bash", "nightly", """
while :; do
    echo "a:b:c" | cut -d: -f2 >/dev/null
done
""", executable="/bin/bash")
    forks = lambda: next(int(line.split()[1]) for line in open("/proc/stat") if line.startswith("processes"))
    before = forks()
    yield []
    zoo.prove(forks() - before > 300, "/proc/stat: processes")


@scenario("cpu", "send_token", rules=("handover",))
def socket_pingpong(zoo):
    pid = zoo.plant("cpu", "socket_pingpong").pid
    before = field(pid, "status", "voluntary_ctxt_switches")
    yield ["--comm", "socket_pingpong"]
    zoo.prove(field(pid, "status", "voluntary_ctxt_switches") - before > 20000, "tens of thousands of switches")


@scenario("cpu", "look_for_message", "recv", rules=("spin", "syscall_bound"))
def recv_spin(zoo):
    pid = zoo.plant("cpu", "recv_spin").pid
    before = usage(pid)
    yield ["-p", pid]
    zoo.prove(share(pid, before) > 0.4, "it uses a CPU")


@scenario("cpu", "check_config", "stat", rules=("syscall_bound",))
def stat_storm(zoo):
    pid = zoo.plant("cpu", "stat_storm").pid
    before = usage(pid)
    yield ["-p", pid]
    zoo.prove(share(pid, before) > 0.4, "it uses a CPU")


@scenario("cpu", "update_stats", "spin", rules=("spin", "lock_bound"))
def spin_lock(zoo):
    pid = zoo.plant("cpu", "spin_lock").pid
    before = usage(pid)
    yield ["-p", pid]
    zoo.prove(share(pid, before) > 0.8, "it uses CPUs")


@scenario("cpu", "check_for_updates|sleep_poll", "polls", rules=("sleep_bound", "spin"))
def sleep_poll(zoo):
    pid = zoo.plant("cpu", "sleep_poll").pid
    before = field(pid, "status", "voluntary_ctxt_switches")
    yield ["-p", pid]
    zoo.prove(field(pid, "status", "voluntary_ctxt_switches") - before > 4000, "a thousand sleeps per second")


@scenario("cpu", "collect", rules=("short_lived",))
def python_storm(zoo):
    zoo.script("/usr/bin/python3", "collect.py", """
import subprocess
while True:
    subprocess.run(["/bin/true"])
""")
    forks = lambda: next(int(line.split()[1]) for line in open("/proc/stat") if line.startswith("processes"))
    before = forks()
    yield []
    zoo.prove(forks() - before > 300, "/proc/stat: processes")


@scenario("cpu", "mutex", "update_cache", rules=("lock_bound",))
def two_reasons(zoo):
    """a lock takes most of the time, a hot function the rest: the larger comes first"""
    pid = zoo.plant("locks", "lock_and_work").pid
    yield ["-p", pid]
    waiting = sum("futex" in open(f"/proc/{pid}/task/{tid}/stack").read() for tid in os.listdir(f"/proc/{pid}/task"))
    zoo.prove(waiting >= 4, "most threads wait in a futex")
