#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# Stacks through code that has no call frame information at all, neither in the program nor in the C library: a program linked with
# musl, dynamically, and statically without its symbols, and busybox.
# usage: test_no_frame_information.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

[ "$(uname -m)" = x86_64 ] || skip "code is read on x86-64 alone"


# main -> descend, 24 times -> sort -> the library's sort -> compare; and the library's allocator, which faults pages in.
cat >"$work/sorts.c" <<'C'
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WORDS 20000

static int compare(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

__attribute__((noinline)) static void sort(void)
{
	static char *words[WORDS];

	for (int i = 0; i < WORDS; i++) {
		words[i] = malloc(16);
		memset(words[i], 0, 16);
		for (int j = 0, n = i * 7919 % 100003; j < 6; j++, n /= 10)
			words[i][j] = (char)('0' + n % 10);
	}
	qsort(words, WORDS, sizeof(*words), compare);
	for (int i = 0; i < WORDS; i++)
		free(words[i]);
}

__attribute__((noinline)) static int descend(int depth)
{
	volatile char room[48];

	room[0] = (char)depth;
	if (depth == 0)
		sort();
	else
		room[1] = (char)descend(depth - 1);
	return room[0];
}

int main(void)
{
	while (clock() < CLOCKS_PER_SEC)
		descend(23);
	return 0;
}
C
options=(-O2 -fomit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables "$work/sorts.c")
musl-gcc "${options[@]}" -o "$work/dynamic" || exit 1
musl-gcc "${options[@]}" -static -s -o "$work/static" || exit 1

cat >"$work/check.py" <<'P'
import sys
import checks
import folded

name, named = sys.argv[2], sys.argv[3] == "named"
stacks = whole = chains = 0
others = {}
for frames, count in folded.read(sys.argv[1]):
    user = [frame for frame in folded.user_frames(frames)[1:] if not frame.startswith("[truncated: inside execve")]
    if frames[0] != name or not user:
        continue
    stacks += count
    if user[0].startswith("[truncated"):
        others[";".join(user)] = count
        continue
    whole += count
    if not named:
        continue
    descents = user.count("descend")
    # Those of main's own call of clock() have none.
    if user[0] in ("_start", "_dlstart") and (descents == 24 or (descents < 24 and "sort" not in user)):
        chains += count
    else:
        others[";".join(user)] = count
print(f"{name}: {stacks} stacks, {whole} whole" + (f", {chains} as expected" if named else ""))
if stacks < 50:
    checks.fail(f"only {stacks} stacks")
if whole < 0.995 * stacks:
    checks.fail(f"only {whole} of {stacks} stacks are whole: {others}")
if named and chains < 0.995 * stacks:
    checks.fail(f"only {chains} of {stacks} chains are as expected: {others}")
P

# check NAME named|unnamed COMMAND…: its CPU samples and page faults
check() {
	local name=$1 named=$2 kind
	shift 2
	record -e cpu,faults -F 999 -o "$name.folded" -- "$@" || exit 1
	for kind in cpu faults; do
		checker "$work/check.py" "$work/$name.$kind.folded" "$name" "$named"
	done
}

check dynamic named "$work/dynamic"
check static unnamed "$work/static"
# shellcheck disable=SC2016 # expanded by the shell that is profiled
check busybox unnamed busybox sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; busybox find /usr/lib /usr/share -type f | busybox sort | busybox md5sum'
conclude
