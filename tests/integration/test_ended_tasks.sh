#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# alone: it ends more processes than there is room for
# More short processes and threads than are told by their numbers: those that ended first are told together, nothing is lost,
# and memory does not grow with how many there are.
# usage: test_ended_tasks.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

# watch NAME KINDS COMMAND…: profiles these kinds of the command to NAME.json, NAME.txt and NAME.said. Leaves pkbpf's own memory as
# long as the command runs in "sizes": the newest pid of the machine, and KiB.
watch() {
	local name=$1 kinds=$2 profiler kib newest
	shift 2
	"$pkbpf" -v -e "$kinds" -o "$name.json" --full -o "$name.txt" -- "$@" >"$name.said" 2>log &
	profiler=$!
	while [ ! -s "$name.said" ] && read -r _ kib _ < <(grep RssAnon "/proc/$profiler/status" 2>/dev/null); do
		read -r _ _ _ _ newest </proc/loadavg
		echo "$newest $kib"
		sleep 0.3
	done >sizes
	wait $profiler || give_up "pkbpf ended with $?: $(cat log)"
	grep -E 'with their own row|overhead' log
}

# levels_off: the memory with as many processes as have rows of their own, and with twice as many. By how many have begun: some
# thousands of those that have ended are there for a moment, until the next look.
levels_off() {
	checker - <<'P'
import checks

samples = [tuple(map(int, line.split())) for line in open("sizes")]
pid_max = int(open("/proc/sys/kernel/pid_max").read())
begun = [0]
for (before, _), (now, _) in zip(samples, samples[1:]):
    begun.append(begun[-1] + (now - before) % pid_max)
sizes = [(count / begun[-1], kib) for count, (_, kib) in zip(begun, samples)]
middle = max(kib for share, kib in sizes if 0.4 < share <= 0.6)
late = min(kib for share, kib in sizes if share > 0.8)
checks.check(late <= middle + 16 * 1024, f"{begun[-1]} processes begun: at most {middle} KiB at half of them, at least {late} at the end")
P
}

# A shell first, which is sampled and then becomes the program: that is one process.
watch short cpu,offcpu,faults bash -c 'for ((i = 0; i < 200000; i++)); do :; done; exec "$0" 40000' "$workloads/short_lived"
levels_off
checker - short.json short.txt short.said <<'P'
import json
import sys
from checks import check

r, said = json.load(open(sys.argv[1])), json.load(open(sys.argv[3]))
parent = max((x for x in r["rows"] if x.get("comm") == "short_lived" and "pid" in x), key=lambda x: x["lifetime_ns"])
children = [x for x in r["rows"] if x.get("comm") == "short_lived" and x is not parent]
groups = [x for x in children if "pid" not in x]
single = [x for x in children if "pid" in x]
check(len(groups) == 1 and 1000 < len(single) < 45000 and groups[0]["processes"] > 5000,
      f"{len(groups)} group of {sum(x['processes'] for x in groups)}, {len(single)} told by their pids")
count = sum(x["processes"] for x in children)
check(count == said["count"], f"{count} of {said['count']} processes are in the account")
others = [(x.get("comm"), x["processes"]) for x in r["rows"] if x.get("comm") != "short_lived"]
check(not others, f"what the shell did is in the program's row; others: {others}")
told = [c["count"] for c in r["counters"] if c["name"] == "PROCESSES_GROUPED"]
together = sum(x.get("processes", 0) for x in r["rows"] if "pid" not in x)
check(told == [together], f"the report says how many are told together: {told}, {together} in all rows")
unfreed = sum(c["count"] for c in r["counters"] if c["name"] == "RESOURCE_UNFREED")
cpu = sum(x["cpu"]["total_ns"] for x in children)
# Also what those used whose end nobody saw.
check(abs(cpu - said["cpu_ns"]) < said["cpu_ns"] / 100,
      f"they used {cpu / 1e9:.3f} s, getrusage says {said['cpu_ns'] / 1e9:.3f} s, {unfreed} were freed unseen")
faults = sum(x["memory"]["minor_faults"] for x in children)
check(abs(faults - said["minor"]) < said["minor"] / 1000, f"{faults} minor faults, getrusage says {said['minor']}")
# What was recorded of a process is in the row that has its account: a mean member is like any other, as far as others let it.
per_group = groups[0]["cpu"]["total_ns"] / groups[0]["processes"]
per_single = sum(x["cpu"]["total_ns"] for x in single) / len(single)
check(1 / 3 < per_group / per_single < 3, f"{per_group / 1e3:.0f} us of CPU time in the group, {per_single / 1e3:.0f} by pid")
waits = [sum(x["waiting"]["runqueue_ns"] for x in rows) / sum(x["processes"] for x in rows) for rows in (groups, single)]
check(0.2 < waits[0] / waits[1] < 5, f"{waits[0] / 1e3:.0f} us in the run queue in the group, {waits[1] / 1e3:.0f} by pid")
# Freed tens of milliseconds later.
lives = sorted(x["lifetime_ns"] - x["offcpu"]["wall_ns"] for x in single if "offcpu" in x)
check(len(lives) > 1000 and abs(lives[len(lives) // 2]) < 1e6,
      f"they lived {lives[len(lives) // 2] / 1e3:.0f} us longer than they ran and waited, in the middle")
check(any(line.split()[:2] == ["-", "short_lived"] for line in open(sys.argv[2])),
      "the text shows the group without a pid")
P

watch threads cpu,offcpu,faults "$workloads/short_lived" 15000 threads
checker - threads.json threads.said <<'P'
import json
import sys
from checks import check

r, said = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
row = max((x for x in r["rows"] if x.get("comm") == "short_lived"), key=lambda x: x["cpu"]["total_ns"])
check(row["threads"]["seen"] == said["count"] + 1,
      f"{row['threads']['seen']} threads of {said['count']} and the first are in the account")
# The kernel adds what a thread has used to its process before the thread leaves the CPU for the last time, some microseconds
# later.
leaving_ns = 10e3 * said["count"]
check(-said["cpu_ns"] / 100 < row["cpu"]["total_ns"] - said["cpu_ns"] < said["cpu_ns"] / 100 + leaving_ns,
      f"they used {row['cpu']['total_ns'] / 1e9:.3f} s, getrusage says {said['cpu_ns'] / 1e9:.3f} s")
# What a switch takes is in no thread's account, and a thread's time ends after its account: more on a busy machine.
switching_ns = 20e3 * said["count"] + r["host"].get("steal_ns", 0)
check(-row["cpu"]["total_ns"] / 50 < row["offcpu"]["oncpu_ns"] - row["cpu"]["total_ns"] < row["cpu"]["total_ns"] / 50 + switching_ns,
      f"on a CPU and off it they were {row['offcpu']['wall_ns'] / 1e9:.3f} s, {row['offcpu']['oncpu_ns'] / 1e9:.3f} on it")
P
# Nothing is known of most of them but sums, which come when they are long gone.
watch waits offcpu "$workloads/short_lived" 26000
checker - waits.json waits.said <<'P'
import json
import sys
from checks import check

r, said = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
rows = [x for x in r["rows"] if x.get("comm") == "short_lived"]
count = sum(x["processes"] for x in rows)
single = sum("pid" in x for x in rows)
check(count == said["count"] + 1, f"{count} processes are told, {said['count']} and their parent ran")
check(1000 < single < 45000, f"{single} of them by their pids")
P
# Told one by one, each waits at a place of its own in the kernel side's table, which has no room for all of them.
record -e offcpu --by thread --max-overhead none -o sleeping.json -- "$workloads/short_lived" 45000 threads sleeping
checker - sleeping.json said <<'P'
import json
import sys
from checks import check

r, said = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
slept = r["total"]["offcpu"]["sleep_ns"] / said["count"] / 1e3
single = sum(c["count"] for c in r["counters"] if c["name"] == "ROW_TABLE_FULL")
# As long as each, the first waits for it.
check(190 < slept < 600, f"{said['count']} threads slept 100 us each, and the first as long: {slept:.0f} us")
check(single < said["count"] / 10, f"{single} of their sleeps were sent one by one: places of ended threads are used again")
P
conclude
