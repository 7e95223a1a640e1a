#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The account of resources against what programs and the machine say of themselves; its documents; limits.
# usage: test_resources.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
schema=$here/../../user/export/json/report.schema.json
cgroup=
jobs_started=()
cleanup() {
	for job in "${jobs_started[@]}"; do kill "$job" 2>/dev/null; done
	wait 2>/dev/null
	[ -n "$cgroup" ] && rmdir "$cgroup" 2>/dev/null
}

# check NAME REPORT [SAID] < PYTHON: a script with r = the report, w = what the workload said, check(holds, what) and close()
check() {
	begin "$1"
	{
		cat <<'P'
import sys
from checks import check, close, counters, read_report

r = read_report(sys.argv[1])
w = read_report(sys.argv[2]) if len(sys.argv) > 2 else {}
P
		cat
	} >check.py
	shift
	checker check.py "$@"
	current=
}

# ---- 2,000 processes that begin and end inside, on the whole host ----
"$pkbpf" -q -e cpu -o short.json -- "$workloads/short_lived" 2000 >short.said || fail "short_lived: exit $?"
"$pkbpf" -v -e cpu -d 100 -o host.json 2>host.err &
profiler=$!
jobs_started+=("$profiler")
wait_until 60 profiling host.err || fail "profiling the host: $(cat host.err)"
"$workloads/short_lived" 2000 >host.said
sleep 0.5
kill -INT $profiler
wait $profiler || fail "profiling the host: exit $?"
for name in short host; do
	check "2,000 short-lived processes ($name)" $name.json $name.said <<'P'
children = [x for x in r["rows"] if x.get("comm") == "short_lived" and x["started_inside"] and x["ended_inside"]]
# The command itself counts as begun inside, although its process waits for the start: its program begins there.
children.sort(key=lambda x: x["cpu"]["total_ns"])
parent = max((x for x in r["rows"] if x.get("comm") == "short_lived"), key=lambda x: x["lifetime_ns"])
children = [x for x in children if x["pid"] != parent["pid"]]
check(parent["started_inside"] and parent["ended_inside"], "the command began and ended inside")
check(len(children) == w["count"], f'{len(children)} of {w["count"]} processes are in the account')
cpu = sum(x["cpu"]["total_ns"] for x in children)
# Of one that is freed where no programs run, next to nothing is known: they are all alike, and counted.
unfreed = counters(r).get("RESOURCE_UNFREED", 0)
known = w["cpu_ns"] * (1 - unfreed / w["count"])
check(unfreed < w["count"] / 20 and close(cpu, known, 1, 1e6),
      f'they used {cpu / 1e9:.4f} s, getrusage says {w["cpu_ns"] / 1e9:.4f} s, {unfreed} were freed unseen')
for key, name in (("minor", "minor_faults"),):
    total = sum(x["memory"][name] for x in children)
    check(close(total, w[key], 0.1, 2), f'{total} {name}, getrusage says {w[key]}')
total = sum(x["cpu"]["voluntary"] for x in children)
check(close(total, w["voluntary"], 1, 2), f'{total} voluntary switches, getrusage says {w["voluntary"]}')
lost = counters(r).get("RESOURCE_LATE", 0)
check(not lost and r["threads_missing"] == 0, f'{r["threads_missing"]} threads of the machine missing, {lost} late')
P
done

# ---- processes that had ended before the start and are reaped inside ----
python3 - "$pkbpf" <<'P' || fail "zombies: profiling failed"
import os, subprocess, sys, time
zombies = []
for _ in range(20):
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    zombies.append(pid)
while any(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] != "Z" for pid in zombies):
    time.sleep(0.01)
profiler = subprocess.Popen([sys.argv[1], "-v", "-e", "cpu,offcpu", "-o", "zombies.json"], stderr=subprocess.PIPE, text=True)
for line in profiler.stderr:
    if "profiling since" in line:
        break
for pid in zombies:
    os.waitpid(pid, 0)
time.sleep(0.5)
profiler.send_signal(2)
profiler.communicate()
sys.exit(profiler.returncode)
P
check "zombies" zombies.json <<'P'
check(r["threads_missing"] == 0, f'{r["threads_missing"]} threads missing')
P

# ---- processes that end at the very start: announced before they are read, and freed after ----
timeout 60 sh -c 'while :; do /bin/true; /bin/true; done' &
jobs_started+=("$!")
for _ in $(seq 15); do
	"$pkbpf" -q -e cpu -d 200ms -o start.json || fail "beside short processes: exit $?"
	cat start.json >>starts.json
done
kill "${jobs_started[-1]}"
missing=$(grep -h '"threads_missing":' starts.json | grep -vc ': 0')
if [ "$missing" = 0 ]; then
	echo "  ok: no threads missing in 15 runs that began while others ended"
else
	fail "threads missing in $missing of 15 runs that began while others ended"
fi

# ---- what a command needs to give its memory back, which comes after its exit is announced, and before it is waited for ----
stolen=$(stolen_us)
"$pkbpf" -q -e cpu,offcpu -o exits.json -- python3 -c '
import mmap, os
memory = mmap.mmap(-1, 400 << 20)
memory.madvise(mmap.MADV_NOHUGEPAGE)
for i in range(0, len(memory), 4096):
    memory[i] = 1
os._exit(0)' || fail "a command with memory: exit $?"
echo "{\"stolen_ns\": $((($(stolen_us) - stolen) * 1000))}" >exits.said
check "a command that exits with 400 MiB" exits.json exits.said <<'P'
row = next(x for x in r["rows"] if x["comm"].startswith("python3"))
used, seen = row["cpu"]["total_ns"], row["offcpu"]["oncpu_ns"]
# Interrupts, and what the host keeps of a CPU, are in the second alone. Giving the memory back is a quarter of all.
check(close(used, seen, 5, 2e6 + w["stolen_ns"]), f'{used / 1e6:.1f} ms used, {seen / 1e6:.1f} ms seen on a CPU')
check(row["threads"]["alive"] == 0 and row["ended_inside"], f'{row["threads"]} threads')
P

# ---- one process with threads, against its own getrusage ----
mkfifo go
"$workloads/use_resources" <go >said &
target=$!
jobs_started+=("$target")
exec 3>go
wait_until 60 test -s said || fail "use_resources did not start"
"$pkbpf" -v -d 100 -e cpu,offcpu -p $target -o used.json -o used.csv --full -o used.txt --fail-if "$target:memory.rss_growth>1M" \
	--fail-if 'cpu.total>1h' 2>used.err &
profiler=$!
jobs_started+=("$profiler")
wait_until 60 profiling used.err || fail "profiling a process: $(cat used.err)"
echo >&3
wait_until 60 grep -q used said
kill -INT $profiler
wait $profiler
status=$?
echo >&3
[ $status = 3 ] || fail "a limit was passed, exit $status"
grep -q "use_resources $target: memory.rss_growth is .*MiB (--fail-if $target:memory.rss_growth>1M)" used.err ||
	fail "the limit's line: $(cat used.err)"
[ "$(grep -c -- '--fail-if' used.err)" = 1 ] || fail "more lines than limits passed: $(cat used.err)"
grep used said >used.said
check "a process with threads" used.json used.said <<'P'
rows = [x for x in r["rows"] if x.get("comm") == "use_resources"]
check(len(rows) == 1, "there is one row")
x, u = rows[0], w["used"]
check(close(x["cpu"]["total_ns"], u["cpu_ns"], 1, 2e6), f'CPU {x["cpu"]["total_ns"] / 1e9:.4f} s, getrusage says {u["cpu_ns"] / 1e9:.4f} s')
check(x["cpu"]["user_ns"] + x["cpu"]["system_ns"] == x["cpu"]["total_ns"], "user + system is all")
check(close(x["memory"]["minor_faults"], u["minor"], 0.1, 8), f'minor faults {x["memory"]["minor_faults"]}, getrusage says {u["minor"]}')
check(close(x["cpu"]["voluntary"], u["voluntary"], 1, 4), f'voluntary {x["cpu"]["voluntary"]}, getrusage says {u["voluntary"]}')
check(close(x["cpu"]["involuntary"], u["involuntary"], 2, 4), f'involuntary {x["cpu"]["involuntary"]}, getrusage says {u["involuntary"]}')
growth = x["memory"]["rss_growth_bytes"]
check(63.5 * 2**20 <= growth <= 66 * 2**20, f"rss grew {growth / 2**20:.1f} MiB of 64")
check(x["threads"]["seen"] == 4 and x["threads"]["alive"] == 1, "4 threads were seen, 1 lives")
on = x["offcpu"]["oncpu_ns"]
unseen = counters(r).get("OFFCPU_UNSEEN_SWITCHES", 0)
# A switch that was hidden from it hides a wait of 1 ms, or a turn of others.
stolen = r["host"].get("steal_ns", 0) # a thread stays on its CPU meanwhile
check(close(on, x["cpu"]["total_ns"], 2, 5e6 + unseen * 10e6 + stolen), f"off-CPU clock says {on / 1e9:.4f} s on CPUs ({unseen} switches were hidden from it)")
wall = x["offcpu"]["wall_ns"]
check(wall == on + x["offcpu"]["total_ns"], "on-CPU and all waits are the threads' time")
check(all(y["pid"] == x["pid"] for y in r["rows"]), "only the target has a row")
import re
heading = re.search(r"^Off-CPU by process: (\S+) waits", open("used.txt").read(), re.M)[1]
waits = x["offcpu"]["waits"]
check(heading == f"{waits:,}", f"{waits} waits, the text report tells {heading}")
P

# ---- the sum of all rows is the busy time of the machine, as /proc/stat has it ----
# Some kernels hide process 1 from BPF programs, so that it has no row: what it used then is known from procfs.
init_time() { cat /proc/1/task/*/sched 2>/dev/null | awk '/^se.sum_exec_runtime/ { sum += $3 } END { printf "%.0f", sum * 1e6 }'; }
sum_of_rows() { # REPORT, LEAST_BUSY: the profile of a machine at least that busy
	local before
	before=$(init_time)
	"$pkbpf" -q -e cpu -d 6 -o "$1.json" -o "$1.csv" --full -o "$1.txt" || fail "profiling a busy host: exit $?"
	echo "{\"init\": $(($(init_time) - before)), \"least\": $2}" >"$1.said"
	check "the sum of all rows ($1)" "$1.json" "$1.said" <<'P'
rows, host = r["rows"], r["host"]
busy = host["busy_ns"]
none = sum(x["cpu"]["total_ns"] for x in rows if x.get("no_process"))
# Reading all threads takes time at both ends, in which they go on: at most so much of all CPUs is in some figures alone.
edges = 1e6 * counters(r).get("ACCOUNT_EDGES_MS", 0) * host["cpus"]
# At most: it is that of the whole run.
hidden = 0 if any(x.get("pid") == 1 for x in rows) else w["init"]
total = sum(x["cpu"]["total_ns"] for x in rows)
ratio = (total + hidden) / busy
# What the host takes is neither busy nor idle; whether it is CPU time of a thread depends on the kernel.
percent = 100 * busy / (busy + host["idle_ns"])
check(percent >= w["least"], f"CPUs {percent:.0f}% busy when they were there")
check(0.99 - edges / busy <= ratio and total / busy <= 1.01 + (host.get("steal_ns", 0) + edges) / busy, f"rows {total / 1e9:.3f} s, of them {none / 1e9:.3f} s without a thread, process 1 hidden with {hidden / 1e9:.3f} s; "
      f"/proc/stat {busy / 1e9:.3f} s: {ratio:.4f}")
# What that row comes from: no thread is missing, none is there twice.
threads = host["threads_ns"]
check(0.99 * threads - edges <= total - none + hidden and total - none <= 1.01 * threads + edges,
      f"rows of processes {(total - none) / 1e9:.3f} s, by the CPUs' counters {threads / 1e9:.3f} s")
check(r["total"]["cpu"]["total_ns"] == total, "the total row is the sum")
check(sum(x.get("no_process", False) for x in rows) <= 1, "at most one row is no process")
P
}

# Partial load: timers that wake idle CPUs, reads from a disk where there is one, some computing.
cat >partial.py <<'P'
import mmap, os, threading, time
end = time.monotonic() + 30
def tick():
    while time.monotonic() < end:
        time.sleep(0.0001)
def compute():
    while time.monotonic() < end:
        stop = time.thread_time() + 0.01
        while time.thread_time() < stop:
            pass
        time.sleep(0.01)
def read(fd, size):
    page, at = mmap.mmap(-1, 4096), 0
    while time.monotonic() < end:
        os.preadv(fd, [page], at)
        at = (at + 4096 * 7) % size
path = f"/var/tmp/pkbpf-resources-{os.getpid()}"
jobs = [tick, tick, compute]
try:
    with open(path, "wb") as out:
        out.write(os.urandom(8 << 20))
        os.fsync(out.fileno())
    fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    jobs.append(lambda: read(fd, 8 << 20))
except OSError:
    pass
finally:
    os.path.exists(path) and os.unlink(path)
for job in jobs:
    threading.Thread(target=job, daemon=True).start()
print("running", flush=True)
time.sleep(30)
P
python3 partial.py >partial.out &
jobs_started+=($!)
wait_until 60 test -s partial.out || fail "partial.py did not start"
sum_of_rows partial 20
kill "${jobs_started[-1]}"
wait "${jobs_started[-1]}" 2>/dev/null
# On a machine that others keep busy there are no idle CPUs.
if python3 -c 'import json; exit(json.load(open("partial.json"))["host"]["busy_percent"] > 80)'; then
	check "interrupts on idle CPUs" partial.json <<'P'
none = [x for x in r["rows"] if x.get("no_process")]
check(len(none) == 1 and none[0]["comm"] == "[interrupts]" and "pid" not in none[0], "they have a row without a pid")
share = none[0]["cpu"]["total_ns"] / r["host"]["busy_ns"] if none else 0
# How much it is depends on the host: 0.5 to 3 % were seen. That rows and counters agree is checked above.
check(share > 0.001, f"without it the rows would be short by {100 * share:.2f} %")
P
	grep -q '\[interrupts\]: interrupt time on idle CPUs' partial.txt ||
		fail "the text says nothing of [interrupts]: $(grep interrupts partial.txt)"
else
	not_checked "interrupts on idle CPUs: others keep this machine busy"
fi

burners=()
for _ in $(seq "$(nproc)"); do
	timeout 30 bash -c 'while :; do :; done' &
	burners+=($!)
	jobs_started+=($!)
done
sleep 0.3
sum_of_rows sum 95
for burner in "${burners[@]}"; do kill "$burner" 2>/dev/null; done

# ---- containers: a cgroup named like a unit ----
for root in /sys/fs/cgroup /sys/fs/cgroup/unified; do
	[ -e $root/cgroup.controllers ] && break
done
if mkdir -p "$root/pkbpf-test.service" 2>/dev/null && [ -e $root/cgroup.controllers ]; then
	cgroup=$root/pkbpf-test.service
	bash -c 'echo $$ >"$1"/cgroup.procs; exec "$2" 1000000' _ "$cgroup" "$workloads/short_lived" >/dev/null &
	jobs_started+=($!)
	"$pkbpf" -q -e cpu -d 2 --by container -o container.json -o container.csv || fail "by container: exit $?"
	check "by container" container.json <<'P'
rows = [x for x in r["rows"] if x.get("container") == "pkbpf-test.service"]
check(len(rows) == 1, "the unit has one row")
check(rows and rows[0]["processes"] > 50, "with many processes")
check(rows and rows[0]["cgroup"] == "/pkbpf-test.service", "its path is known")
P
	"$pkbpf" -q -e cpu -d 2 -G "$cgroup" -o cgroup.json || fail "a cgroup: exit $?"
	check "a cgroup alone" cgroup.json <<'P'
check(r["rows"] and all(x["comm"] == "short_lived" for x in r["rows"]), "only what is in it has rows")
brief = [x for x in r["rows"] if x["started_inside"] and x["ended_inside"]]
check(len(brief) > 50, f"{len(brief)} of them short-lived")
P
	kill "${jobs_started[-1]}"
	wait "${jobs_started[-1]}" 2>/dev/null
else
	not_checked "containers: no cgroup v2 hierarchy that can be written"
fi

# ---- the documents ----
for report in short host used partial sum container; do
	[ -e $report.json ] || continue
	jsonschema -i $report.json "$schema" >schema.out 2>&1 || fail "$report.json does not follow the schema: $(head -c 400 schema.out)"
done
python3 - partial.json partial.csv <<'P' || fail "CSV and JSON differ"
import csv, json, sys
rows = json.load(open(sys.argv[1]))["rows"]
table = list(csv.DictReader(open(sys.argv[2], newline="")))
assert len(table) == len(rows), (len(table), len(rows))
for row, line in zip(rows, table):
    assert str(row.get("pid", "")) == line["pid"] and row["cpu"]["total_ns"] == int(line["cpu.total_ns"])
    assert line["offcpu.total_ns"] == "" and "offcpu" not in row
P
awk 'length($0) > 100 { print; bad = 1 } END { exit bad }' used.txt || fail "the text report is wider than a terminal"

# ---- usage ----
"$pkbpf" --fail-if 'cpu.shar>1' -d 1 >/dev/null 2>err
[ $? = 2 ] && grep -q "unknown figure 'cpu.shar'" err || fail "a wrong limit: $(cat err)"
"$pkbpf" --by nothing -d 1 >/dev/null 2>err
[ $? = 2 ] && grep -q "expected process, thread, container, comm, name, region or label:KEY" err || fail "a wrong grouping: $(cat err)"

conclude
