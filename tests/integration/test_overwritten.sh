#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# A program or library that is overwritten in place keeps its path and inode, and is another one from then on: no sample has
# names of what was not there, and stacks are whole before and after.
# usage: test_overwritten.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

# The frames of two that are made from this differ in size, and their functions lie elsewhere.
cat >work.c <<'C'
#include <string.h>
volatile unsigned int sum;
#ifdef PADDED
unsigned int padding(unsigned int n)
{
	return n % 7 ? padding(n / 7) * n + sum : sum;
}
#endif
__attribute__((noinline)) void NAME(_leaf)(unsigned int rounds)
{
	volatile char room[ROOM];

	memset((void *)room, 1, sizeof(room));
	for (unsigned int i = 0; i < rounds; i++)
		sum = sum * 1664525U + room[i % sizeof(room)];
}
__attribute__((noinline)) void NAME(_middle)(unsigned int rounds)
{
	volatile char room[ROOM * 3];

	room[rounds % sizeof(room)] = 1;
	NAME(_leaf)(rounds);
	sum += room[0];
}
void work(void)
{
	for (int i = 0; i < 50; i++)
		NAME(_middle)(20000);
}
C
cat >program.c <<'C'
#include <time.h>
void work(void);
int main(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 2;

	while (clock() < end)
		work();
	return 0;
}
C
cat >host.c <<'C'
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
int main(void)
{
	static const char *const copies[] = {"cp alpha.so plugin.so", "cp beta.so plugin.so"};

	for (int i = 0; i < 2; i++) {
		clock_t end = clock() + CLOCKS_PER_SEC / 2;
		void (*work)(void);
		void *plugin;

		if (system(copies[i]) || !(plugin = dlopen("./plugin.so", RTLD_NOW)))
			return 1;
		*(void **)&work = dlsym(plugin, "work");
		usleep(500000); /* until it is known what is mapped there now */
		while (clock() < end)
			work();
		dlclose(plugin);
	}
	return 0;
}
C
# make_both NAME OPTION…: a program and a library
make_both() {
	local name=$1
	shift
	gcc -O2 -fomit-frame-pointer "-DNAME(x)=$name##x" "$@" work.c program.c -o "$name" &&
		gcc -O2 -fomit-frame-pointer -fPIC -shared -Wl,-Bsymbolic "-DNAME(x)=$name##x" "$@" work.c -o "$name.so"
}
make_both alpha -DROOM=40 && make_both beta -DROOM=1000 -DPADDED && gcc -O2 -fomit-frame-pointer host.c -o host -ldl || exit 1

# check RESULT COMM MODULE: what was overwritten before it was named is told by addresses, what is there now by names
check() {
	checker - "$@" <<'P'
import sys
import checks
import folded

result, comm, module = sys.argv[1:]
stacks = [(folded.user_frames(f)[1:], c) for f, c in folded.read(result) if f[0] == comm]


def is_old(frames):
    return len(frames) > 2 and all(f.startswith(f"[{module}+") for f in frames[-2:])


new = [(f, c) for f, c in stacks if "beta_leaf" in f]
old = [(f, c) for f, c in stacks if is_old(f)]
whole_new, total_new = folded.share(
    new, lambda f: f[0] == "_start" and "main" in f and folded.holds_in_order(f, ["work", "beta_middle", "beta_leaf"]))
whole_old, total_old = folded.share(old, lambda f: "__libc_start_main" in f and not any("beta" in x for x in f))
truncated = sum(c for f, c in stacks if f and f[0].startswith("[truncated"))
total = sum(c for _, c in stacks)
print(f"{result}: {total} samples, {total_old} of the old one, {100 * whole_old:.1f} % whole, {total_new} of the new one, "
      f"{100 * whole_new:.1f} % whole, {truncated} truncated")
if min(total_old, total_new) < total / 4 or total < 100:
    checks.fail(f"{total_old} and {total_new} of {total} samples are the old and the new one's")
# Where the old library was, the new one is mapped: nobody knows yet until the profiler has had a CPU.
if min(whole_old, whole_new) < 0.9 or truncated > total / 20:
    checks.fail("stacks are not whole")
P
}

record -e cpu -F 999 -o program.folded -- bash -c 'cp alpha p; ./p; cp beta p; ./p' || exit 1
check program.folded p p
record -e cpu -F 999 -o library.folded -- ./host || exit 1
check library.folded host plugin.so
# Touched and given other permissions, it is the same.
record -e cpu -F 999 -o touched.folded -- bash -c 'cp alpha q; ./q; touch q; chmod 700 q; ./q; rm q' || exit 1
checker - <<'P'
import checks
import folded

stacks = [(folded.user_frames(f)[1:], c) for f, c in folded.read("touched.folded") if f[0] == "q"]
named, total = folded.share(stacks, lambda f: "alpha_leaf" in f and f[0] == "_start")
print(f"touched.folded: {total} samples, {100 * named:.1f} % whole")
if total < 100 or named < 0.97:
    checks.fail("a file that was merely touched has lost its names")
P
conclude
