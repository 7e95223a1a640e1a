#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Who is a target after fork and exec: samples begin and end with it, and are walked with the new image's tables at once.
# usage: test_targets.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

work=$(mktemp -d /tmp/pkbpf-targets-XXXXXX)
trap 'rm -rf "$work"' EXIT

# check NAME EXPECTED OPTION…: EXPECTED lists who must have been sampled where, as "parent:before_exec"; nobody else may.
check() {
	local name=$1 expected=$2 program pid
	shift 2
	rm -f "$work/go"
	"$workloads/change_image" "$work/go" "$workloads/spin" 0.7 >"$work/pids" &
	program=$!
	"$pkbpf" -v -e cpu -F 999 --pid-frame -d 20 "$@" "$program" -o "$work/$name.folded" 2>"$work/err" &
	pid=$!
	for ((i = 0; i < 200; i++)); do
		grep -q "profiling since" "$work/err" && break
		[ -d "/proc/$pid" ] || break
		sleep 0.01
	done
	touch "$work/go"
	wait $pid || {
		echo "FAILED: $name: pkbpf ended with $?"
		cat "$work/err"
		failures=$((failures + 1))
	}
	wait $program
	PYTHONPATH=$here python3 - "$name" "$expected" "$work/$name.folded" "$work/pids" <<'P' || failures=$((failures + 1))
import collections
import sys
import folded

name, expected, out, pids = sys.argv[1], sys.argv[2].split(), sys.argv[3], sys.argv[4]
who = {pid: role for role, pid in (line.split() for line in open(pids))}
seen, whole = collections.Counter(), collections.Counter()
for frames, count in folded.read(out):
    role = who[frames[0].rsplit("-", 1)[1]]
    for function in ("before_exec", "spin_here"):
        if function in frames:
            seen[f"{role}:{function}"] += count
            whole[f"{role}:{function}"] += count * ("_start" in frames)
print(f"  {name}:", dict(seen), "whole", dict(whole))
for place in expected:
    if seen[place] < 200 or whole[place] < 0.99 * seen[place]:
        folded.fail(f"{name}: {seen[place]} samples at {place}, {whole[place]} whole")
# A sample on the way into the new image has no frames of it yet.
for place in set(seen) - set(expected):
    folded.fail(f"{name}: {seen[place]} samples at {place}, which is no target")
P
}

check workers "parent:before_exec parent:spin_here child:before_exec" -p
check children "parent:before_exec parent:spin_here child:before_exec child:spin_here" --children -p
check alone "parent:before_exec parent:spin_here" --no-children -p
check thread "parent:before_exec parent:spin_here" --tid
[ "$failures" = 0 ] || { echo "$failures failed"; exit 1; }
