#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# Functions whose returns others probe (bpftrace's uretprobe, perf probe's %return) return to the kernel; probed instructions are executed
# elsewhere. Stacks through them are whole all the same, of each kind of event and of programs that have just begun.
# usage: test_uprobes.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
tracing=/sys/kernel/tracing
[ -e $tracing/events ] || mount -t tracefs tracefs $tracing 2>/dev/null
[ -w $tracing/uprobe_events ] || skip "needs a kernel with CONFIG_UPROBE_EVENTS"
group=pkbpf_$$
worker=
cleanup() {
	[ -z "$worker" ] || kill "$worker" 2>/dev/null
	echo 0 >$tracing/events/$group/enable
	sed -n "s/^[pr]:\($group\/[^ ]*\).*/-:\1/p" $tracing/uprobe_events | while read -r probe; do
		echo "$probe" >>$tracing/uprobe_events
	done
}

cat >work.c <<'C'
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
volatile unsigned int sum;
static struct timespec rest = {.tv_nsec = 1000000};
__attribute__((noinline)) void bottom(unsigned int rounds)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*page = 1;
	munmap(page, 4096);
	nanosleep(&rest, NULL);
	for (unsigned int i = 0; i < rounds; i++)
		sum = sum * 1664525U + i;
}
__attribute__((noinline)) unsigned int plain(unsigned int rounds)
{
	bottom(rounds);
	return sum + 1;
}
__attribute__((noinline)) unsigned int descend(unsigned int calls, unsigned int rounds);
/* Most of its pages nobody has touched: a copy of the stack lacks them. */
__attribute__((noinline)) unsigned int hollow(unsigned int calls, unsigned int rounds)
{
	volatile char room[8 * 4096];

	room[0] = 1;
	return descend(calls, rounds) + room[0];
}
__attribute__((noinline)) unsigned int descend(unsigned int calls, unsigned int rounds)
{
	volatile char room[40];

	room[calls % sizeof(room)] = 1;
	if (calls == 11)
		return hollow(calls - 1, rounds) + room[0];
	return (calls > 1 ? descend(calls - 1, rounds) : plain(rounds)) + room[0];
}
int main(int argc, char **argv)
{
	if (argc > 2)
		rest.tv_sec = atoi(argv[2]);
	for (int i = argc > 1 ? atoi(argv[1]) : 1; i > 0; i--)
		descend(20, 2000000);
	return 0;
}
C
# probe PROGRAM FUNCTION…: their returns, and where plain() begins.
probe() {
	local program=$1 function
	shift
	for function in "$@"; do
		echo "r:$group/${program}_$function $work/$program:0x$(nm "$program" | awk -v name="$function" '$3 == name { print $1 }')"
	done >>$tracing/uprobe_events &&
		echo "p:$group/${program}_entry $work/$program:0x$(nm "$program" | awk '$3 == "plain" { print $1 }')" >>$tracing/uprobe_events
}
compile() {
	gcc -O2 -fno-optimize-sibling-calls -fno-ipa-cp -fno-ipa-icf -fno-inline "$@" || exit 1
}
compile -fomit-frame-pointer work.c -o tables
compile -fno-omit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables work.c -o pointers
for program in tables pointers; do
	probe $program bottom descend || skip "the kernel takes no probes"
done
echo 1 >$tracing/events/$group/enable || skip "probes cannot be enabled here"

# check WHAT FILE LEAST: of so many samples (microseconds of waits) in bottom() at least, nearly all have whole stacks.
check() {
	checker - "$@" <<'P'
import sys
import checks
import folded

what, path, least = sys.argv[1], sys.argv[2], int(sys.argv[3])
expected = ["_start", "__libc_start_main", "__libc_start_call_main", "main", *["descend"] * 10, "hollow", *["descend"] * 10, "plain", "bottom"]
total = right = 0
others = {}
for frames, count in folded.read(path):
    user = folded.user_frames(frames[1:])
    # The kernel is at work on a probe: what it has changed may not be written down yet.
    if "bottom" not in user or any("uprobe" in frame for frame in frames):
        continue
    total += count
    if user[: len(expected)] == expected:
        right += count
    else:
        others[";".join(frames)] = count
print(f"  {what}: {right} of {total} whole")
if total < least or right < 0.98 * total:
    checks.fail(f"{what}: {right} of {total} whole; others: {dict(sorted(others.items(), key=lambda x: -x[1])[:3])}")
P
}

for program in tables pointers; do
	./$program 100000 &
	worker=$!
	runs "$worker" $program
	record_use "$worker" 1000 -e cpu,offcpu,faults -F 999 -o "$program.folded"
	kill "$worker"
	wait "$worker" 2>/dev/null
	worker=
	check "$program, cpu" "$program.cpu.folded" 100
	check "$program, offcpu" "$program.offcpu.folded" 100000
	check "$program, faults" "$program.faults.folded" 10
	# Waits already when the profile begins, and is walked from outside.
	./$program 100 600 &
	worker=$!
	waits() { grep -q nanosleep "/proc/$worker/wchan"; }
	wait_until 20 waits || sleep 1
	record -e offcpu -d 2 -p "$worker" -o waits.folded
	kill "$worker"
	wait "$worker" 2>/dev/null
	worker=
	check "$program, a wait from before" waits.folded 1900000
done
# shellcheck disable=SC2016
record -e cpu -F 4999 -o brief.folded -- sh -c 'for i in $(seq 40); do ./tables 2; done'
check "programs that have just begun" brief.folded 100
conclude
