#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Locks that threads wait for: which one, who holds it and what the holder does, of all kinds of locks of the C library.
# usage: test_locks.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

# check_kind KIND THREADS CLASS HELD_PERCENT
check_kind() {
	echo "  $2 threads at locks of the kind $1"
	"$pkbpf" -q -e locks -o locks.json -- "$workloads/lock_owners" "$1" "$2" 2 >truth.txt 2>err.txt ||
		fail "status $?: $(cat err.txt)"
	python3 "$here/lock_check.py" locks.json truth.txt "$3" "$4" || fail "locks of the kind $1 are not as they were"
}

check_kind normal 2 mutex 95
check_kind normal 6 mutex 95
check_kind normal 16 mutex 95
check_kind normal 64 mutex 95
check_kind recursive 6 "recursive mutex" 95
check_kind errorcheck 6 "error-checking mutex" 95
check_kind adaptive 6 "adaptive mutex" 95
check_kind timed 6 mutex 95
check_kind impatient 6 mutex 90
check_kind robust 6 "robust mutex" 95
check_kind pi 6 "PI mutex" 95
check_kind rwlock 6 rwlock 95
check_kind shared 6 mutex 95

echo "  locks that are variables, or lie in them, have their names"
"$pkbpf" -q -e locks -o names.json -o names.txt -o names.pkbpf -- "$workloads/lock_names" 1 >addresses 2>err.txt ||
	fail "status $?: $(cat err.txt)"
python3 - <<'PYTHON' || fail "names: $(cat names.txt)"
import json
wanted = dict(zip(open("addresses").read().split(), ["cache_lock", "configuration+0x18", "shards+0x78", None]))
found = {lock["address"]: lock.get("symbol") for lock in json.load(open("names.json"))["locks"]["locks"]}
for address, name in wanted.items():
    assert address in found, f"{name} at {address} is not among {found}"
    assert found[address] == name, f"{found[address]} at {address}, not {name}"
PYTHON
grep -q 'cache_lock (mutex) in visit' names.txt || fail "names: $(cat names.txt)"
"$pkbpf" report names.pkbpf >recorded_names.txt 2>err.txt || fail "status $?: $(cat err.txt)"
grep -q 'configuration+0x18 (mutex) in visit' recorded_names.txt || fail "recorded: $(cat recorded_names.txt)"
echo "  conditions and tables know them by name"
"$pkbpf" report names.pkbpf -o names.locks.csv --fail-if 'lock[cache_lock].waits<1' --fail-if 'lock.wait_share>100%' \
	--fail-if '?lock[no_such].wait>1ms' >said 2>&1 || fail "status $?: $(cat said)"
[ "$(wc -l <names.locks.csv)" = 5 ] && grep -q ',shards+0x78 (mutex) in visit,mutex,shards+0x78,0x' names.locks.csv ||
	fail "table: $(cat names.locks.csv)"
"$pkbpf" report names.pkbpf --fail-if 'lock[configuration+0x18].wait>1us' >said 2>&1
[ $? = 3 ] || fail "a condition that holds: $(cat said)"
"$pkbpf" report names.pkbpf --fail-if 'lock[no_such].wait>1us' >said 2>&1
[ $? = 1 ] && grep -q 'no thread waited for a lock of this name' said || fail "no lock of this name: $(cat said)"
"$pkbpf" -q -e offcpu --fail-if 'lock.wait>1s' -- true >said 2>&1
[ $? = 2 ] && grep -q 'add locks to --events' said || fail "locks that are not recorded: $(cat said)"
"$pkbpf" diff -e locks names.pkbpf names.pkbpf -o names_diff.json --fail-if 'locks.lock[cache_lock]>+1000%' >said 2>&1
grep -q '"name": "cache_lock"' names_diff.json || fail "comparison: $(cat said)"

cp "$workloads/lock_names" stripped && strip stripped
"$pkbpf" -q -e locks -o stripped.txt -- ./stripped 1 >addresses 2>err.txt || fail "status $?: $(cat err.txt)"
grep -q 'cache_lock' stripped.txt && fail "a stripped program names its locks: $(cat stripped.txt)"
grep -q "^Locks: .* for 4 locks" stripped.txt || fail "stripped: $(cat stripped.txt)"

echo "  waits for locks are waits: the off-CPU account has them, and the report names what holders do"
"$pkbpf" -q -e offcpu,locks -o sum.folded -o sum.json -o locks.txt -- "$workloads/lock_owners" normal 6 2 >/dev/null 2>err.txt ||
	fail "status $?: $(cat err.txt)"
waited=$(total ';take;' sum.offcpu.folded)
at_locks=$(total ';take;' sum.locks.folded)
# Threads are also preempted in take() before they wait.
[ "$at_locks" -le "$waited" ] && [ "$at_locks" -ge $((waited * 95 / 100)) ] || fail "$at_locks us of $waited us"
python3 - <<'PYTHON' || fail "sums differ"
import json
locks = json.load(open("sum.json"))["locks"]
assert locks["wait_ns"] == sum(lock["wait_ns"] for lock in locks["locks"]), "sum of locks"
for lock in locks["locks"]:
    assert lock["wait_ns"] == sum(site["ns"] for site in lock["waits_in"]), "sum of the functions that waited"
    assert lock["held_ns"] == sum(holder["ns"] for holder in lock["holders"]), "sum of holders"
    assert abs(lock["held_ns"] - lock["wait_ns"]) <= lock["wait_ns"] / 1000, f"{lock['held_ns']} of {lock['wait_ns']} ns"
PYTHON
grep -q "held by: hold_asleep (sleep: " locks.txt || fail "holders: $(cat locks.txt)"

echo "  a recording has them, and two of them can be compared"
"$pkbpf" -q -e locks -o a.pkbpf -- "$workloads/lock_owners" normal 6 1 >/dev/null 2>err.txt || fail "status $?: $(cat err.txt)"
"$pkbpf" report a.pkbpf >recorded.txt 2>err.txt || fail "status $?: $(cat err.txt)"
grep -q "^Locks: .* for 2 locks" recorded.txt || fail "recording: $(cat recorded.txt)"
"$pkbpf" diff -e locks a.pkbpf a.pkbpf >diff.txt 2>err.txt
grep -q "^Locks per run: " diff.txt || fail "comparison: $(cat diff.txt err.txt)"

echo "  serve and top refuse what they cannot do"
"$pkbpf" top -e locks -n 1 2>err.txt && fail "top takes locks"
grep -q "top has no columns of locks" err.txt || fail "top: $(cat err.txt)"
"$pkbpf" serve -e locks --store "$PWD/history" 2>err.txt && fail "serve takes locks"
grep -q "serve cannot record locks" err.txt || fail "serve: $(cat err.txt)"

conclude
