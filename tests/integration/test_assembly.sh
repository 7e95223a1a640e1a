#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# Stacks below hand-written assembly, which has no call frame information and uses the frame pointer for something else.
# Those of code that is not read yet are copied, and walked when it is.
# usage: test_assembly.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

[ "$(uname -m)" = x86_64 ] || skip "assembly of x86-64"
target=
cleanup() { [ -z "$target" ] || kill "$target"; }

cat >check.py <<'P'
import sys
import checks
import folded

# What each calls, if anything
functions = {"pushes": "", "aligns": "rounds_without_frame", "aligns_twice": "", "keeps": "", "trusts": "rounds_without_frame", "jumps": "", "enters": "",
             "calls": "rounds_in_c", "marks": "rounds_in_c"}
total = dict.fromkeys(functions, 0)
right = dict.fromkeys(functions, 0)
truncated = stacks = 0
others = {}
for frames, count in folded.read(sys.argv[1]):
    user = [frame.split("(")[0] for frame in folded.user_frames(frames)[1:]]
    stacks += count
    if user and user[0].startswith("[truncated"):
        truncated += count
        others[";".join(user)] = count
        continue
    for name, called in functions.items():
        if name in user or f"caller_of_{name}" in user:
            chain = [f for f in user[user.index("main"):] if "clock" not in f and "cpu_seconds" not in f] if "main" in user else []
            allowed = [["main", f"caller_of_{name}", name], ["main", f"caller_of_{name}"], ["main", f"caller_of_{name}", name, called]]
            total[name] += count
            if user[0] == "_start" and chain in allowed:
                right[name] += count
            else:
                others[";".join(user)] = count
print(f"{stacks} stacks, {truncated} truncated; as expected: " +
      ", ".join(f"{name} {right[name]} of {total[name]}" for name in functions))
if truncated > 0.005 * stacks:
    checks.fail(f"{truncated} of {stacks} stacks are truncated: {others}")
for name in functions:
    if total[name] < 50 or right[name] < 0.995 * total[name] - 1:
        checks.fail(f"{name}: {right[name]} of {total[name]} as expected; others: {others}")
P

# The second has so much of it that it is read only when a walk comes to it.
for program in assembly assembly_large; do
	record -e cpu -F 999 -o stacks.folded -- "$workloads/$program" 0.6 || exit 1
	echo "$program:"
	checker check.py stacks.folded
done

"$workloads/assembly_large" 600 &
target=$!
uses $target 50
"$pkbpf" doctor --pid $target >said
grep -q 'assembly_large (4[0-9][0-9] KiB by analysis of its instructions)$' said ||
	fail "doctor does not say what was read from instructions: $(cat said)"
conclude
