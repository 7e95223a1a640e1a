#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# A program with hundreds of libraries, started again and again: its stacks are walked in the kernel, not copied to be walked later.
# usage: test_many_libraries.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

libraries=300 lives=6

cat >"$work/library.c" <<'C'
volatile unsigned int sum;
__attribute__((noinline)) static void add(unsigned int rounds)
{
	for (unsigned int i = 0; i < rounds; i++)
		sum = sum * 1664525U + 1013904223U;
}
void work(unsigned int rounds)
{
	add(rounds);
	sum++;
}
C
# As ffmpeg or a framework for machine learning starts: one library after the other, and then it works in all of them.
cat >"$work/program.c" <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
	int count = argc > 2 ? atoi(argv[2]) : 0;
	void (**work)(unsigned int) = calloc((size_t)count + 1, sizeof(*work));
	clock_t end;
	char path[4096];

	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof(path), "%s/%d.so", argv[1], i);
		*(void **)&work[i] = dlsym(dlopen(path, RTLD_NOW), "work");
		if (!work[i])
			return 1;
	}
	end = clock() + CLOCKS_PER_SEC * 3 / 10;
	for (int i = 0; clock() < end; i++)
		work[i % count](20000);
	return 0;
}
C
gcc -O2 -fomit-frame-pointer -fPIC -shared "$work/library.c" -o "$work/0.so" &&
	gcc -O2 -fomit-frame-pointer "$work/program.c" -o "$work/program" -ldl || exit 1
for ((i = 1; i < libraries; i++)); do
	cp "$work/0.so" "$work/$i.so"
done

record -e cpu,offcpu -F 999 -o all.folded -o all.json -- \
	bash -c "for ((i = 0; i < $lives; i++)); do ./program . $libraries || exit; done" || exit 1
checker - <<'P'
import checks
import folded

stacks = [(folded.user_frames(f)[1:], c) for f, c in folded.read("all.cpu.folded") if f[0] == "program"]
at_work = [(f, c) for f, c in stacks if "work" in f or "add" in f]
whole, total = folded.share(at_work, lambda f: f[0] == "_start" and "main" in f and f[-1] in ("work", "add"))
counters = checks.counters(checks.read_report("all.json"))
copied, recorded = counters.get("RAW_STACKS", 0), counters["CPU_RECORDED"]
print(f"{recorded} samples, {total} in the libraries, {100 * whole:.2f} % of these whole; {copied} copied to be walked later")
if total < 200:
    checks.fail(f"only {total} samples in the libraries")
if whole < 0.995:
    checks.fail(f"only {100 * whole:.2f} % of the stacks are whole")
# While libraries are still being mapped, and until tables of new ones are there.
if copied > recorded / 4:
    checks.fail(f"{copied} of {recorded} stacks were copied")
P
conclude
