#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# Threads from their first moment: in the function that makes them, whose caller is none of theirs. Workers of the kernel have no stack in
# user code, whatever process they belong to.
# usage: test_thread_starts.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

# check WHAT FILE LEAST: of so many samples at least, none is cut that begins where threads are made or that a worker has. That memory is
# exchanged by execve is told.
check() {
	checker - "$@" <<'P'
import sys
import checks
import folded

what, path, least = sys.argv[1], sys.argv[2], int(sys.argv[3])
total = 0
cut = {}
for frames, count in folded.read(path):
    user = folded.user_frames(frames[1:])
    if what == "workers":
        if not frames[0].startswith("iou-"):
            continue
    elif "clone3" not in user and "clone" not in user and "__clone" not in user:
        continue
    total += count
    # It is about to be called, or to be its argument.
    impossible = any(callee in ("clone", "__clone") and caller in ("cloned", "argument") for caller, callee in zip(user, user[1:]))
    if impossible or any(frame.startswith("[truncated") and "execve" not in frame for frame in frames) or (what == "workers" and user):
        cut[";".join(frames)] = cut.get(";".join(frames), 0) + count
print(f"  {what}: {sum(cut.values())} of {total} cut")
if total < least or cut:
    checks.fail(f"{what}: {total} there, cut: {dict(sorted(cut.items(), key=lambda x: -x[1])[:3])}")
P
}

for what in threads children workers; do
	record -e cpu,offcpu -F 4999 -o $what.folded -- "$workloads/starts_threads" $what 3
	check $what $what.cpu.folded 20
	[ $what != workers ] || check $what $what.offcpu.folded 1000
done
# By the C libraries' own function; what the new stack holds looks like callers.
cat >clones.c <<'C'
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

static char stack[65536] __attribute__((aligned(16)));
volatile unsigned long sink;

__attribute__((noipa)) int argument(void)
{
	return sink++ == 7;
}

__attribute__((noipa)) int cloned(void *with)
{
	for (volatile int i = 0; i < 3000; i++)
		sink += i;
	return with == &sink;
}

int main(int argc, char **argv)
{
	for (time_t end = time(NULL) + 3; time(NULL) < end;)
		waitpid(clone(cloned, stack + sizeof(stack), CLONE_VM | CLONE_FILES | SIGCHLD, argc > 1 ? (void *)argument : NULL), NULL, 0);
	return 0;
}
C
gcc -O2 -o glibc clones.c || exit 1
musl-gcc -O2 -static -o musl clones.c || exit 1
for program in glibc musl; do
	for argument in "" argument; do
		# shellcheck disable=SC2086
		record -e cpu -F 4999 -o clones.folded -- ./$program $argument
		check "clones, $program $argument" clones.folded 20
	done
done
conclude
