#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# Recursion of known depth without frame pointers: every frame there, in order, down to the root.
# usage: test_depth.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"


# check NAME DEPTH PROGRAM [EVENTS]
check() {
	local name=$1 depth=$2 program=$3
	record -e "${4:-cpu}" -F 999 -f folded -o out -- "$program" "$depth" 0.7 || return
	checker - "$name" "$depth" out <<'P'
import sys
import checks
import folded

name, depth, stacks = sys.argv[1], int(sys.argv[2]), folded.read(sys.argv[3])
deep = [(f, c) for f, c in stacks if any(x.split("(")[0] == "bottom" for x in f)]
total = sum(c for _, c in deep)
names = lambda frames: [x.split("(")[0] for x in folded.user_frames(frames)]
# Inlining is off for descend(): it must appear exactly depth times between main and bottom.
wanted = ["main"] + ["descend"] * depth + ["bottom"]
right = sum(c for f, c in deep if folded.holds_in_order(names(f), wanted) and "_start" in names(f))
print(f"  {name}: depth {depth}: {right} of {total} samples whole and in order")
if total < 50 or right != total:
    for f, c in deep:
        if not (folded.holds_in_order(names(f), wanted) and "_start" in names(f)):
            print("   ", c, ";".join(f)[:300], "frames", len(f))
            break
    checks.fail(f"{name} at depth {depth}: {right} of {total}")
P
}

src=$here/workload/recursion.inc
flags="-O2 -fomit-frame-pointer -fno-optimize-sibling-calls"
gcc -x c $flags -fno-ipa-cp -fno-inline "$src" -o "$work/pie" || exit 1
gcc -x c $flags -fno-ipa-cp -fno-inline -no-pie "$src" -o "$work/no_pie" || exit 1
gcc -x c $flags -fno-ipa-cp -fno-inline -static "$src" -o "$work/static" || exit 1
gcc -x c $flags -fno-ipa-cp -fno-inline -DTOUCH_PAGES "$src" -o "$work/faults" || exit 1
clang -x c $flags -fno-inline "$src" -o "$work/clang" || exit 1
gcc -x c $flags -fno-ipa-cp -fno-inline -no-pie -fno-pie -DFAR -Wl,--section-start=.far=0x60000000 "$src" -o "$work/far" || exit 1
for depth in 7 47 124 500 1000; do
	check pie $depth "$work/pie"
done
check faults 47 "$work/faults" faults
check faults 1000 "$work/faults" faults
for name in no_pie static clang far; do
	check $name 124 "$work/$name"
done
conclude
