#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# alone: it takes CPUs offline
# A CPU that goes offline and comes back, for a moment and for longer than the list of CPUs is left unread, and one that
# is offline at the start: what runs there afterwards is sampled, and its mappings are known.
# usage: test_cpu_hotplug.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

# The last one: the first cannot be taken offline everywhere.
switch=$(find /sys/devices/system/cpu/ -path '*/cpu[0-9]*/online' | sort -V | tail -n 1)
cpu=${switch%/online} cpu=${cpu##*/cpu}
if [ -z "$switch" ] || [ "$cpu" = 0 ] || [ "$(cat "$switch")" != 1 ]; then
	skip "there is no second CPU that can be taken offline"
fi
pids=()
cleanup() {
	echo 1 2>/dev/null >"$switch"
	[ ${#pids[@]} = 0 ] || kill -KILL "${pids[@]}" 2>/dev/null
}

{ echo 0 >"$switch"; } 2>"$work/why" || skip "CPU $cpu cannot be taken offline: $(cat "$work/why")"
echo 1 >"$switch"
# Programs that nothing has been told of before the CPU is back.
for name in comeback1 comeback2 comeback3; do
	cp "$workloads/spin" "$work/$name" || exit 1
done

# start NAME OPTION…: starts pkbpf, and returns when it measures
start() {
	local name=$1
	shift
	"$pkbpf" -v -F 999 -o "$work/$name.folded" -o "$work/$name.json" "$@" 2>"$work/$name.err" &
	pkbpf_pid=$!
	pids+=("$pkbpf_pid")
	while ! grep -q 'profiling since' "$work/$name.err"; do
		kill -0 $pkbpf_pid 2>/dev/null || { fail "$name: pkbpf ended early"; cat "$work/$name.err"; return 1; }
		sleep 0.05
	done
}

# finish NAME PROGRAM SECONDS: ends pkbpf, and looks for what ran on the CPU after its return
finish() {
	local name=$1 status
	kill -INT $pkbpf_pid
	wait $pkbpf_pid
	status=$?
	[ $status = 0 ] || { fail "$name: pkbpf ended with $status"; cat "$work/$name.err"; return; }
	[ -e "$work/$name.folded" ] || mv "$work/$name.cpu.folded" "$work/$name.folded" # of several kinds
	checker - "$work/$name" "$2" "$3" <<'P'
import json
import sys
import checks
import folded

path, program, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
report = json.load(open(path + ".json", encoding="utf-8"))
counters = {c["name"]: c["count"] for c in report["counters"]}
samples = report["samples"]
stacks = [(f, n) for f, n in folded.read(path + ".folded") if f[0] == program]
count = sum(n for _, n in stacks)
named = sum(n for f, n in stacks if "spin_here" in f)
print(f"  {program}: {count} samples in {seconds} s of CPU time, {named} in its function; {samples['recorded']} of "
      f"{samples['expected']} recorded; CPUs came online: {counters.get('CPUS_ARRIVED', 0)}")
# Until somebody has woken up to watch the CPU that came back, samples are missing; and those that are known to be.
late = samples["lost"] + counters.get("CPU_NOT_CALLED", 0)
if not 0.8 * 999 * seconds - late <= count <= 1.05 * 999 * seconds or count < 100:
    checks.fail(f"{count} samples in {seconds} s of CPU time at 999 Hz")
if named < 0.97 * count:
    checks.fail(f"only {named} of {count} samples are in spin_here")
# The kernel stops all CPUs, interrupts off, while one of them goes or comes, and pkbpf itself updates maps.
not_taken = counters.get("LOST_TIMER_LATE", 0) + counters.get("LOST_NOT_CALLED", 0)
if samples["expected"] != samples["recorded"] + samples["lost"] or samples["lost"] != not_taken:
    checks.fail(f"account of samples: {samples}")
if counters.get("CPUS_ARRIVED") != 1:
    checks.fail("the report does not tell of the CPU that came online")
if report["host"]["cpus"] < 2:
    checks.fail("the report has forgotten a CPU")
P
}

echo "away for a moment, whole host:"
if start moment -e cpu; then
	echo 0 >"$switch" && echo 1 >"$switch" || fail "CPU $cpu did not come back"
	taskset -c "$cpu" "$work/comeback1" 3
	finish moment comeback1 3
fi

echo "away for longer, descendants of one process, every kind:"
mkfifo "$work/go"
bash -c 'read -r _ <"$1/go"; taskset -c "$2" "$1/comeback2" 3; : >"$1/done"; read -r _ <"$1/go"' bash "$work" "$cpu" &
parent=$!
pids+=("$parent")
if start longer -e cpu,offcpu,blockio,faults -p $parent --children; then
	echo 0 >"$switch"
	"$workloads/spin" 1.2
	echo 1 >"$switch" || fail "CPU $cpu did not come back"
	exec 3<>"$work/go" # also for reading: opening must not wait
	echo >&3
	while [ ! -e "$work/done" ] && kill -0 $parent; do
		sleep 0.05
	done
	finish longer comeback2 3
	exec 3>&-
fi

echo "offline at the start:"
echo 0 >"$switch"
if start start -e cpu; then
	echo 1 >"$switch" || fail "CPU $cpu did not come back"
	taskset -c "$cpu" "$work/comeback3" 3
	finish start comeback3 3
fi
conclude
