# SPDX-License-Identifier: BSD-2-Clause
"""Limited by storage"""
import os
import time

from servers import postgres
from zoo import cpu_seconds, delay_seconds, field, scenario


def disk_of(path):
    number = os.stat(path).st_dev
    return f"{os.major(number)}:{os.minor(number)}"


def io_limit(zoo, name, kind, value):
    group = zoo.cgroup("blkio", name)
    if os.path.exists(f"{group}/io.max"):
        zoo.write(f"{group}/io.max", f"{disk_of(zoo.disk)} {kind}={value}")
    else:
        file = {"riops": "read_iops", "rbps": "read_bps", "wiops": "write_iops", "wbps": "write_bps"}[kind]
        zoo.write(f"{group}/blkio.throttle.{file}_device", f"{disk_of(zoo.disk)} {value}")
    return group


@scenario("storage", "fsync", "append_record", rules=("fsync_bound",), short=True)
def fsync_log(zoo):
    pid = zoo.plant("storage", "fsync_log", f"{zoo.disk}/log").pid
    yield ["-p", pid]
    zoo.prove(field(pid, "status", "voluntary_ctxt_switches") > 300, "it waits often")
    zoo.prove(field(pid, "io", "wchar:") < 50 << 20, "and writes little")


@scenario("storage", "sync", "commit_page", rules=("fsync_bound",))
def osync_writer(zoo):
    pid = zoo.plant("storage", "osync_writer", f"{zoo.disk}/log").pid
    yield ["-p", pid]
    zoo.prove(field(pid, "status", "voluntary_ctxt_switches") > 300, "it waits often")


@scenario("storage", "limit", "load_page", rules=("io_limit",))
def io_limit_reads(zoo):
    data = zoo.data_file("data", 64)
    group = io_limit(zoo, "zoo-io", "riops", 50)
    pid = zoo.plant("storage", "limited_reader", data, cgroup=group).pid
    before = field(pid, "io", "syscr:")
    yield ["-p", pid]
    zoo.prove(100 < field(pid, "io", "syscr:") - before < 400, "about 50 reads a second")


@scenario("storage", "limit", rules=("io_limit",))
def io_limit_bytes(zoo):
    data = zoo.data_file("data", 64)
    group = io_limit(zoo, "zoo-io", "rbps", 1 << 20)
    pid = zoo.start(["dd", f"if={data}", "of=/dev/null", "bs=64k", "iflag=direct"], cgroup=group).pid
    time.sleep(0.5)
    before = field(pid, "io", "read_bytes:")
    yield ["-p", pid]
    zoo.prove(field(pid, "io", "read_bytes:") - before < 8 << 20, "about 1 MiB a second")


@scenario("storage", "load_page", "bulk_writer", rules=("disk_shared",))
def reads_behind_writes(zoo):
    data = zoo.data_file("data", 256)
    pid = zoo.plant("storage", "page_reader", data).pid
    time.sleep(1)
    reads = field(pid, "io", "syscr:")
    time.sleep(2)
    alone = (field(pid, "io", "syscr:") - reads) / 2
    writers = zoo.plant("storage", "bulk_writer", f"{zoo.disk}/bulk", 6)
    time.sleep(0.5)
    reads, started = field(pid, "io", "syscr:"), time.monotonic()
    yield ["-p", pid]
    beside = (field(pid, "io", "syscr:") - reads) / (time.monotonic() - started)
    zoo.prove(beside < 0.5 * alone, f"{beside:.0f} reads/s beside the writers, {alone:.0f} alone")
    zoo.prove(field(writers.pid, "io", "write_bytes:") > 50 << 20, "they write much")


@scenario("storage", "load_page", "one (request|read|I/O)|depth", rules=("disk_bound",))
def depth_of_one(zoo):
    data = zoo.data_file("data", 256)
    pid = zoo.plant("storage", "page_reader", data).pid
    before = field(pid, "io", "read_bytes:")
    yield ["-p", pid]
    zoo.prove(field(pid, "io", "read_bytes:") - before > 4 << 20, "it reads from the disk")


@scenario("storage", "touch_index", "major fault|page fault", rules=("major_faults",))
def mapped_reader(zoo):
    data = zoo.data_file("data", 256)
    pid = zoo.plant("storage", "mapped_reader", data).pid
    faults = lambda: int(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[9])
    before = faults()
    yield ["-p", pid]
    zoo.prove(faults() - before > 500, "/proc/PID/stat: major faults")


@scenario("storage", "dirty|write-?back", "dump_block", rules=("dirty_throttled",))
def dirty_throttling(zoo):
    limits = {name: open(f"/proc/sys/vm/{name}").read() for name in ("dirty_bytes", "dirty_background_bytes", "dirty_ratio", "dirty_background_ratio")}

    def restore():
        for name, value in limits.items():
            if value.strip() != "0":
                open(f"/proc/sys/vm/{name}", "w").write(value)

    zoo.undo.append(restore)
    zoo.write("/proc/sys/vm/dirty_background_bytes", str(4 << 20))
    zoo.write("/proc/sys/vm/dirty_bytes", str(16 << 20))
    pid = zoo.plant("storage", "dirty_writer", f"{zoo.disk}/dirty").pid
    time.sleep(1)
    yield ["-p", pid]
    zoo.prove(any("balance_dirty_pages" in open(f"/proc/{pid}/stack").read() or time.sleep(0.01) for _ in range(200)), "it sleeps in balance_dirty_pages")


@scenario("storage", "fsync|WAL", "XLogFlush|issue_xlog_fsync", rules=("fsync_bound",), seconds=5)
def postgres_commits(zoo):
    database = postgres(zoo)
    database.sql("CREATE TABLE event (id serial, n int)")
    open(f"{zoo.work}/insert.sql", "w").write("INSERT INTO event (n) VALUES (1);\n")
    database.bench("-c", 4, "-T", 60, "-f", f"{zoo.work}/insert.sql")
    time.sleep(1)
    yield ["--comm", "postgres"]
    zoo.prove(int(database.sql("SELECT wal_sync FROM pg_stat_wal")) > 300, "pg_stat_wal: wal_sync")


@scenario("storage", "fsync|journal", "save_item", rules=("fsync_bound",))
def small_files(zoo):
    pid = zoo.plant("storage", "small_files", zoo.disk).pid
    yield ["-p", pid]
    zoo.prove(field(pid, "status", "voluntary_ctxt_switches") > 300, "it waits often")


@scenario("storage", "fsync|msync", "flush_region", rules=("fsync_bound",))
def msync_store(zoo):
    pid = zoo.plant("storage", "msync_store", f"{zoo.disk}/store").pid
    yield ["-p", pid]
    zoo.prove(field(pid, "status", "voluntary_ctxt_switches") > 300, "it waits often")


@scenario("storage", "scan_table", rules=("disk_bound",))
def cold_scan(zoo):
    data = zoo.data_file("data", 256)
    pid = zoo.plant("storage", "cold_scan", data).pid
    before, waits = field(pid, "io", "read_bytes:"), field(pid, "status", "voluntary_ctxt_switches")
    started, cpu, delay = time.monotonic(), cpu_seconds(pid), delay_seconds(pid)
    yield ["-p", pid]
    wanted = time.monotonic() - started - (delay_seconds(pid) - delay)
    zoo.prove(cpu_seconds(pid) - cpu < 0.4 * wanted, "it copies for less than half of the time")
    zoo.prove(field(pid, "io", "read_bytes:") - before > 8 << 20, "it reads from the disk")
    zoo.prove(field(pid, "status", "voluntary_ctxt_switches") - waits > 100, "and waits for it")


@scenario("storage", "limit", "commit_page", rules=("io_limit",))
def io_limit_writes(zoo):
    group = io_limit(zoo, "zoo-io", "wiops", 30)
    pid = zoo.plant("storage", "osync_writer", f"{zoo.disk}/log", cgroup=group).pid
    before = field(pid, "io", "syscw:")
    yield ["-p", pid]
    zoo.prove(20 < field(pid, "io", "syscw:") - before < 300, "tens of writes a second")


@scenario("storage", "fsync|sync", rules=("fsync_bound",))
def sqlite_commits(zoo):
    pid = zoo.script("/usr/bin/python3", "ledger.py", f"""
import sqlite3
database = sqlite3.connect("{zoo.disk}/ledger.db", isolation_level=None)
database.execute("CREATE TABLE IF NOT EXISTS entry (n int)")
def book():
    database.execute("INSERT INTO entry VALUES (1)")
while True:
    book()
""").pid
    yield ["-p", pid]
    zoo.prove(field(pid, "status", "voluntary_ctxt_switches") > 300, "it waits often")
