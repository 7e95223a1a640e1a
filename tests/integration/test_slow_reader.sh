#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Stacks are copied faster than pkbpf takes the copies in, as on a machine that is emulated or has many CPUs: it goes on to what
# makes the programs copy fewer, and ends when it should.
# usage: test_slow_reader.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

work=$(mktemp -d /tmp/pkbpf-reader-XXXXXX)
busy=
# shellcheck disable=SC2086,SC2317
end() {
	kill $busy
	wait
	rm -rf "$work"
} 2>/dev/null
trap end EXIT

# Between libbpf and pkbpf: each record of a few pages takes longer than it takes two CPUs to make the next.
cat >"$work/slow.c" <<'C'
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
gcc -O2 -fPIC -shared "$work/slow.c" -o "$work/slow.so" -ldl &&
	gcc -x c -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -fno-ipa-cp -fno-inline -pthread "$here/workload/recursion.inc" \
		-o "$work/recursion" || exit 1
for _ in $(seq "$(($(nproc) + 1))"); do
	"$work/recursion" 1000 100 &
	busy="$busy $!"
done
LD_PRELOAD=$work/slow.so timeout -s KILL 60 "$pkbpf" -q -e cpu -F 999 -d 2 -o "$work/cpu.folded" -o "$work/cpu.json" 2>"$work/log"
status=$?
if [ $status != 0 ]; then
	cat "$work/log"
	echo "FAILED: pkbpf ended with status $status (137: not at all)"
	exit 1
fi
PYTHONPATH=$here python3 - "$work" <<'P'
import json
import re
import sys
import folded

stacks = [(folded.user_frames(f)[1:], c) for f, c in folded.read(sys.argv[1] + "/cpu.folded") if f[0] == "recursion"]
# Not in one turn of the reader's, but in the next, the tables are there.
whole, total = folded.share(stacks, lambda f: f[0] == "_start" and "main" in f)
with open(sys.argv[1] + "/cpu.json", encoding="utf-8") as report:
    counters = {c["name"]: c["count"] for c in json.load(report)["counters"]}
with open(sys.argv[1] + "/log", encoding="utf-8") as log:
    slowed = int(re.search(r"slowed: (\d+)", log.read())[1])
print(f"{total} samples, {100 * whole:.1f} % whole, {counters.get('RAW_STACKS', 0)} copied, {slowed} of them slowly")
if slowed < 5:
    folded.fail("nothing was slow: this tests nothing")
if total < 500:
    folded.fail(f"only {total} samples of the programs")
if whole < 0.5:
    folded.fail(f"only {100 * whole:.1f} % of the stacks are whole")
P
