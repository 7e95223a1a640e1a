#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# alone: it accounts for the host
# Everything is accounted for where threads change their number or name, and where numbers change their thread.
# usage: test_renumbered.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

target=
cleanup() {
	[ -n "$target" ] && kill -9 "$target" 2>/dev/null
}

wait_for() { # PATTERN FILE
	wait_until 60 grep -q "$1" "$2"
}

# What "exec" has before it execs, and "reuse" under its other numbers, is in the rows of the same process or in no row.
cat >check.py <<'P'
import sys
from checks import check, close, read_report

mode, pid = sys.argv[1], int(sys.argv[2])
report = read_report("report.json")
used = read_report("used.json")
rows = [row for row in report["rows"] if (row.get("pid") != pid if mode in ("zombie", "reuse", "at-once") else row.get("pid") == pid)]
if mode == "at-once":
    sampled = sum(int(line.rsplit(" ", 1)[1]) for line in open("out.cpu.folded") if not line.split(";")[0].endswith(f"-{pid}"))
    check(close(sampled / 999, used["cpu_ns"] / 1e9, 20, 0), f"{sampled} samples at 999 Hz of {used['cpu_ns']} ns")
    sys.exit()
# Of forks that got another number each makes a few faults.
if mode == "reuse":
    rows = [max(rows, key=lambda row: row["cpu"]["total_ns"])]
    pid = rows[0]["pid"]
faults, pids = 0, {row["pid"] for row in rows}
for line in open("out.faults.folded"):
    stack, _, value = line.rpartition(" ")
    if int(stack.split(";")[0].rpartition("-")[2]) in pids:
        faults += int(value)
def near(what, value, true, percent, slack):
    check(close(value, true, percent, slack), f"{mode}: {what}: {value} of {true}")
near("ns of CPU time", sum(row["cpu"]["total_ns"] for row in rows), used["cpu_ns"], 1, 5e6)
near("faults of the account", sum(row["memory"]["minor_faults"] for row in rows), used["minor"], 0.2, 20)
near("faults with stacks", faults, used["minor"], 0.2, 20)
near("ns on a CPU between waits", sum(row["offcpu"]["oncpu_ns"] for row in rows), used["cpu_ns"], 2, 10e6 + int(sys.argv[3]))
waited = sum(row["offcpu"]["oncpu_ns"] + row["offcpu"]["total_ns"] for row in rows)
near("ns of CPU time and waits", waited, sum(row["offcpu"]["wall_ns"] for row in rows), 0, 0)
check(report["threads_missing"] == 0, f'{mode}: {report["threads_missing"]} threads missing')
P

# check MODE [OPTION…]: of the options $target is the target's number.
check() {
	local mode=$1 status stolen profiler
	shift
	rm -f said used.json err.txt
	mkfifo go
	"$workloads/renumbered" "$mode" <go >said &
	target=$!
	exec 3>go
	rm go
	wait_for ready said || fail "$mode did not begin"
	"$pkbpf" -q -v -e cpu,offcpu,faults "${@//TARGET/$target}" --pid-frame -d 60 -o report.json -o out.folded 2>err.txt &
	profiler=$!
	wait_for 'profiling since' err.txt || fail "$mode: $(cat err.txt)"
	stolen=$(stolen_us)
	echo >&3
	if wait_for cpu_ns said; then
		stolen=$((($(stolen_us) - stolen) * 1000))
		grep cpu_ns said >used.json
		sleep 0.2
		kill -INT $profiler
		wait $profiler
		status=$?
		[ $status = 0 ] || fail "$mode: status $status: $(cat err.txt)"
		checker check.py "$mode" "$target" $stolen
		echo >&3
	else
		kill -INT $profiler
		wait $profiler
	fi
	exec 3>&-
	wait "$target"
	status=$?
	target=
	[ $status = 0 ] || [ $status = 77 ] || fail "$mode: the target's status is $status"
	[ $status != 77 ] || not_checked "$mode: this kernel gives no number out again on demand"
}

echo "  a thread that is not the first one calls exec, and takes its number"
check exec -p TARGET
check exec
echo "  a process is born inside, and its parent does not ask for it"
check zombie --children -p TARGET
echo "  the number of a zombie of the start is used again"
check reuse --children -p TARGET
echo "  the number of a child is its brother's at once"
check at-once --children -p TARGET -F 999
echo "  what gets the name looked for inside counts since the start"
check rename --comm latecomer

conclude
