#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Stacks through code that a program has generated without keeping frame pointers have their callers.
# usage: test_generated_code.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

[ "$(uname -m)" = x86_64 ] || skip "code is read on x86-64 alone"

work=$(mktemp -d /tmp/pkbpf-generated-XXXXXX)
trap 'rm -rf "$work"' EXIT

"$pkbpf" -q -e cpu -F 999 --pid-frame -o "$work/all.folded" -- "$workloads/generated" >"$work/out" 2>&1 || {
	cat "$work/out"
	echo "FAILED: pkbpf or the program ended with an error"
	exit 1
}
PYTHONPATH=$here python3 - "$work/all.folded" <<'P'
import sys
import folded

stacks = {}
for frames, count in folded.read(sys.argv[1]):
    if frames[0].startswith("generated-"):
        stacks.setdefault(frames[0], []).append((folded.user_frames(frames)[1:], count))
# The parent generates the code, the child inherits it.
if len(stacks) != 2:
    folded.fail(f"processes seen: {sorted(stacks)}")
for process, seen in sorted(stacks.items()):
    inside = [(f, c) for f, c in seen if f and f[-1] == "[unknown]"]
    end = ["work", "outer", "inner", "[unknown]"]
    whole, total = folded.share(inside, lambda f: f[0] == "_start" and f[-4:] == end)
    wrong = [f for f, _ in inside if not f[0].startswith("[truncated") and f[-4:] != end]
    print(f"{process}: {total} samples in generated code, {100 * whole:.1f} % of these whole")
    if total < 500:
        folded.fail(f"only {total} samples in generated code")
    if wrong:
        folded.fail(f"wrong chains: {wrong[:3]}")
    # Until it has been looked at twice, nothing is known of it.
    if whole < 0.7:
        folded.fail(f"only {100 * whole:.1f} % of the stacks are whole")
P
