#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# alone: it counts faults to the one
# Page faults against a program that knows how many of each kind it makes, and where.
# usage: test_faults.sh PKBPF WORKLOAD_FOLDER
# A folder on a disk: files in memory have no major faults.
work_below=/var/tmp
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

dd if=/dev/zero of=file bs=1M count=64 status=none

# faults_of KIND PAGES ROW: runs the program; ROW is the memory's name in the report. What is wrong is in check.txt; status 2:
# only how faults are divided.
faults_of() {
	"$pkbpf" -q -e faults --full -o report.txt -o out.folded -- "$workloads/fault" "$1" "$2" "$work/file" \
		>truth.txt 2>err.txt || {
		echo "status $?: $(cat err.txt)" >check.txt
		return 1
	}
	PYTHONPATH=$here python3 "$here/faults_check.py" report.txt out.folded truth.txt "$1" "$3" >check.txt 2>&1
}

# check KIND PAGES ROW: where 1,500 faults come within a few milliseconds, one sample in fifty is off by more than a tenth; two
# in a row are an error.
check() {
	local status
	echo "  $1: $2 pages"
	faults_of "$@"
	status=$?
	[ $status != 2 ] || { faults_of "$@" && return; }
	[ $status = 0 ] || {
		grep -v '^ok' check.txt
		fail "$1"
	}
}

check anonymous 100000 anonymous
check heap 100000 heap
check stack 1500 stack
check shared 50000 shared
check file 16384 "private file"
check major 4000 shared

echo "  processes that begin and end inside the interval, and one that goes on"
# 30 short ones and their parent, which only waits.
"$pkbpf" -q -e faults --children -o out.folded -- sh -c '
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
		"$0" anonymous 2000
	done' "$workloads/fault" >truth.txt 2>err.txt || fail "short ones: status $?: $(cat err.txt)"
expected=$(awk '{ sum += $3 + $4 } END { print sum }' truth.txt)
measured=$(awk '$1 ~ /^fault/ { sum += $NF } END { print sum }' out.folded)
# Each was a fork of the shell for a moment, which getrusage() counts and the profile has under the name sh; after it has
# asked, it still prints and ends, up to ten faults each.
awk -v a="$measured" -v b="$expected" 'BEGIN { exit !(a > b * 0.97 && a <= b * 1.001 + 300) }' ||
	fail "short ones: $measured faults measured, $expected by getrusage()"

echo "  a process that gives its memory back at the end"
# Where its exit is announced first (since 6.16), it has exited and is still there.
# What it did before exec has the name of the shell.
mkfifo ready
for _ in 1 2 3; do
	"$pkbpf" -q -e faults --children -o out.folded -- bash -c '
		HOLD=1 "$0" anonymous 200000 >ready &
		read -r line <ready; echo "$line" >truth.txt; kill -KILL $!' "$workloads/fault" 2>err.txt ||
		fail "at the end: status $?: $(cat err.txt)"
	awk '$1 ~ /^fault/ { sum += $NF } END { print sum + 0 }' out.folded >sum.txt
	awk -v a="$(cat sum.txt)" -v b="$(cut -d' ' -f3 truth.txt)" 'BEGIN { exit !(b >= 200000 && a > b * 0.99 && a < b + 100) }' ||
		fail "at the end: $(cat sum.txt) faults measured, of $(cat truth.txt)"
done

echo "  pages that the kernel fetches itself"
# Nothing announces them: they are no stack's, and the others' stacks keep their number.
cat >populate.c <<'C'
#include <stdlib.h>
#include <sys/mman.h>
#define PAGE 4096
__attribute__((noinline)) char *map(size_t pages)
{
	char *memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(memory, pages * PAGE, MADV_NOHUGEPAGE);
	return memory;
}
__attribute__((noinline)) void touch(char *memory, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		memory[i * PAGE] = 1;
}
int main(int argc, char **argv)
{
	size_t touched = (size_t)atol(argv[1]), fetched = (size_t)atol(argv[2]);

	touch(map(touched), touched);
	return mlock(map(fetched), fetched * PAGE);
}
C
gcc -O2 populate.c -o populate || exit 1
"$pkbpf" -q -e faults -o out.folded -- ./populate 4000 25000 2>err.txt || fail "populate: status $?: $(cat err.txt)"
touched=$(awk '/;main;touch/ { sum += $NF } END { print sum + 0 }' out.folded)
fetched=$(awk '/pages populated by the kernel/ { sum += $NF } END { print sum + 0 }' out.folded)
# Each sample of the first stands for 17 or more; their sum is exact.
awk -v t="$touched" -v f="$fetched" 'BEGIN { exit !(t >= 2500 && t <= 5500 && t + f >= 28500 && t + f <= 29500) }' ||
	fail "$touched faults of 4000 in touch(), $fetched of 25000 fetched by the kernel"
# A small share of what is touched so fast that few of the samples have a stack: what was announced is counted all the same.
for pages in 25000 3000; do
	"$pkbpf" -q -e faults -o out.folded -- ./populate 50000 $pages 2>err.txt || fail "populate: status $?: $(cat err.txt)"
	touched=$(awk '/;main;touch/ { sum += $NF } END { print sum + 0 }' out.folded)
	fetched=$(awk '/pages populated by the kernel/ { sum += $NF } END { print sum + 0 }' out.folded)
	awk -v t="$touched" -v f="$fetched" -v p=$pages \
		'BEGIN { exit !(t >= 49000 && t <= 50600 && f >= p - 600 && f <= p + 600 && t + f <= 50000 + p + 600) }' ||
		fail "$touched faults of 50000 in touch(), $fetched of $pages fetched by the kernel"
done

echo "  many processes with fewer faults than a sample stands for"
cat >short.c <<'C'
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#define PAGES 50
#define PAGE 4096
__attribute__((noinline)) void touch(char *memory)
{
	for (long i = 0; i < PAGES; i++)
		memory[i * PAGE] = 1;
}
static void child(void)
{
	char *memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(memory, PAGES * PAGE, MADV_NOHUGEPAGE);
	touch(memory);
	usleep(3000);
	_exit(0);
}
int main(void)
{
	struct rusage children;

	for (int i = 0; i < 1000; i++) {
		if (i >= 4)
			wait(NULL);
		if (!fork())
			child();
	}
	while (wait(NULL) > 0)
		;
	getrusage(RUSAGE_CHILDREN, &children);
	printf("%ld\n", children.ru_minflt);
	return 0;
}
C
gcc -O2 short.c -o short || exit 1
"$pkbpf" -q -e faults --pid-frame -o out.folded -- ./short >truth.txt 2>err.txt || fail "short: status $?: $(cat err.txt)"
# Of each process the number is exact, of all of them together the share of touch(), to one sample or two in twenty. The parent has more.
awk -v truth="$(cat truth.txt)" '
	{ split($1, frames, ";"); of[frames[1]] += $NF }
	/;touch / { touch += $NF }
	!/;/ { nowhere += $NF }
	END {
		for (process in of) {
			if (of[process] < 500) {
				sum += of[process]; processes++
				wrong += of[process] < 0.8 * truth / 1000 || of[process] > 1.2 * truth / 1000
			}
		}
		print touch " of 50000 faults in touch(), " nowhere + 0 " without a stack, " sum " of " truth " of the children, " \
			processes " children, " wrong + 0 " of them with another number"
		exit !(touch > 44000 && touch < 56000 && nowhere < 0.01 * truth && sum > 0.99 * truth && sum < 1.01 * truth && processes == 1000 && wrong <= 10)
	}' out.folded >check.txt || fail "short: $(cat check.txt)"

echo "  CPU time of faults at the first instruction of a function"
# Interrupted in the kernel, but not called from there: nothing before that instruction is what runs.
if [ "$(uname -m)" = x86_64 ]; then
	"$pkbpf" -q -e cpu -F 999 -o out.folded -- "$workloads/first_instruction" 1 2>err.txt || fail "status $?: $(cat err.txt)"
	there=$(awk '/;main;touches;/ { sum += $NF } END { print sum + 0 }' out.folded)
	wrong=$(awk '/never_called/ { sum += $NF } END { print sum + 0 }' out.folded)
	[ "$there" -ge 100 ] && [ "$wrong" = 0 ] || fail "$there samples in the function, $wrong in the one before it"
else
	not_checked "faults at the first instruction of a function: the program is x86-64 assembly"
fi

echo "  memory at the place of other memory"
# What was there a moment ago was a file that is shared.
cat >replaced.c <<'C'
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>
#define BYTES (20000L * 4096)
int main(void)
{
	int fd = open("shared", O_RDWR | O_CREAT | O_TRUNC, 0600);
	volatile char *file, *memory;
	if (fd < 0 || ftruncate(fd, BYTES))
		return 1;
	file = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (long i = 0; i < 10; i++)
		file[i * 4096] = 1;
	memory = mmap((void *)file, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	madvise((void *)memory, BYTES, MADV_NOHUGEPAGE);
	for (long i = 0; i < BYTES; i += 4096)
		memory[i] = 1;
	return 0;
}
C
gcc -O2 replaced.c -o replaced || exit 1
for _ in 1 2 3; do
	"$pkbpf" -q -e faults --full -o out.txt -- ./replaced 2>err.txt || fail "replaced: status $?: $(cat err.txt)"
	grep -q '^Page faults by type of memory' out.txt || fail "replaced: no faults by memory"
	anonymous=$(awk '$1 == "anonymous" { gsub(",", "", $3); print $3 }' out.txt)
	[ "${anonymous:-0}" -ge 19000 ] || fail "replaced: $anonymous faults of 20000 in anonymous memory"
done

conclude
