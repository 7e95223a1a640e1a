#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Stacks through code that a program has generated without keeping frame pointers have their callers.
# usage: test_generated_code.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

[ "$(uname -m)" = x86_64 ] || skip "code is read on x86-64 alone"

work=$(mktemp -d /tmp/pkbpf-generated-XXXXXX)
trap 'rm -rf "$work"' EXIT

"$pkbpf" -q -e cpu -F 999 -o "$work/all.folded" -- "$workloads/generated" >"$work/out" 2>&1 || {
	cat "$work/out"
	echo "FAILED: pkbpf or the program ended with an error"
	exit 1
}
PYTHONPATH=$here python3 - "$work/all.folded" <<'P'
import sys
import folded

stacks = [(folded.user_frames(f)[1:], c) for f, c in folded.read(sys.argv[1]) if f[0] == "generated"]
inside = [(f, c) for f, c in stacks if f and f[-1] == "[unknown]"]
whole, total = folded.share(inside, lambda f: f[0] == "_start" and f[-4:] == ["main", "outer", "inner", "[unknown]"])
wrong = [f for f, _ in inside if not f[0].startswith("[truncated") and f[-4:] != ["main", "outer", "inner", "[unknown]"]]
print(f"{total} samples in generated code, {100 * whole:.1f} % of these whole")
if total < 1000:
    folded.fail(f"only {total} samples in generated code")
if wrong:
    folded.fail(f"wrong chains: {wrong[:3]}")
# Until it has been looked at twice, nothing is known of it.
if whole < 0.75:
    folded.fail(f"only {100 * whole:.1f} % of the stacks are whole")
P
