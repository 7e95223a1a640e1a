#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# What a signal has interrupted has its own name and line, though it is at a function's first instruction: as a return address it would
# be what lies before.
# usage: test_interrupted.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"


# main -> faults -> victim, which a signal interrupts at its first instruction; the handler works, and sleeps.
cat >interrupted.c <<'C'
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static char *page;
static volatile unsigned int sink;

__attribute__((noinline)) void neighbour(char *to) { sink++; to[1] = 2; }
__attribute__((noinline)) void victim(char *to)
{
	*to = 1; /* line 13 */
}

__attribute__((noinline)) void rest(void)
{
	struct timespec time = {.tv_nsec = 4000000};

	nanosleep(&time, NULL);
	sink++;
}

__attribute__((noinline)) void work(void)
{
	for (unsigned int i = 0; i < 8000000; i++)
		sink++;
}

static void handler(int number)
{
	(void)number;
	work();
	rest();
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
	sink++;
}

__attribute__((noinline)) void faults(void)
{
	mprotect(page, 4096, PROT_READ);
	victim(page);
	sink++;
}

int main(void)
{
	static char stack[65536];
	stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_handler = handler};

	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaltstack(&other, NULL);
	for (int i = 0; i < 80; i++) {
		action.sa_flags = i < 40 ? 0 : SA_ONSTACK; /* copies that are taken before the tables are there lack the other stack */
		sigaction(SIGSEGV, &action, NULL);
		faults();
	}
	neighbour(page);
	return 0;
}
C

cat >check.py <<'P'
import sys
import checks
import folded

name, kind, trampoline = sys.argv[2:5]
innermost = {"cpu": "work", "offcpu": "rest"}[kind]
total = right = 0
others = {}
for frames, count in folded.read(sys.argv[1]):
    user = folded.user_frames(frames)
    names = [frame.split(" (")[0] for frame in user]
    if innermost not in names:
        continue
    total += count
    at = names.index("handler") if "handler" in names else 0
    if (names[at - 4 : at - 1] == ["main", "faults", "victim"] and user[at - 2] == "victim (interrupted.c:13)" and
            (trampoline == "any" or names[at - 1] == trampoline)):
        right += count
    else:
        others[";".join(user[-8:])] = count
print(f"  {name}, {kind}: {100 * right / max(total, 1):.2f} % of {total} as expected")
if total < {"cpu": 30, "offcpu": 200000}[kind] or right < 0.99 * total:
    checks.fail(f"{name}, {kind}: {right} of {total} as expected; others: {others}")
P

# check NAME TRAMPOLINE COMPILER…: TRAMPOLINE is the name of what the handler returns to, or any: libraries may have no symbol there
check() {
	local name=$1 trampoline=$2 kind
	shift 2
	"$@" -g -O2 -fomit-frame-pointer interrupted.c -o "$name" || exit 1
	record -e cpu,offcpu -F 999 --lines -o "$name.folded" -- "./$name" || exit 1
	for kind in cpu offcpu; do
		checker check.py "$name.$kind.folded" "$name" $kind "$trampoline"
	done
}

case $(uname -m) in
x86_64) trampoline=__restore_rt options=-fcf-protection=none ;;
*) trampoline=any options=-mbranch-protection=none ;;
esac
check gcc any gcc $options
check static "$trampoline" gcc $options -static
check clang any clang $options
check musl any musl-gcc $options
check musl_static "$trampoline" musl-gcc $options -static
conclude
