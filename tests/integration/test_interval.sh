#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# alone: it measures the ends of an interval
# Where the interval begins and ends: beside so many threads that looking at them takes a part of it, everything that is measured
# is held against the same time.
# usage: test_interval.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

started=()
cleanup() {
	kill -9 "${started[@]}" 2>/dev/null
	wait "${started[@]}" 2>/dev/null
}

threads=10000
cpus=$(nproc)

"$workloads/crowd" "$threads" 600 >/dev/null &
started+=($!)
all_started() { [ "$(ls "/proc/${started[0]}/task" | wc -l)" -gt "$threads" ]; }
wait_until 60 all_started
# It never leaves its CPU, so no switch tells of it.
chrt -f 1 taskset -c $((cpus - 1)) "$workloads/spin" 600 >/dev/null &
started+=($!)
# Its pace needs a CPU when it is due: what it caught up with would be counted in this interval.
chrt -f 1 taskset -c 0 "$workloads/fault" pace 10 &
started+=($!)
uses "${started[1]}" 200 || fail "the spinning thread does not run"

# What a first start reads from a slow disk is late for the interval. The end of an interval is measured, not how long pkbpf waits
# for a CPU then: it comes before other programs that are not real-time ones.
nice -n -20 "$pkbpf" -q -d 0.1 -o warm.json 2>err.txt || echo "status $?: $(cat err.txt)"
nice -n -20 "$pkbpf" -q -e cpu,offcpu,faults -d 0.5 -o report.json 2>err.txt || give_up "status $?: $(cat err.txt)"
checker - "$cpus" <<'P'
import sys
from checks import check, counters, not_checked, read_report

report = read_report("report.json")
cpus = int(sys.argv[1])
interval = report["time"]["duration_ns"]
rows = {row["comm"]: row for row in report["rows"]}
# Beside other work, the time to read resources at the ends is in what is read; the report says so.
read = 1 + 1e6 * counters(report).get("ACCOUNT_EDGES_MS", 0) / interval
stolen = report["host"].get("steal_ns", 0) / interval


def waited(name):
    """What kept a thread that never sleeps off its CPU: the host, and what is even more urgent."""
    return stolen + rows[name]["waiting"]["runqueue_ns"] / interval


def check_range(what, measured, low, high):
    check(low <= measured <= high, f"{what}: {measured:.3f} ({low:.3g} to {high:.3g})")


# Of CPUs; pkbpf's own row is among them.
others = sum(row["cpu"]["total_ns"] for row in report["rows"] if row["comm"] not in ("spin", "fault", "crowd", "pkbpf")) / interval
if others < 0.2:
    check_range("s of interval, for 0.5 wanted", interval / 1e9, 0.499, 0.9)
else:
    check(interval / 1e9 >= 0.499, f"{interval / 1e9:.3f} s of interval, for 0.5 wanted")
    not_checked(f"that the interval ends in time: other programs took {others:.2f} CPUs of it")
# What the host steals is neither busy nor idle; a real-time thread is stopped for a twentieth of each second.
check_range("CPUs, busy and idle", (report["host"]["busy_ns"] + report["host"]["idle_ns"]) / interval, 0.85 * cpus - stolen, 1.03 * cpus)
if read <= 1.5:
    check_range("share of a CPU of the spinning thread", rows["spin"]["cpu"]["total_ns"] / interval, (0.8 - waited("spin")) / read, 1.03 * read)
    # What it was kept from before the interval it catches up with inside, or after it.
    late = 10 * waited("fault")
    check_range("faults per ms, of 10", rows["fault"]["memory"]["minor_faults"] / (interval / 1e6), (9.5 - late) / read, (10.6 + late) * read)
else:
    not_checked(f"CPU time and faults of threads: reading them took {read - 1:.2f} intervals")
check_range("its account of the interval", rows["spin"]["offcpu"]["wall_ns"] / interval, 0.99, 1.01)
check_range("on a CPU of it", rows["spin"]["offcpu"]["oncpu_ns"] / interval, 0.85 - waited("spin"), 1.01)
check_range("asleep of it", rows["spin"]["offcpu"]["sleep_ns"] / interval, 0, 0.001)
P

conclude
