#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Locks of the kernel: that of a process's mappings by name and by the functions that take it, where the kernel tells of them;
# elsewhere they are refused.
# usage: test_kernel_locks.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

"$pkbpf" -q -e locks --kernel-locks -o out.json -o out.txt -o out.pkbpf -- "$workloads/map_churn" 2 8 >truth.txt 2>err.txt || {
	grep -q "has no tracepoint of waits for its locks" err.txt && skip "$(tail -n 1 err.txt)"
	fail "status $?: $(cat err.txt)"
}
python3 - <<'PYTHON' || fail "locks: $(cat out.txt)"
import json
report = json.load(open("out.json"))["locks"]
calls_ns = int(open("truth.txt").read())
by_name = {}
for lock in report["locks"]:
    if lock["class"].startswith("kernel "):
        by_name.setdefault(lock.get("symbol"), []).append(lock)
    assert lock["wait_ns"] == sum(site["ns"] for site in lock["waits_in"]) or lock.get("holders"), lock
# A fault waits for it as well; while the program waits, it is in one of these.
mappings = by_name["mmap_lock"]
assert len(mappings) == 1 and mappings[0]["class"] == "kernel rwsem", mappings
assert mappings[0]["waits"] >= 2, mappings
assert mappings[0]["wait_ns"] <= calls_ns * 1.05, (mappings[0]["wait_ns"], calls_ns)
functions = " ".join(site.get("function", "?") for site in mappings[0]["waits_in"])
assert any(word in functions for word in ("unmap", "mmap", "fault")), functions
PYTHON
grep -q 'mmap_lock (kernel rwsem) in ' out.txt || fail "text: $(cat out.txt)"
"$pkbpf" report out.pkbpf --fail-if 'lock[mmap_lock].waits<2' >recorded.txt 2>err.txt || fail "status $?: $(cat err.txt)"
grep -q 'mmap_lock (kernel rwsem) in ' recorded.txt || fail "recorded: $(cat recorded.txt)"

echo "  one thread alone waits for nobody; without the option there are none"
"$pkbpf" -q -e locks --kernel-locks -o alone.json -- "$workloads/map_churn" 1 1 >truth.txt 2>err.txt || fail "status $?: $(cat err.txt)"
"$pkbpf" -q -e locks -o without.json -- "$workloads/map_churn" 1 8 >truth.txt 2>err.txt || fail "status $?: $(cat err.txt)"
python3 - <<'PYTHON' || fail "locks where none are"
import json
alone = [lock for lock in json.load(open("alone.json"))["locks"]["locks"] if lock.get("symbol") == "mmap_lock"]
assert sum(lock["wait_ns"] for lock in alone) < 100e6, alone
without = [lock for lock in json.load(open("without.json"))["locks"]["locks"] if lock["class"].startswith("kernel")]
assert not without, without
PYTHON
"$pkbpf" -q -e cpu --kernel-locks -- true >said 2>&1 && fail "taken without locks"
grep -q -e '--kernel-locks' said || fail "$(cat said)"

conclude
