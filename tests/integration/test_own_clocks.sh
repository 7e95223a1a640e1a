#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# alone: it compares clocks
# Regions and functions beside the program's own clocks: their percentiles, and their parts in io_uring, while stopped, in a control group
# with a limit, and beside a real-time process.
# usage: test_own_clocks.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
evidence=(said)

cgroup=
cleanup() {
	[ -z "$cgroup" ] || rmdir "$cgroup" 2>/dev/null
}

# run MODE=NUMBER…: what they say is in the file "own"
which=()
[ "$(uname -m)" != x86_64 ] || which=(--function ranked --probe-cost none)
run() {
	"$pkbpf" -q -e offcpu --regions ${which[@]+"${which[@]}"} -o own.json -- "$workloads/own_clocks" "$@" >own 2>said ||
		give_up "status $?"
}

# parts MODE=NUMBER SUM…: of regions of that name in the last run
# A hypervisor may take a CPU away between a wake-up and the switch that it asks for: then the mode runs again, alone. What is wrong in
# pkbpf is wrong each time.
parts() {
	local mode=${1%%=*} again=$1 tries line
	shift
	for tries in 1 2 3; do
		[ $tries = 1 ] || run "$again"
		line=$(sed -n "s/^$mode //p" own)
		case $line in
		refused*) not_checked "${line#refused }" && return ;;
		esac
		PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1 \
			python3 "$here/regions_check.py" parts own.json "$mode" "$line" "$@" >checked && cat checked && return
	done
	fail "three times: $(grep FAILED checked)"
}

begin "percentiles are those of the program's own sorted lists"
limit_cpu own-clocks 10000
limited=limited=400,${cgroup:+$cgroup/cgroup.procs}
run ranks=100 ring=20 stopped=10 "$limited" preempted=400
cp own.json all.json && cp own all
checker "$here/regions_check.py" ranks all.json all ranks=region
if [ ${#which[@]} = 0 ]; then
	not_checked "functions are measured on x86-64 only"
else
	checker "$here/regions_check.py" ranks all.json all "ranked()=call"
fi

begin "parts of regions that wait in io_uring"
parts ring=20 on_cpu=cpu runqueue=queue sleep+disk+uninterruptible=rest

begin "parts of regions that are stopped"
cp all.json own.json && cp all own
parts stopped=10 on_cpu=cpu runqueue=queue sleep+stopped+disk+uninterruptible=rest

# Not all kernels count as time in the run queue what a limit holds back.
begin "parts of regions in a control group with a limit"
cp all.json own.json && cp all own
parts "$limited" on_cpu=cpu runqueue=off
[ -z "$cgroup" ] || grep -q '^nr_throttled [1-9]' "$cgroup/cpu.stat" || not_checked "nobody was held back"

begin "parts of regions beside a real-time process that takes the CPU away"
cp all.json own.json && cp all own
parts preempted=400 on_cpu=cpu runqueue=off
conclude
