# SPDX-License-Identifier: BSD-2-Clause
"""Healthy twins: programs of the other groups, mended. And waits that only look like a bottleneck."""
import os
import signal
import subprocess
import time

from servers import java, postgres
from zoo import healthy, scenario

TWINS = """buffered_reader buffered_writer cached_config event_wait signalled short_hold own_counters group_commit kept_buffer freed
readers own_files fast_pipe fast_backend cached_reader brief_flock brief_semaphore mapped_once one_process""".split()


def twin(name):
    def run(zoo):
        yield ["-p", zoo.plant("mended", name).pid]
    run.__name__ = f"mended_{name}"
    healthy(seconds=3)(run)


for each in TWINS:
    twin(each)


@healthy(seconds=3)
def mended_python_lock(zoo):
    yield ["-p", zoo.script("python3", "brief.py", """
import threading, time
lock, count = threading.Lock(), 0
def worker():
    global count
    while True:
        with lock:
            count += 1
        time.sleep(0.01)
for _ in range(6):
    threading.Thread(target=worker).start()
""").pid]


@healthy(seconds=3)
def mended_python_gil(zoo):
    """processes in place of threads"""
    yield ["-p", zoo.script("python3", "processes.py", """
import multiprocessing, time
def work(_):
    while True:
        sum(range(20000)); time.sleep(0.005)
if __name__ == "__main__":
    for i in range(2):
        multiprocessing.Process(target=work, args=(i,)).start()
    time.sleep(100)
""").pid, "--children"]


@healthy(seconds=3)
def mended_python_storm(zoo):
    yield ["-p", zoo.script("python3", "in_process.py", """
import os, time
while True:
    os.listdir("/etc"); time.sleep(0.005)
""").pid]


@healthy(seconds=3)
def mended_sqlite(zoo):
    """one transaction for many rows"""
    yield ["-p", zoo.script("python3", "batches.py", f"""
import sqlite3, time
base = sqlite3.connect("{zoo.disk}/batches.db")
base.execute("create table t(a)")
while True:
    with base:
        base.executemany("insert into t values (?)", ((i,) for i in range(5000)))
    time.sleep(0.5)
""").pid]


@healthy(seconds=3)
def mended_lookup(zoo):
    """a name that is answered from a file"""
    yield ["-p", zoo.script("python3", "localhost.py", """
import socket, time
while True:
    socket.getaddrinfo("localhost", 80); time.sleep(0.01)
""").pid]


@healthy(seconds=3)
def mended_reconnect(zoo):
    yield ["-p", zoo.script("python3", "connected.py", """
import socket, threading, time
server = socket.create_server(("127.0.0.1", 0))
def serve():
    while True:
        server.accept()[0].close()
threading.Thread(target=serve, daemon=True).start()
while True:
    socket.create_connection(server.getsockname()).close(); time.sleep(0.05)
""").pid]


@healthy(seconds=3)
def mended_node(zoo):
    yield ["-p", zoo.script("node", "timer.js", "setInterval(() => { let s = 0; for (let i = 0; i < 1e5; i++) s += i; }, 10);").pid]


@healthy(seconds=3)
def consumer_of_a_pipe(zoo):
    """waits for what a paced producer writes"""
    yield ["--", "sh", "-c", "(for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 0.2; echo $i; done) | cat"]


@healthy(seconds=3)
def paced_shell(zoo):
    yield ["-p", zoo.start(["bash", "-c", "while :; do sleep 0.1; done"]).pid, "--children"]


@healthy(seconds=3)
def short_build(zoo):
    """compilers are short-lived, and the work"""
    zoo.need("gcc")
    for i in range(40):
        with open(f"{zoo.work}/f{i}.c", "w", encoding="utf-8") as file:
            file.write(f"int f{i}(int x) {{ return x + {i}; }}\n")
    yield ["--", "sh", "-c", f"cd {zoo.work} && for f in f*.c; do gcc -O2 -c $f; done"]


@healthy(seconds=3)
def mended_python_reader(zoo):
    yield ["-p", zoo.script("python3", "reader.py", """
import time
while True:
    open("/usr/bin/git", "rb").read(); time.sleep(0.01)
""").pid]


@healthy(seconds=3)
def mended_python_writer(zoo):
    yield ["-p", zoo.script("python3", "writer.py", """
import time
with open("/dev/null", "w") as out:
    while True:
        for i in range(2000):
            out.write(str(i))
        time.sleep(0.01)
""").pid]


def java_counter(zoo, name, before, take, give):
    return java(zoo, name, f"""
public class {name} {{
    static int count; {before}
    public static void main(String[] arguments) {{
        for (int i = 0; i < 6; i++)
            new Thread(() -> {{ try {{ for (;;) {{ {take} count++; {give} Thread.sleep(10); }} }} catch (Exception e) {{ }} }}).start();
    }}
}}
""").pid


@healthy(seconds=3)
def mended_java_monitor(zoo):
    yield ["-p", java_counter(zoo, "Brief", "static final Object lock = new Object();", "synchronized (lock) {", "}")]


@healthy(seconds=3)
def mended_java_lock(zoo):
    yield ["-p", java_counter(zoo, "Short", "static final java.util.concurrent.locks.ReentrantLock lock = new java.util.concurrent.locks.ReentrantLock();",
                              "lock.lock();", "lock.unlock();")]


@healthy(seconds=3)
def mended_postgres(zoo):
    """clients that update rows of their own, at a pace"""
    database = postgres(zoo)
    database.sql("create table stock(item int primary key, count int); insert into stock select i, 0 from generate_series(1, 1000) i")
    with open(f"{zoo.work}/own.sql", "w", encoding="utf-8") as file:
        file.write("update stock set count = count + 1 where item = :client_id + 1;\n")
    os.chmod(f"{zoo.work}/own.sql", 0o644)
    database.bench("-c", 4, "-R", 20, "-T", 20, "-f", f"{zoo.work}/own.sql")
    time.sleep(1)
    yield ["-p", open(f"{zoo.disk}/data/postmaster.pid", encoding="utf-8").readline().strip()]


@healthy(seconds=3)
def ticker(zoo):
    """waits for a condition that ends by time-out, by design"""
    yield ["-p", zoo.script("python3", "ticker.py", """
import threading
event = threading.Event()
while True:
    event.wait(0.05)
""").pid]


@healthy(seconds=3)
def retry_queue(zoo):
    """a name that sounds like failures"""
    yield ["-p", zoo.script("python3", "queue.py", """
import time
def run_retry_queue():
    time.sleep(0.2)
while True:
    run_retry_queue()
""").pid]


@healthy(seconds=3)
def long_poll(zoo):
    """a server that sends when something happens"""
    yield ["-p", zoo.script("python3", "events.py", """
import os, socket, time
ours, theirs = socket.socketpair()
if os.fork() == 0:
    while True:
        time.sleep(0.3); theirs.send(b"news")
while True:
    ours.recv(100)
""").pid]


@healthy(seconds=3)
def paced_producer(zoo):
    """wakes others, and waits for the clock"""
    yield ["-p", zoo.script("python3", "producer.py", """
import threading, time
ready = threading.Condition()
def consumer():
    while True:
        with ready:
            ready.wait()
for _ in range(4):
    threading.Thread(target=consumer, daemon=True).start()
while True:
    with ready:
        ready.notify_all()
    time.sleep(0.02)
""").pid]


@healthy(seconds=3)
def one_program(zoo):
    zoo.need("gzip")
    yield ["--", "sh", "-c", "exec gzip -9 -c /usr/bin/git >/dev/null"]


# ---- planted ----

@scenario("waits", "stopped", rules=("stopped",), seconds=3)
def stopped(zoo):
    process = zoo.plant("mended", "buffered_reader")
    os.kill(process.pid, signal.SIGSTOP)
    yield ["-p", process.pid]
    zoo.prove(open(f"/proc/{process.pid}/stat").read().rsplit(")", 1)[1].split()[0] == "T", "it is stopped")


@scenario("waits", "lookups? of names", rules=("name_lookup",), seconds=6)
def lookups_time_out(zoo):
    """the server that it asks does not answer"""
    pid = zoo.start(["unshare", "-n", "-m", "python3", "-c", """
import ctypes, os, socket, subprocess
subprocess.run(["ip", "link", "set", "lo", "up"])
open("/tmp/resolv.zoo", "w").write("nameserver 127.0.0.1\\noptions timeout:1 attempts:1\\n")
subprocess.run(["mount", "--bind", "/tmp/resolv.zoo", "/etc/resolv.conf"])
deaf = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
deaf.bind(("127.0.0.1", 53))
while True:
    try:
        socket.getaddrinfo("shop.example.com", 80)
    except OSError:
        pass
"""]).pid
    time.sleep(2)
    yield ["-p", pid]


@scenario("waits", "SQLite", "InvokeBusyHandler|usleep", rules=("lock_bound",), seconds=4)
def sqlite_busy(zoo):
    pid = zoo.script("python3", "busy.py", f"""
import sqlite3, threading, time
path = "{zoo.disk}/busy.db"
base = sqlite3.connect(path)
base.execute("create table t(a)"); base.commit()
def holder():
    base = sqlite3.connect(path, isolation_level=None)
    while True:
        base.execute("begin immediate"); base.execute("insert into t values (1)")
        time.sleep(0.4)
        base.execute("commit"); time.sleep(0.01)
threading.Thread(target=holder, daemon=True).start()
writer = sqlite3.connect(path, timeout=30, isolation_level=None)
while True:
    writer.execute("insert into t values (2)")
""").pid
    yield ["-p", pid]


@scenario("waits", "reader of a pipe", "read by xz", rules=("peer_bound", "cpu_bound"), seconds=4)
def one_slow_neighbour(zoo):
    """xz is slower than what writes to it"""
    writer = zoo.start(["sh", "-c", "cat /dev/urandom | xz -6 > /dev/null"])
    time.sleep(0.5)
    pid = subprocess.run(["pgrep", "-P", str(writer.pid), "cat"], capture_output=True, text=True, check=True).stdout.strip()
    yield ["-p", pid]


def java_churn(zoo, name, burst, *options):
    return java(zoo, name, f"""
public class {name} {{
    static final Object[] live = new Object[200000];
    static void churn(int seed) {{
        java.util.Random random = new java.util.Random(seed);
        for (;;) {{
            live[random.nextInt(live.length)] = new byte[200 + random.nextInt(400)];
            if (random.nextInt({burst}) == 0)
                java.util.concurrent.locks.LockSupport.parkNanos(2000000);
        }}
    }}
    public static void main(String[] arguments) {{
        for (int i = 0; i < 4; i++) {{
            int seed = i;
            new Thread(() -> churn(seed)).start();
        }}
    }}
}}
""", *options).pid


@scenario("waits", "for the Java VM", "java", rules=("java_pause",))
def java_pause(zoo):
    """the heap is hardly larger than what is kept: it is collected all the time"""
    pid = java_churn(zoo, "Full", 1000, "-Xmx110m", "-XX:+UseSerialGC")
    yield ["-p", pid]
    text = subprocess.run(["jstat", "-gcutil", str(pid)], capture_output=True, text=True).stdout
    zoo.prove(float(text.split()[-1]) > 1, "jstat: collections take time")


@healthy()
def mended_java_pause(zoo):
    yield ["-p", java_churn(zoo, "Roomy", 20, "-Xms600m", "-Xmx600m", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC")]
