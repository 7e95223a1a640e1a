#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# Stacks through code whose description counts from registers that callees keep, fits badly, or is missing from every list.
# usage: test_described.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

[ "$(uname -m)" = x86_64 ] || skip "assembly of x86-64"

cat >check.py <<'P'
import sys
import checks
import folded

kept = ["rbx", "r12", "r13", "r14", "r15", "in_memory"]
# The frames below each caller, some of which the C library names
chains = {f"keeps_{register}": [f"keeps_{register}", "clobbers", "rounds"] for register in kept}
chains |= {
    "switches_down": ["switches_down", "switches_up", "clobbers", "rounds"],
    "signals": ["keeps_rbx", "clobbers", "raises", "on_signal", "rounds"],
    "sets_frame": ["sets_frame", "has_none"],
    "sets_frame_too": ["sets_frame_too", "pushes_too"],
}
if "[vsyscall]" in open("/proc/self/maps").read():
    chains |= {name: [name, "[vsyscall]"] for name in ("old_gettimeofday", "old_time", "old_getcpu")}
known = {frame for chain in chains.values() for frame in chain}
total = dict.fromkeys(chains, 0)
right = dict.fromkeys(chains, 0)
others = {}
kernel_twice = 0
for frames, count in folded.read(sys.argv[1]):
    user = folded.user_frames(frames)[1:]
    callers = [frame.removeprefix("caller_of_") for frame in user if frame.startswith("caller_of_")]
    if not callers:
        continue
    name = callers[0]
    chain = [frame for frame in user[user.index("caller_of_" + name):] if frame in known]
    total[name] += count
    # Between two calls, or in the middle of them
    if user[0] == "_start" and "main" in user and chain == chains[name][:len(chain)]:
        right[name] += count
    else:
        others[";".join(frames)] = count
    if "[vsyscall]" in user and any("USER_PTR_MAX" in frame or "[unknown]" in frame for frame in frames):
        kernel_twice += count
print("as expected: " + ", ".join(f"{name} {right[name]} of {total[name]}" for name in chains))
for name in chains:
    if total[name] < 30 or right[name] < 0.995 * total[name] - 1:
        checks.fail(f"{name}: {right[name]} of {total[name]} as expected; others: {others}")
if kernel_twice:
    checks.fail(f"{kernel_twice} stacks have the page of emulated calls among the kernel's frames")
P

record -e cpu -F 999 -o stacks.folded -o run.json -- "$workloads/described" 0.3 || exit 1
checker check.py stacks.folded
grep -q '"guessed_frames": *0$' run.json || fail "frames were guessed: $(grep -o '"guessed_frames": *[0-9]*' run.json)"
conclude
