#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# alone: it starts processes as fast as the machine can
# A parallel build of a C project, where most processes live for milliseconds: nearly all user stacks are whole.
# usage: test_exec_heavy.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
unset MAKEFLAGS MFLAGS
cleanup() { [ -z "${PKBPF_KEEP-}" ] || cp all.* "$PKBPF_KEEP"; }

# Sixty files that include what C programs include, an archive, a program at the end: 250 processes.
for ((i = 0; i < 60; i++)); do
	cat >part$i.c <<-END
		#include <ctype.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <unistd.h>
		struct item$i { char name[32]; struct item$i *next; int count; };
		static struct item$i *list$i;
		int find$i(const char *name)
		{
			for (struct item$i *item = list$i; item; item = item->next)
				if (strcmp(item->name, name) == 0)
					return ++item->count;
			return 0;
		}
		int add$i(const char *text)
		{
			char word[32];
			size_t size = 0;
			for (const char *at = text; ; at++) {
				if (isalnum((unsigned char)*at) && size < sizeof(word) - 1) {
					word[size++] = (char)tolower((unsigned char)*at);
					continue;
				}
				word[size] = 0;
				if (size && !find$i(word)) {
					struct item$i *item = calloc(1, sizeof(*item));
					strcpy(item->name, word);
					item->next = list$i;
					list$i = item;
				}
				size = 0;
				if (!*at)
					return $i;
			}
		}
	END
done
{
	for ((i = 0; i < 60; i++)); do
		echo "int add$i(const char *);"
	done
	echo 'int main(int argc, char **argv) { int sum = 0; for (int i = 0; i < argc; i++) sum += 0'
	for ((i = 0; i < 60; i++)); do
		echo "+ add$i(argv[i])"
	done
	echo '; return sum == 1; }'
} >main.c
cat >Makefile <<'END'
objects = $(patsubst %.c,%.o,$(wildcard part*.c))
program: main.o parts.a
	gcc $^ -o $@ && ./$@ some words
parts.a: $(objects)
	ar rcs $@ $^ && ranlib $@
%.o: %.c
	gcc -O2 -Wall -MMD -MF $*.d -c $< -o $@
END

record -e cpu -F 999 -o all.folded --full -o all.txt -- make -s -j2 || exit 1
[ -x program ] || give_up "nothing was built"
grep -E '^(samples|stacks)' all.txt | sed 's/^/  /'
checker - <<'P'
import os
import re

import checks
import folded

# Inside execve the old stack is already gone: there is none that could be whole.
stacks = [(f, c) for f, c in folded.read("all.folded")
          if len(folded.user_frames(f)) > 1 and f[1] != "[truncated: inside execve]"]
total = sum(c for _, c in stacks)
cut = {}
for frames, count in stacks:
    if frames[1].startswith("[truncated"):
        key = (frames[1], frames[0])
        cut[key] = cut.get(key, 0) + count
comms = {f[0] for f, _ in stacks}
# What the kernel writes for profilers is no work of the programs. Before 5.16 it does not say where its functions are.
if tuple(int(n) for n in re.findall(r"[0-9]+", os.uname().release)[:2]) >= (5, 16):
    writers = re.compile("perf_(event_(mmap|comm|fork)|iterate_sb)")
    taken = [f for f, _ in stacks if any(writers.match(frame) for frame in f)]
    checks.check(not taken, f"frames of pkbpf's own cost in {taken[:1]}")
    checks.check(any("[pkbpf]_[k]" in f for f, _ in stacks), "the cost of profiling 250 processes is not seen")
share = 1 - sum(cut.values()) / max(total, 1)
print(f"  {total} user stacks in {len(comms)} programs, {100 * share:.2f} % whole", dict(sorted(cut.items(), key=lambda x: -x[1])[:8]))
if not {"cc1", "as", "make", "gcc"} <= comms:
    checks.fail(f"seen were only {sorted(comms)}")
if total < 1000:
    checks.fail(f"only {total} user stacks")
if share < 0.98:
    checks.fail(f"only {100 * share:.2f} % of user stacks are whole")
P
conclude
