#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# alone: it counts the samples of the host
# Where samples do not come, a counter tells: on busy CPUs, frequency times time is samples recorded, of the idle task,
# lost, and of unknown threads; with more threads than CPUs that switch all the time, and beside calls that keep
# BPF programs from running, which cost a target part of its samples. A real-time thread is not charged for others'.
# usage: test_lost_samples.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

pids=()
cleanup() { [ ${#pids[@]} = 0 ] || kill -KILL "${pids[@]}" 2>/dev/null; }

start() {
	"$@" >/dev/null 2>&1 &
	pids+=($!)
}

# Whoever sleeps, no CPU must become idle: where a kernel gives no samples of that, it would be missing in the end.
crowd_seconds=12
start_crowd() {
	for ((cpu = 0; cpu < $(nproc); cpu++)); do
		start taskset -c "$cpu" "$workloads/spin" "$crowd_seconds"
		start "$workloads/spin" "$crowd_seconds"
	done
	start "$workloads/pingpong" "$crowd_seconds"
	start "$workloads/pingpong" "$crowd_seconds"
}

# 1: some of it has ended by itself.
end_crowd() {
	local ended=0
	for pid in "${pids[@]}"; do kill -0 "$pid" 2>/dev/null || ended=1; done
	kill -KILL "${pids[@]}" 2>/dev/null
	wait "${pids[@]}" 2>/dev/null
	pids=()
	return $ended
}

# check NAME WHAT OPTION…: WHAT is "host", or "target" or "realtime" whose last word of output is its CPU seconds
check() {
	local name=$1 what=$2
	shift 2
	# Preferred, or it stops sampling late after the interval's end.
	nice -n -20 "$pkbpf" -q -F 4999 -o "$name.json" "$@" >"$name.out" 2>&1 ||
		{ fail "$name: pkbpf ended with $?: $(cat "$name.out")"; return; }
	checker - "$name" "$what" <<'P'
import sys
import checks
from checks import check

name, what = sys.argv[1:]
report = checks.read_report(name + ".json")
samples = report["samples"]
counters = checks.counters(report)
recorded, lost = samples["recorded"], samples["lost"]
late, not_called = counters.get("LOST_TIMER_LATE", 0), counters.get("LOST_NOT_CALLED", 0)
unknown, idle = counters.get("CPU_NOT_CALLED", 0), counters.get("CPU_IDLE", 0)
if what == "host":
    due = 4999 * report["time"]["duration_ns"] / 1e9 * report["host"]["cpus"]
else:
    due = 4999 * float(open(name + ".out", encoding="utf-8").read().split()[-1])
print(f"  {name}: {due:.0f} samples are due: {recorded} recorded, {lost} lost ({late} late, {not_called} not called), "
      f"{idle} idle, {unknown} of unknown threads")
check(samples["expected"] == recorded + lost, f"account of samples: {samples}")
if what == "host":
    check(0.99 * due < recorded + lost + idle + unknown < 1.02 * due, "all periods are accounted for")
# What a hypervisor takes is no CPU time of the target, although the timer is late for it; and unknown ones may be of others.
if what == "target":
    check(recorded + lost + unknown > 0.97 * due and recorded + lost - late < 1.03 * due, "frequency times CPU time")
if what == "realtime":
    check(not_called <= recorded / 50, "it has not lost what passed before its turns")
if "updates" in name:
    check(0 < not_called < due, "samples are lost while the kernel updates a map")
P
}

check updates_of_target target -e cpu -- "$workloads/map_updates" 3

# What is left out to cost less is not lost: others stand for it.
"$pkbpf" -q -F 4999 -e cpu --max-overhead 1 -o frugal.json -o frugal.folded -- "$workloads/spin" 5 >frugal.out 2>&1 ||
	fail "pkbpf ended with $?: $(cat frugal.out)"
checker - <<'P'
import checks
from checks import check, close

report = checks.read_report("frugal.json")
samples, left_out = report["samples"], checks.counters(report).get("SAMPLES_LEFT_OUT", 0)
with open("frugal.folded", encoding="utf-8") as file:
    weight = sum(int(line.rsplit(" ", 1)[1]) for line in file)
if left_out < samples["recorded"] / 10:
    print(f"NOT CHECKED: it costs too little here: {left_out} samples left out")
check(samples["expected"] == samples["recorded"] + samples["lost"], f"account of samples: {samples}")
check(close(weight, samples["recorded"] + left_out, 10, 0), f"the {samples['recorded']} stand for {weight}")
P

# A real-time thread that runs for 2 ms of 10, on a CPU that had no samples for a millisecond before most of its turns.
cat >"$work/realtime.py" <<'P'
import os
import time

os.sched_setaffinity(0, [0])
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
for _ in range(250):
    end = time.monotonic() + 0.002
    while time.monotonic() < end:
        pass
    time.sleep(0.008)
print(time.process_time())
P
start taskset -c 0 "$workloads/map_updates" 60 4194304
check realtime_target realtime -e cpu -- python3 "$work/realtime.py"
end_crowd

# in_crowd NAME OTHERS OPTION…: OTHERS is a command that runs besides, or "". Linux 6.18 before .45 may run no thread of another
# session (nor the kernel's own) while threads that wake each other load a CPU: then the crowd has gone before pkbpf ends.
in_crowd() {
	local name=$1 others=$2 before=$failures
	shift 2
	for try in 1 2 3; do
		failures=$before
		start_crowd
		[ -z "$others" ] || start $others
		check "$name" host "$@"
		end_crowd && return
		echo "  $name: was kept from running for $crowd_seconds s, try $try"
	done
	failures=$before
	fail "$name: the crowd ended before pkbpf did, every time"
}

in_crowd crowd "" -e cpu -d 3
in_crowd crowd_every_kind "" -e cpu,offcpu,blockio,faults -d 3
in_crowd updates "$workloads/map_updates $crowd_seconds" -e cpu -d 3
conclude
