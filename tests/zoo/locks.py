# SPDX-License-Identifier: BSD-2-Clause
"""Limited by locks"""
import os
import subprocess
import time

from servers import java, postgres
from zoo import cpu_seconds, field, scenario

LOCK = ("lock_bound",)


def switches(pid):
    return sum(field(f"{pid}/task/{tid}", "status", "voluntary_ctxt_switches") for tid in os.listdir(f"/proc/{pid}/task"))


def waiting_threads(pid, kernel_function):
    """Threads that sleep in a function of the kernel now"""
    return sum(kernel_function in open(f"/proc/{pid}/task/{tid}/stack").read() for tid in os.listdir(f"/proc/{pid}/task"))


def most_waiting(pid, kernel_function):
    """The most of some looks: on a busy machine the holder may have been about to run"""
    most = 0
    for _ in range(40):
        most = max(most, waiting_threads(pid, kernel_function))
        time.sleep(0.01)
    return most


@scenario("locks", "mutex", "update_cache", "refresh_cache|held", rules=LOCK, short=True)
def mutex_slow(zoo):
    pid = zoo.plant("locks", "mutex_slow").pid
    yield ["-p", pid]
    zoo.prove(most_waiting(pid, "futex") >= 6, "most threads wait in a futex")


@scenario("locks", "mutex", "lookup_entry", rules=LOCK)
def held_by_one(zoo):
    pid = zoo.plant("locks", "held_by_one").pid
    yield ["-p", pid]
    zoo.prove(most_waiting(pid, "futex") >= 3, "readers wait in a futex")


@scenario("locks", "time-?out", "take_job", rules=("timeout_bound",))
def lost_signal(zoo):
    pid = zoo.plant("locks", "lost_signal").pid
    before = switches(pid)
    yield ["-p", pid]
    zoo.prove(most_waiting(pid, "futex") == 1, "the consumer waits in a futex")
    zoo.prove(switches(pid) > before, "and wakes up")


@scenario("locks", "file lock", "lock_journal", "flock_holder", rules=LOCK, short=True)
def flock_wait(zoo):
    zoo.plant("locks", "flock_holder", f"{zoo.disk}/lock")
    pid = zoo.plant("locks", "flock_waiter", f"{zoo.disk}/lock").pid
    yield ["-p", pid]
    zoo.prove("-> FLOCK" in open("/proc/locks").read() or cpu_seconds(pid) < 1, "/proc/locks has a waiter")


@scenario("locks", "file lock", "fcntl_holder", rules=LOCK)
def fcntl_wait(zoo):
    zoo.plant("locks", "fcntl_holder", f"{zoo.disk}/lock")
    pid = zoo.plant("locks", "fcntl_waiter", f"{zoo.disk}/lock").pid
    yield ["-p", pid]
    zoo.prove(any("->" in line and f" {pid} " in line for line in open("/proc/locks")), "/proc/locks has it as a waiter")


@scenario("locks", "query_table", "rwlock|read.write lock|lock", rules=LOCK)
def rwlock_writer(zoo):
    pid = zoo.plant("locks", "rwlock_writer").pid
    yield ["-p", pid]
    zoo.prove(most_waiting(pid, "futex") >= 3, "readers wait in a futex")


@scenario("locks", "mmap_lock", "map_scratch", rules=LOCK)
def mmap_lock(zoo):
    pid = zoo.plant("locks", "mmap_churn").pid
    yield ["-p", pid]
    zoo.prove(most_waiting(pid, "mmap") + most_waiting(pid, "munmap") + most_waiting(pid, "rwsem") >= 1, "threads wait in mmap")


@scenario("locks", "row lock", "heap_update|XactLockTableWait|heap_lock_tuple", rules=LOCK, seconds=5)
def postgres_row(zoo):
    database = postgres(zoo)
    database.sql("CREATE TABLE account (id int PRIMARY KEY, n int); INSERT INTO account SELECT i, 0 FROM generate_series(1, 100) i")
    open(f"{zoo.work}/row.sql", "w").write("BEGIN; UPDATE account SET n = n + 1 WHERE id = 1; SELECT pg_sleep(0.01); COMMIT;\n")
    database.bench("-c", 8, "-T", 60, "-f", f"{zoo.work}/row.sql")
    time.sleep(1)
    yield ["--comm", "postgres"]
    zoo.prove(int(database.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")) >= 4, "pg_stat_activity: sessions wait for locks")


@scenario("locks", "LOCK TABLE|relation lock|table lock|heavyweight lock", rules=LOCK, seconds=5)
def postgres_table(zoo):
    database = postgres(zoo)
    database.sql("CREATE TABLE account (id int PRIMARY KEY, n int); INSERT INTO account SELECT i, 0 FROM generate_series(1, 100) i")
    open(f"{zoo.work}/table.sql", "w").write("BEGIN; LOCK TABLE account IN EXCLUSIVE MODE; SELECT pg_sleep(0.01); COMMIT;\n")
    database.bench("-c", 8, "-T", 60, "-f", f"{zoo.work}/table.sql")
    time.sleep(1)
    yield ["--comm", "postgres"]
    zoo.prove(int(database.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'relation'")) >= 4, "pg_stat_activity: sessions wait for the table")


@scenario("locks", "GIL", "crunch|take_gil", rules=LOCK)
def python_gil(zoo):
    pid = zoo.script("python3", "gil.py", """
import threading
def crunch():
    x = 0
    while True:
        x = (x * 31 + 7) % 1000003
for _ in range(4):
    threading.Thread(target=crunch).start()
""").pid
    before = cpu_seconds(pid)
    started = time.monotonic()
    yield ["-p", pid]
    zoo.prove(cpu_seconds(pid) - before < 1.15 * (time.monotonic() - started), "four threads use one CPU")
    zoo.prove(most_waiting(pid, "futex") >= 2, "and wait in futexes")


@scenario("locks", "monitor|synchronized", rules=LOCK)
def java_monitor(zoo):
    pid = java(zoo, "Ledger", """
public class Ledger {
    static synchronized void post() throws Exception { Thread.sleep(10); }
    public static void main(String[] arguments) {
        for (int i = 0; i < 6; i++)
            new Thread(() -> { try { for (;;) post(); } catch (Exception e) { } }).start();
    }
}
""").pid
    yield ["-p", pid]
    dump = subprocess.run(["jstack", str(pid)], capture_output=True, text=True).stdout
    zoo.prove(dump.count("BLOCKED (on object monitor)") >= 3, "jstack: threads are blocked on a monitor")


@scenario("locks", "mutex", "count_event", rules=LOCK)
def convoy(zoo):
    pid = zoo.plant("locks", "convoy").pid
    before = switches(pid)
    yield ["-p", pid]
    zoo.prove(most_waiting(pid, "futex") >= 3, "most threads wait in a futex")
    zoo.prove(switches(pid) - before > 500, "often")


@scenario("locks", "System V", "enter_region", rules=LOCK)
def sysv_semaphore(zoo):
    pid = zoo.plant("locks", "sysv_region").pid
    yield ["-p", pid]
    children = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split()
    zoo.prove(sum(waiting_threads(child, "semtimedop") for child in [pid, *children]) >= 2, "most processes wait in semop")


@scenario("locks", "inode lock", "write_segment", rules=LOCK)
def one_file_writers(zoo):
    pid = zoo.plant("locks", "one_file_writers", f"{zoo.disk}/shared").pid
    yield ["-p", pid]
    zoo.prove(most_waiting(pid, "rwsem") >= 2, "threads wait for a rwsem")


@scenario("locks", "Lock|lock", "refresh|Inventory|java", rules=LOCK)
def java_lock(zoo):
    """a ReentrantLock: threads park"""
    pid = java(zoo, "Inventory", """
public class Inventory {
    static final java.util.concurrent.locks.ReentrantLock lock = new java.util.concurrent.locks.ReentrantLock();
    static void refresh() throws Exception { lock.lock(); try { Thread.sleep(10); } finally { lock.unlock(); } }
    public static void main(String[] arguments) {
        for (int i = 0; i < 6; i++)
            new Thread(() -> { try { for (;;) refresh(); } catch (Exception e) { } }).start();
    }
}
""").pid
    yield ["-p", pid]
    dump = subprocess.run(["jstack", str(pid)], capture_output=True, text=True).stdout
    zoo.prove(dump.count("parking to wait for") >= 3, "jstack: threads are parked")


@scenario("locks", "lock", "update_index", rules=LOCK)
def python_lock(zoo):
    pid = zoo.script("python3", "lock.py", """
import threading, time
lock = threading.Lock()
def update_index():
    with lock:
        time.sleep(0.01)
def worker():
    while True:
        update_index()
for _ in range(6):
    threading.Thread(target=worker).start()
""").pid
    yield ["-p", pid]
    zoo.prove(most_waiting(pid, "futex") >= 4, "most threads wait in a futex")
