#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Who is a target after fork and exec: samples begin and end with it, and are walked with the new image's tables at once.
# usage: test_targets.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"


# profile_released PROGRAM NAME OPTION…: until both end; the program, whose number is the last option's, goes on when that has begun
profile_released() {
	local program=$1 name=$2 pid
	shift 2
	rm -f err
	"$pkbpf" -v -d 250 "$@" "$program" 2>err &
	pid=$!
	until profiling err || [ ! -d "/proc/$pid" ]; do
		sleep 0.01
	done
	touch go
	wait $pid || fail "$name: pkbpf ended with $?: $(cat err)"
	wait "$program"
}

# check NAME EXPECTED OPTION…: EXPECTED lists who must have been sampled where, as "parent:before_exec"; nobody else may.
check() {
	local name=$1 expected=$2
	shift 2
	rm -f "$work/go"
	"$workloads/change_image" "$work/go" "$workloads/spin" 0.7 >"$work/pids" &
	profile_released $! "$name" -e cpu -F 999 --pid-frame -o "$work/$name.folded" "$@"
	checker - "$name" "$expected" "$work/$name.folded" "$work/pids" <<'P'
import collections
import sys
import checks
import folded

name, expected, out, pids = sys.argv[1], sys.argv[2].split(), sys.argv[3], sys.argv[4]
who = {pid: role for role, pid in (line.split() for line in open(pids))}
seen, whole = collections.Counter(), collections.Counter()
for frames, count in folded.read(out):
    role = who[frames[0].rsplit("-", 1)[1]]
    for function in ("before_exec", "spin_here"):
        if function in frames:
            seen[f"{role}:{function}"] += count
            whole[f"{role}:{function}"] += count * ("_start" in frames)
print(f"  {name}:", dict(seen), "whole", dict(whole))
for place in expected:
    # Of 300 or more, of which a host that takes the CPU away leaves some.
    if seen[place] < 30 or whole[place] < 0.99 * seen[place] - 1:
        checks.fail(f"{name}: {seen[place]} samples at {place}, {whole[place]} whole")
# A sample on the way into the new image has no frames of it yet.
for place in set(seen) - set(expected):
    checks.fail(f"{name}: {seen[place]} samples at {place}, which is no target")
P
}

check workers "parent:before_exec parent:spin_here child:before_exec" -p
check children "parent:before_exec parent:spin_here child:before_exec child:spin_here" --children -p
check alone "parent:before_exec parent:spin_here" --no-children -p
check thread "parent:before_exec parent:spin_here" --tid
# A worker that becomes another program is told up to there, by the name that it had: here 0.2 s of sleep and 0.1 s of work, and not
# the second that it sleeps as another.
cat >"$work/worker.py" <<'P'
import os
import sys
import time

while not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
child = os.fork()
if not child:
    time.sleep(0.2)
    while time.process_time() < 0.1:
        pass
    os.execvp("sleep", ["sleep", "1"])
print(child)
os.waitpid(child, 0)
P
check_leaver() {
	local name=$1
	shift
	rm -f "$work/go"
	python3 "$work/worker.py" "$work/go" >"$work/child" &
	profile_released $! "$name" -e cpu,offcpu,faults -o "$work/$name.json" "$@"
	checker - "$name" "$work/$name.json" "$(cat "$work/child")" <<'P'
import sys
import checks

name, report, child = sys.argv[1], checks.read_report(sys.argv[2]), int(sys.argv[3])
rows = [x for x in report["rows"] if x.get("pid") == child]
told = [(x["comm"], x["cpu"]["total_ns"] / 1e9, x["offcpu"]["sleep_ns"] / 1e9, x["lifetime_ns"] / 1e9, x["memory"]["minor_faults"],
         x["ended_inside"]) for x in rows]
print(f"  {name}: {told}")
comm, cpu, sleep, life, faults, ended = told[0]
accounted = cpu + rows[0]["offcpu"]["total_ns"] / 1e9
if name == "leaving":
    right = comm == "python3" and 0.05 < cpu < 1 and 0.2 < sleep < 1 and 0.25 < life
else:
    right = comm == "sleep" and 0.05 < cpu < 1 and 1.2 < sleep and life > 1.3
checks.check(len(rows) == 1 and right and faults >= 10 and ended, name)
stolen = report["host"].get("steal_ns", 0) / 1e9
checks.check(0.98 * life - 0.02 - stolen <= accounted <= 1.02 * life + 0.02, f"{name}: CPU and off-CPU time are {accounted:.4f} s of {life:.4f} s")
P
}
check_leaver leaving -p
check_leaver staying --children -p
conclude
