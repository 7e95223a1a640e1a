#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Stacks through code that a program has generated without keeping frame pointers have their callers.
# usage: test_generated_code.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

[ "$(uname -m)" = x86_64 ] || skip "code is read on x86-64 alone"


# check_chains PROCESSES GENERATED_FRAMES WORKLOAD [ARGUMENT]
check_chains()
{
	processes=$1
	frames=$2
	name=$3
	shift 3
	record -e cpu -F 999 --pid-frame -o all.folded -- "$workloads/$name" "$@" || exit 1
	checker - all.folded "$name" "$processes" "$frames" <<'P'
import re
import sys
import checks
import folded

path, workload, processes, generated = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
stacks = {}
for frames, count in folded.read(path):
    if frames[0].startswith(workload + "-"):
        user = [re.sub(r"^\[memfd:code.*", "[unknown]", f) for f in folded.user_frames(frames)]
        stacks.setdefault(frames[0], []).append((user[1:], count))
if len(stacks) != processes:
    checks.fail(f"processes seen: {sorted(stacks)}")
for process, seen in sorted(stacks.items()):
    inside = [(f, c) for f, c in seen if f and f[-1] == "[unknown]"]
    # The innermost function works; the others are met as they call and return.
    ends = [["work", "outer", "inner"] + n * ["[unknown]"] for n in range(1, generated + 1)]
    whole, total = folded.share(inside, lambda f: f[0] == "_start" and f[-3 - generated:] == ends[-1])
    # Until it has been looked at twice, a frame pointer of a caller leads past some frames.
    wrong = [f for f, _ in inside if not f[0].startswith("[truncated") and all(f[-len(e):] != e for e in ends)]
    print(f"{process}: {total} samples in generated code, {100 * whole:.1f} % of these whole")
    if total < 100:
        checks.fail(f"only {total} samples in generated code")
    if wrong and generated == 1:
        checks.fail(f"wrong chains: {wrong[:3]}")
    # Until it has been looked at twice, nothing is known of it.
    if whole < 0.5:
        checks.fail(f"only {100 * whole:.1f} % of the stacks are whole")
P
}

# Off-CPU, a stack that comes again is recognised, and must not stay what it was before anything was known of the code.
check_waits()
{
	record -e offcpu -o waits.folded -- "$workloads/generated_wait" || exit 1
	checker - waits.folded <<'P'
import sys
import checks
import folded

waits = [(folded.user_frames(f), c) for f, c in folded.read(sys.argv[1]) if "waits" in f]
chain = ["work", "outer", "inner"] + 3 * ["[unknown]"] + ["waits"]
right, total = folded.share(waits, lambda f: folded.holds_in_order(f, chain))
print(f"waits: {total} us, {100 * right:.1f} % of these as expected")
if total < 20000000 or right < 0.6:
    checks.fail(f"only {100 * right:.1f} % of {total} us as expected")
P
}

# The parent generates the code, the child inherits it.
check_chains 2 1 generated
check_chains 1 3 generated_chain
check_chains 1 3 generated_chain code
check_waits
conclude
