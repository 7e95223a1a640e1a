#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# alone: it fills the buffers of the host
# Stacks are copied faster than pkbpf takes the copies in, as on a machine that is emulated or has many CPUs: it goes on to what
# makes the programs copy fewer, and ends when it should.
# usage: test_slow_reader.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

busy=
# shellcheck disable=SC2086,SC2317
cleanup() {
	kill $busy
	wait
} 2>/dev/null

# Between libbpf and pkbpf: each record of a few pages takes longer than it takes two CPUs to make the next.
cat >slow.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

typedef int take(void *context, void *data, size_t size);
struct slow { take *take; void *context; } slow[16];
static unsigned int count, delays;

static int take_slowly(void *context, void *data, size_t size)
{
	struct slow *to = context;

	if (size > 4096) {
		usleep(1500);
		delays++;
	}
	return to->take(to->context, data, size);
}

void *ring_buffer__new(int fd, take *sample, void *context, const void *options)
{
	void *(*create)(int, take *, void *, const void *) = dlsym(RTLD_NEXT, "ring_buffer__new");

	slow[count] = (struct slow){ sample, context };
	return create(fd, take_slowly, &slow[count++], options);
}

__attribute__((destructor)) static void tell(void)
{
	fprintf(stderr, "slowed: %u\n", delays);
}
C
gcc -O2 -fPIC -shared slow.c -o slow.so -ldl &&
	gcc -x c -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -fno-ipa-cp -fno-inline -pthread "$here/workload/recursion.inc" \
		-o ./recursion || exit 1
for _ in $(seq "$(($(nproc) + 1))"); do
	./recursion 1000 100 &
	busy="$busy $!"
done
LD_PRELOAD=./slow.so timeout -s KILL 60 "$pkbpf" -q -e cpu -F 999 -d 2 -o cpu.folded -o cpu.json 2>log
status=$?
[ $status = 0 ] || give_up "pkbpf ended with status $status (137: not at all): $(cat log)"
checker - <<'P'
import re
import checks
import folded

stacks = [(folded.user_frames(f)[1:], c) for f, c in folded.read("cpu.folded") if f[0] == "recursion"]
# Not in one turn of the reader's, but in the next, the tables are there.
whole, total = folded.share(stacks, lambda f: f[0] == "_start" and "main" in f)
counters = checks.counters(checks.read_report("cpu.json"))
with open("log", encoding="utf-8") as log:
    slowed = int(re.search(r"slowed: (\d+)", log.read())[1])
print(f"{total} samples, {100 * whole:.1f} % whole, {counters.get('RAW_STACKS', 0)} copied, {slowed} of them slowly")
if slowed < 5:
    checks.fail("nothing was slow: this tests nothing")
if total < 100:
    checks.fail(f"only {total} samples of the programs")
if whole < 0.5:
    checks.fail(f"only {100 * whole:.1f} % of the stacks are whole")
P
conclude
