#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# Regions of NVTX and ITT, which a library of ours hands on in commands that pkbpf starts: exact counts, programs as before.
# And of NVTX 2 in programs that run.
# usage: test_injected_regions.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
evidence=(said)

# same_output NAME ARGUMENT…: as without pkbpf; its regions are in NAME.json
same_output() {
	local name=$1
	shift
	"$workloads/injected" "$@" >alone
	"$pkbpf" -q -e offcpu --regions -o "$name.json" -- "$workloads/injected" "$@" >watched 2>said || fail "$name: status $?"
	diff alone watched >difference || fail "$name says something else: $(head -n 5 difference)"
}

begin "NVTX: pushed, wide, registered, started and ended elsewhere"
same_output nvtx nvtx 40
begin "ITT: tasks, overlapped tasks, frames"
same_output itt itt 40
checker - <<'CHECK'
import json
from checks import check
def regions(name):
    report = json.load(open(name))
    return report["regions"], {r["name"]: r for r in report["regions_by_name"]}
tree, names = regions("nvtx.json")
for name in "train_step", "layer", "registered", "w?de", "request":
    check(names.get(name, {}).get("count") == 40, f"{name}: {names.get(name, {}).get('count')} of 40")
check(names["registered"]["sleep_ns"] >= 40e6 and names["layer"]["sleep_ns"] >= 80e6, "their waits are theirs")
inner = next(r for r in tree if r["name"] == "registered")
check(tree[inner["parent"]]["name"] == "layer", "they are nested as they are called")
tree, names = regions("itt.json")
for name in "forward", "oneDNN":
    check(names[name]["count"] == 40, f"{name}: {names[name]['count']} of 40")
both = [r["count"] for r in json.load(open("itt.json"))["regions_by_name"] if r["name"] == "matmul"]
check(both == [80], f"matmul, as a task and overlapped, in one line: {both} of 80")
both = sorted((r["by_id"], r["count"]) for r in json.load(open("itt.json"))["regions"] if r["name"] == "matmul")
check(both == [(False, 40), (True, 40)], f"matmul, as a task and overlapped: {both} of 40 each")
CHECK

begin "a table of another version"
"$pkbpf" -q -e cpu --regions -o small.json -- "$workloads/injected" small >watched 2>said || fail "status $?"
grep -q "beyond: untouched" watched || fail "$(cat watched)"

begin "from the call of one function to that of another, also in another thread"
if [ "$(uname -m)" = x86_64 ]; then
	"$pkbpf" -q -e offcpu --region 'request=function:request_begin..request_end@1' \
		--region 'step=function:request_begin..request_end' --probe-cost none \
		-o pairs.json -- "$workloads/pairs" 30 >watched 2>said || fail "status $?"
	[ "$(cat watched)" = 180 ] || fail "the program says something else: $(cat watched)"
	checker - <<-'CHECK'
	import json
	from checks import check
	names = {r["name"]: r for r in json.load(open("pairs.json"))["regions_by_name"]}
	# Both requests of a round and the one of the second part.
	check(names["request"]["count"] == 90, f"by their addresses {names['request']['count']} of 90")
	check(names["request"]["wall_ns"] >= 60 * 2e6 + 30 * 1e6, f"{names['request']['wall_ns'] / 1e6:.1f} ms")
	# In one thread those that another one ends have no end.
	check(names["step"]["count"] == 30 and names["step"]["sleep_ns"] >= 30e6, f"in one thread {names['step']['count']} of 30")
	CHECK
	for text in 'x=function:..b' 'x=function:a..' 'x=function:a..b@9' 'function:a..b'; do
		"$pkbpf" --region "$text" -d 0.1 >said 2>&1
		[ $? = 2 ] || fail "--region $text is accepted"
	done
else
	not_checked "x86-64 only"
fi

begin "NVTX 2, of a library, in a program that runs already"
if [ "$(uname -m)" = x86_64 ]; then
	python3 "$here/workload/nvtx_ranges.py" "$workloads/libnvToolsExt.so.1" "$PWD/go" 50 >ranges &
	program=$!
	wait_until 60 grep -qs ready ranges || give_up "the program has not begun"
	"$pkbpf" -v -e offcpu --regions -p $program -o ranges.json >watched 2>said &
	wait_until 60 grep -q "watching the regions of .*libnvToolsExt" said || fail "not watched"
	wait_until 60 profiling said
	: >go
	wait $program
	wait
	checker - <<-'CHECK'
	import json
	from checks import check
	report = json.load(open("ranges.json"))
	names, tree = {r["name"]: r for r in report["regions_by_name"]}, report["regions"]
	# What is wide has the interface's name.
	for name in "train_step", "load", "layer", "nvtx":
	    check(names.get(name, {}).get("count") == 50, f"{name}: {names.get(name, {}).get('count')} of 50")
	check(names["load"]["sleep_ns"] >= 50e6, f"load slept for {names['load']['sleep_ns'] / 1e6:.1f} ms")
	parents = {r["name"]: tree[r["parent"]]["name"] for r in tree if r.get("parent") is not None}
	check(parents == {"load": "train_step", "layer": "train_step", "nvtx": "layer"}, f"nested as {parents}")
	CHECK
else
	not_checked "x86-64 only"
fi

begin "who has chosen another tool keeps it; without --regions nothing is loaded"
NVTX_INJECTION64_PATH=/none "$pkbpf" -q -e cpu --regions -o none.json -- sh -c 'echo $NVTX_INJECTION64_PATH' >watched 2>said
[ "$(cat watched)" = /none ] || fail "it is $(cat watched)"
"$pkbpf" -q -e cpu -o none.json -- sh -c 'echo "$NVTX_INJECTION64_PATH$INTEL_LIBITTNOTIFY64"' >watched 2>said
[ -z "$(cat watched)" ] || fail "it is $(cat watched)"
conclude
