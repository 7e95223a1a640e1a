#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Go programs change stacks: to grow a goroutine's, into the run-time, into C code and back. Every stack must be whole, at its
# true depth, in a program and in a stripped library that a thread of another program calls.
# usage: test_go.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

[ "$(uname -m)" = x86_64 ] || skip "the function tables of Go are read on x86-64"
command -v go >/dev/null || skip "no Go compiler: tools/packages test"
export GO111MODULE=off GOCACHE=$work/cache HOME=$work GOFLAGS=

# check FOLDED ROOTS…: where C code begins that calls Go
check() {
	checker - "$@" <<'P'
import collections
import sys
import checks
import folded

stacks = [(folded.user_frames(f), c) for f, c in folded.read(sys.argv[1])]
roots = sys.argv[2:]
# The C functions of a stripped library have no names.
name = lambda frame: "c_back" if frame.startswith("[libgo.so+") else frame.removesuffix("_[i]").removesuffix(".abi0")
names = lambda frames: [name(x) for x in frames[1:]]
seen, right, wrong = collections.Counter(), collections.Counter(), {}


def judge(kind, is_right, frames, count):
    seen[kind] += count
    right[kind] += count if is_right else 0
    if not is_right:
        wrong[kind] = frames


# Of the first stacks there are copies, until there is the table; without the memory that leads to the other stack.
early = sum(c for f, c in stacks if "[truncated: caller's stack not found]" in f)
if early > 0.25 * sum(c for _, c in stacks):
    checks.fail(f"{early} samples whose caller's stack was not found")
for frames, count in stacks:
    stack = names(frames)
    if not stack or stack[0] in ("[truncated: inside execve]", "[truncated: caller's stack not found]"):
        continue
    judge("whole", not stack[0].startswith("[truncated"), stack, count)
    grown = [i for i, x in enumerate(stack) if x == "runtime.newstack"]
    # A goroutine that was to be stopped is none any more when the thread looks for another.
    if grown and not any(x in stack for x in ("runtime.goschedImpl", "runtime.gopreempt_m")):
        i = grown[0]
        judge("growing", stack[0] == "runtime.goexit" and stack[i - 1] == "runtime.morestack" and
              (stack[i - 3 : i - 1] == ["main.first", "main.second"] or stack[i - 2] == "main.recursion"), stack, count)
    if "runtime.systemstack" in stack:
        i = stack.index("runtime.systemstack")
        judge("run-time", i >= 2 and (stack[0] == "runtime.goexit" or all(x in stack for x in roots)), stack, count)
    if stack[-1] == "main.work" and "main.recursion" in stack:
        judge("deep", stack.count("main.recursion") == 201, stack, count)
    if "c_leaf" in stack or (stack[-1] == "main.work" and "main.GoWork" in stack):
        calls = [x for x in stack if x in ("c_back", "main.GoWork", "runtime.cgocallback", "crosscall2", "runtime.asmcgocall")]
        back = ["runtime.asmcgocall", "c_back", "crosscall2", "runtime.cgocallback", "main.GoWork"]
        begin = ["main.GoWork"] if "runtime.main" in stack else back[2:]
        end = ["runtime.asmcgocall"] if "c_leaf" in stack else []
        judge("back from C", calls == begin + 2 * back + end and all(x in stack for x in roots), stack, count)
for kind in ("whole", "growing", "run-time", "deep", "back from C"):
    # A host that takes the CPU away leaves less of them.
    least = 2 if kind in ("growing", "run-time") else 5
    print(f"  {kind}: {right[kind]} of {seen[kind]}")
    if seen[kind] < least or right[kind] < 0.99 * seen[kind] - 1:
        checks.fail(f"{kind}: {right[kind]} of {seen[kind]}, at least {least}: {';'.join(wrong.get(kind, []))[-600:]}")
P
}

begin "a program"
if go build -o go_stacks "$here/workload/go_stacks.go" >said 2>&1; then
	record -e cpu -F 999 -o program.folded -- ./go_stacks 2.5 && check program.folded runtime.main
else
	fail "go build: $(tail -n 3 said)"
fi

begin "a stripped library"
if go build -buildmode=c-shared -ldflags='-s -w' -o libgo.so "$here/workload/go_stacks.go" >said 2>&1 &&
	gcc -x c -O2 -fomit-frame-pointer "$here/workload/go_host.inc" -o host -x none libgo.so -Wl,-rpath,"$work" -lpthread; then
	record -e cpu -F 999 -o library.folded -- ./host 3 && check library.folded host_thread host_call
else
	fail "go build: $(tail -n 3 said)"
fi

conclude
