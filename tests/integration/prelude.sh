# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# What every test begins with: sourced with its arguments, it names them, skips the test where nobody can profile, and goes to
# a folder of the test's own below /tmp (or $work_below, set before), which is gone at the end.
# It leaves $pkbpf, $workloads (their folder), $here (that of the tests), $work and $failures. A test that leaves more behind
# than its folder has a function cleanup.
set -u

# PKBPF_PROGRAM is another build of it.
pkbpf=$(readlink -f "${PKBPF_PROGRAM:-$1}")
workloads=$(readlink -f "$2")
here=$(dirname "$(readlink -f "$0")")
failures=0
current=
evidence=() # files whose beginnings are shown with a failure

# ---- outcomes ----

# skip WHY…: the whole test
skip() {
	echo "skipped: $*"
	exit 77
}

# not_checked WHAT…: a part of it. tools/test counts it as skipped, and tells it at its end.
not_checked() { echo "NOT CHECKED: ${current:+$current: }$*"; }

# begin WHAT: what failures are about from here on
begin() {
	current=$1
	rm -f err # nobody takes the last one's words for those of a job that is only starting
	echo "  $current"
}

fail() {
	echo "FAILED: ${current:+$current: }$*"
	failures=$((failures + 1))
	[ ${#evidence[@]} = 0 ] || head -n 5 "${evidence[@]}" 2>/dev/null | sed 's/^/    /'
}

# give_up WHY…: nothing further makes sense
give_up() {
	fail "$@"
	exit 1
}

# reports_add_up: no figure contradicts another in the reports that the test has left in its folder
reports_add_up() {
	local files
	mapfile -t files < <(find "$work" -maxdepth 2 -type f -size -20M \( -name '*.json' -o -name '*.txt' \) 2>/dev/null)
	[ ${#files[@]} = 0 ] || checker "$here/report_sums.py" "${files[@]}"
}

# conclude: the last line of a test
conclude() {
	reports_add_up
	[ "$failures" = 0 ] && { echo "all passed"; exit 0; }
	echo "$failures failed"
	exit 1
}

# checker SCRIPT ARGUMENT…: a check in Python, - for one on standard input, which knows checks.py and folded.py. Counts a failure.
checker() {
	PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1 python3 "$@" && return
	failures=$((failures + 1))
	return 1
}

# ---- running pkbpf ----

# record ARGUMENT…: runs pkbpf, which has to succeed; what it and its command say is in the file "said". Again where it had no
# sample: of a machine that is taken away, or of others' work, none of those it looks at may have had a CPU meanwhile.
record() {
	local status
	for _ in 1 2 3 4 5; do
		"$pkbpf" -q "$@" >said 2>&1 && return
		status=$?
		[ $status = 4 ] || break
	done
	fail "pkbpf $*: status $status: $(tail -n 20 said)"
	return 1
}

# wait_until SECONDS COMMAND…: tries until the command succeeds
wait_until() {
	local tries=$(($1 * 20))
	shift
	while ! "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 0.05
	done
}

# cpu_ms PID: the CPU time of a process, in which its name is one word
cpu_ms() { awk -v hz="$(getconf CLK_TCK)" '{ printf "%d", ($14 + $15) * 1000 / hz }' "/proc/$1/stat"; }
has_used() { [ "$(cpu_ms "$1")" -ge "$2" ]; }

# uses PID MILLISECONDS: waits until the process has used so much more CPU time, however little of it there is
uses() { wait_until 100 has_used "$1" $(($(cpu_ms "$1") + $2)); }

# runs PID NAME: waits until the process executes the program of this name
is_running() { [ "$(cat "/proc/$1/comm")" = "$2" ]; }
runs() { wait_until 60 is_running "$1" "$2"; }

# profiling LOG: with -v, pkbpf has said there that it measures
profiling() { grep -qs "profiling since" "$1"; }

# limit_cpu NAME MICROSECONDS: a new control group, of version 2 or 1, whose processes may use so much CPU in 100 ms. Leaves
# $cgroup, which the test removes.
limit_cpu() {
	local root
	for root in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/cpu /sys/fs/cgroup/cpu,cpuacct; do
		cgroup=$root/pkbpf-$1
		[ -e "$root/cgroup.procs" ] || continue
		mkdir "$cgroup" 2>/dev/null || continue
		echo "$2 100000" 2>/dev/null >"$cgroup/cpu.max" && return 0
		echo "$2" 2>/dev/null >"$cgroup/cpu.cfs_quota_us" && return 0
		rmdir "$cgroup"
	done
	cgroup=
	return 1
}

# What the host has kept from this machine's CPUs. Threads stay on them meanwhile, but the kernel's account of their CPU
# time leaves it out.
stolen_us() {
	awk '/^cpu / { print $9 * 10000 }' /proc/stat
}

# record_use PID MILLISECONDS ARGUMENT…: as record, until the process has used so much CPU time, however long that takes
record_use() {
	local pid=$1 milliseconds=$2 profiler status
	shift 2
	rm -f said
	"$pkbpf" -v -d 250 -p "$pid" "$@" >said 2>&1 &
	profiler=$!
	wait_until 60 profiling said && uses "$pid" "$milliseconds"
	kill -INT $profiler
	wait $profiler
	status=$?
	[ $status = 0 ] && return
	fail "pkbpf -p $pid $*: status $status: $(tail -n 20 said)"
	return 1
}

# ---- looking at results ----

# total PATTERN FILE: the weight of all folded stacks that match
total() {
	awk -v pattern="$1" '$0 ~ pattern { sum += $NF } END { printf "%.0f", sum }' "$2"
}

# check_wall_clock WHAT REPORT
check_wall_clock() {
	local share
	share=$(grep -oE 'add up to .* \(([0-9.]+)%\)' "$2" | grep -oE '[0-9.]+%' | tr -d %)
	awk -v share="${share:-0}" 'BEGIN { exit !(share > 99 && share < 101) }' ||
		fail "$1: the states add up to ${share:-nothing}% of the wall clock"
}

# ---- set-up ----

[ -x "$pkbpf" ] || { echo "FAILED: there is no $pkbpf: build it first"; exit 1; }
[ "$(id -u)" = 0 ] || skip "needs root"
[ -r /sys/kernel/btf/vmlinux ] || skip "needs a kernel with BTF"
# What a user behind sudo would get is a test of its own.
unset SUDO_UID SUDO_GID SUDO_USER SUDO_COMMAND

cleanup() { :; }
work=$(basename "$0" .sh)
work=$(mktemp -d "${work_below:-/tmp}/pkbpf-${work#test_}-XXXXXX") && cd "$work" || exit 1
# A signal ends a test as an exit does.
trap 'exit 130' INT TERM HUP
trap 'cleanup; cd /; rm -rf "$work"' EXIT
