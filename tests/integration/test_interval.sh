#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Where the interval begins and ends: beside so many threads that looking at them takes a part of it, everything that is measured
# is held against the same time.
# usage: test_interval.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

work=$(mktemp -d /tmp/pkbpf-interval-XXXXXX)
started=()
cleanup() {
	kill -9 "${started[@]}" 2>/dev/null
	wait "${started[@]}" 2>/dev/null
	rm -rf "$work"
}
trap cleanup EXIT
cd "$work" || exit 1

threads=10000
cpus=$(nproc)

"$workloads/crowd" "$threads" 600 >/dev/null &
started+=($!)
for ((tries = 0; tries < 600; tries++)); do
	[ "$(ls "/proc/${started[0]}/task" | wc -l)" -gt "$threads" ] && break
	sleep 0.1
done
# It never leaves its CPU, so no switch tells of it.
chrt -f 1 taskset -c $((cpus - 1)) "$workloads/spin" 600 >/dev/null &
started+=($!)
"$workloads/fault" pace 10 &
started+=($!)
sleep 0.5

# What a first start reads from a slow disk is late for the interval.
"$pkbpf" -q -d 0.1 -o warm.json 2>err.txt || echo "status $?: $(cat err.txt)"
"$pkbpf" -q -e cpu,offcpu,faults -d 0.5 -o report.json 2>err.txt || {
	echo "FAILED: status $?: $(cat err.txt)"
	exit 1
}
python3 - "$cpus" <<'P' || failures=$((failures + 1))
import json, sys

report = json.load(open("report.json"))
cpus = int(sys.argv[1])
interval = report["time"]["duration_ns"]
rows = {row["comm"]: row for row in report["rows"]}
failed = False


def check(what, measured, low, high):
    global failed
    wrong = not low <= measured <= high
    failed |= wrong
    print(f"  {'FAILED: ' if wrong else ''}{what}: {measured:.3f} ({low} to {high})")


check("s of interval, for 0.5 wanted", interval / 1e9, 0.499, 0.65)
# What the host steals is neither busy nor idle; a real-time thread is stopped for a twentieth of each second.
check("CPUs, busy and idle", (report["host"]["busy_ns"] + report["host"]["idle_ns"]) / interval, 0.85 * cpus, 1.03 * cpus)
check("share of a CPU of the spinning thread", rows["spin"]["cpu"]["total_ns"] / interval, 0.8, 1.03)
check("its account of the interval", rows["spin"]["offcpu"]["wall_ns"] / interval, 0.99, 1.01)
check("on a CPU of it", rows["spin"]["offcpu"]["oncpu_ns"] / interval, 0.85, 1.01)
check("asleep of it", rows["spin"]["offcpu"]["sleep_ns"] / interval, 0, 0.001)
check("faults per ms, of 10", rows["fault"]["memory"]["minor_faults"] / (interval / 1e6), 9.5, 10.6)
sys.exit(failed)
P

[ $failures = 0 ] || { echo "$failures failures"; exit 1; }
echo "all passed"
