#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Deadlocks are named with their threads, functions and locks, of all kinds of locks of the C library; what only takes long is none.
# usage: test_deadlock.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
program=
cleanup() { [ -z "$program" ] || pkill -KILL -P "$program" 2>/dev/null; kill -KILL "$program" 2>/dev/null; }
trap cleanup EXIT

# start KIND THREADS [WRAPPER…]: $program is its pid, $threads those of the cycle
start() {
	local kind=$1 count=$2
	shift 2
	cleanup
	wait 2>/dev/null
	: >threads.txt
	"$@" "$workloads/lock_cycle" "$kind" "$count" >threads.txt 2>/dev/null &
	program=$!
	until grep -q ready threads.txt; do
		kill -0 "$program" 2>/dev/null || give_up "the program has ended"
		sleep 0.02
	done
	mapfile -t threads < <(sed -n 's/^thread //p' threads.txt | sort -n)
}

# record: to report.txt and report.json
record() {
	"$pkbpf" -q -p "$program" -d 1.5 -o report.txt -o report.json >/dev/null 2>err.txt || fail "status $?: $(cat err.txt)"
}

# check KIND THREADS LOCK: all threads of the cycle are named, and one more waits behind
check() {
	echo "  a cycle of $2 at locks of the kind $1"
	start "$1" "$2"
	record
	python3 - "$3" "${threads[@]}" <<'PYTHON' || fail "$1: $(head -n 12 report.txt)"
import json
import re
import sys
lock, tids = sys.argv[1], sys.argv[2:]
findings = [finding for finding in json.load(open("report.json"))["findings"] if finding["rule"] == "deadlock"]
assert len(findings) == 1, f"{len(findings)} findings"
text = findings[0]["text"]
count = len(tids)
assert f"deadlock of {count} threads" in text, text
named = min(count, 4)
waits = re.findall(r"(\d+)(?: waits)? in `take_(even|odd) > take` for a ([a-z -]*?[A-Za-z-]*) held by (\d+)", text)
assert len(waits) == named, f"{waits} in {text}"
assert {wait[0] for wait in waits} <= set(tids) and {wait[3] for wait in waits} <= set(tids), f"{waits} of {tids}"
assert all(wait[2] == lock for wait in waits), waits
# Each waits for the next one, and both functions take turns.
assert all(waits[i][3] == waits[i + 1][0] for i in range(named - 1)), waits
assert count % 2 or all(waits[i][1] != waits[i + 1][1] for i in range(named - 1)), waits
assert min(tids, key=int) == waits[0][0], waits
assert "1 more thread waits for them" in text, text
assert re.search(r"none of them has run for 1\.[45]\d* s", text), text
assert not [finding for finding in json.load(open("report.json"))["findings"] if finding["rule"] == "lock_bound"], "and a lock"
PYTHON
}

check normal 2 mutex
check normal 3 mutex
check normal 7 mutex
check recursive 2 "recursive mutex"
check errorcheck 2 "error-checking mutex"
check adaptive 2 "adaptive mutex"
check robust 2 "robust mutex"
check rwlock 2 rwlock
check shared 2 mutex

# The kernel refuses the wait that would close a cycle of PI mutexes; the C library then waits at no lock.

echo "  a thread that takes its lock twice"
start self 1
record
grep -q "deadlock of a thread with itself" report.txt || fail "$(head -n 12 report.txt)"
tr '\n' ' ' <report.txt | tr -s ' ' | grep -q "thread ${threads[0]} waits in \`take_even > take\` for a mutex that it holds; it has not run for 1" ||
	fail "$(head -n 12 report.txt)"

echo "  what takes long, ends by itself, or waits for a thread that computes is none"
for kind in slow timed busy; do
	start "$kind" 2
	record
	! grep -q "deadlock of" report.txt || fail "$kind: $(head -n 12 report.txt)"
done

echo "  in a pid namespace owners have other numbers"
start normal 2 unshare --fork --pid --mount-proc
inner=$(pgrep -P "$program")
"$pkbpf" -q -p "$inner" -d 1.5 -o report.txt >/dev/null 2>err.txt || fail "status $?: $(cat err.txt)"
grep -q "deadlock of 2 threads" report.txt || fail "namespace: $(head -n 12 report.txt)"

echo "  a recording has it"
start normal 2
"$pkbpf" -q -p "$program" -d 1.5 -o run.pkbpf >/dev/null 2>err.txt || fail "status $?: $(cat err.txt)"
"$pkbpf" report run.pkbpf >recorded.txt 2>err.txt || fail "status $?: $(cat err.txt)"
grep -q "deadlock of 2 threads" recorded.txt || fail "recording: $(head -n 12 recorded.txt)"

conclude
