#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Allocations and live memory of programs that know what they allocate.
# usage: test_alloc.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

begin "chains of known allocations"
"$workloads/allocations" >truth.txt
# Beside others that compute, the first samples may come before the unwind tables.
for _ in 1 2 3; do
	"$pkbpf" -e alloc --alloc --alloc-rate 16K -o out.folded -o out.pb.gz -o out.json -o out.txt -- "$workloads/allocations" >output.txt 2>said ||
		fail "status $?: $(cat said)"
	grep -q 'truncated: \(unwind table not ready\|process not known yet\)' out.alloc.folded || break
done
cmp -s truth.txt output.txt || fail "the program says something else when it is profiled"
grep -q ', 0 lost' said || fail "lost: $(cat said)"
checker "$here/alloc_check.py" out.alloc.folded out.live.folded truth.txt 16384 >check.txt || grep -v '^ok' check.txt
grep -q '^Allocated: about ' out.txt || fail "no section in the report: $(cat out.txt)"
grep -q '^Not freed at the end: about ' out.txt || fail "no live memory in the report"

begin "threads, fork and exec"
record -e alloc --alloc -o out.folded -- sh -c '"$0" && "$0" && exec "$0"' "$workloads/allocations"
# Large blocks are all sampled; those of a process that was not known yet have no chain.
awk '/^allocations;.*large_leak_leaf / { sum += $NF } /\[truncated/ { cut += $NF }
	END { true = 3 * 10 * 1048576; exit !(sum > 0 && sum <= true && sum + cut >= true) }' out.live.folded ||
	fail "large blocks of three processes: $(cat out.live.folded)"

begin "programs that run without the library are counted"
"$pkbpf" -e alloc --alloc -o out.folded -- sh -c '"$0" && env -i "$0" && LD_PRELOAD= "$0"' "$workloads/allocations" >output.txt 2>said ||
	fail "status $?: $(cat said)"
grep -q 'allocations of 2 programs of the command are not sampled (the first: allocations)' said || fail "not told: $(cat said)"
"$pkbpf" -e alloc --alloc -o out.folded -- sh -c '"$0" && exec "$0"' "$workloads/allocations" >output.txt 2>said
if grep -q 'are not sampled' said; then fail "told without need: $(cat said)"; fi

begin "a library for each C library"
for library in alloc regions python-calls; do
	versions=$(nm -D --undefined-only "$(dirname "$pkbpf")/libpkbpf-$library.so" | grep -c '@\|__tls_get_addr')
	[ "$versions" = 0 ] || fail "libpkbpf-$library.so asks for $versions names that an older C library, or another one, may lack"
done
cat >thousands.c <<'C'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void *volatile here;
static void allocate(int count) { while (count--) free(here = malloc(20000)); }
int main(void)
{
	int status;
	allocate(3000);
	if (!fork()) {
		allocate(1000);
		_exit(0);
	}
	return wait(&status) < 0 || status;
}
C
# Of blocks of five times the rate 99 % are sampled.
for compiler in cc musl-gcc; do
	"$compiler" -O1 -fno-builtin -o thousands thousands.c || exit 1
	record -e alloc --alloc --alloc-rate 4K -o out.json -- ./thousands
	checker - out.json <<'PYTHON'
import sys
import checks

rows = [row["allocated"] for row in checks.read_report(sys.argv[1])["heap"] if row["comm"] == "thousands"]
bytes_told = sum(row["bytes"] for row in rows)
checks.check(78e6 < bytes_told < 82e6, f"{bytes_told} bytes in 4,000 blocks of 20,000")
PYTHON
done

begin "allocations of regions"
cat >marked.c <<'C'
#include <stdlib.h>
#include <pkbpf/pkbpf.h>
static void *volatile here;
static void load(void) { PKBPF_REGION("load"); for (int i = 0; i < 20; i++) here = malloc(100000); }
static void compute(void) { PKBPF_REGION("compute"); for (int i = 0; i < 100; i++) free(here = malloc(50000)); }
int main(void) { for (int i = 0; i < 20; i++) { PKBPF_REGION("step"); load(); compute(); here = malloc(200000); } return 0; }
C
cc -O1 -fno-builtin -I"$here/../../include" -o marked marked.c && record -e alloc --alloc --alloc-rate 4K --regions -o out.json -- ./marked &&
	checker - out.json <<'PYTHON'
import sys
import checks

# Blocks much larger than the rate are all sampled.
true = {"step": (2420, 144000000, 420, 44000000), "load": (400, 40000000, 400, 40000000), "compute": (2000, 100000000, 0, 0)}
names = ("allocations", "allocated_bytes", "live_objects", "live_bytes")
for section in ("regions", "regions_by_name"):
    told = {row["name"]: tuple(row.get(name) for name in names) for row in checks.read_report(sys.argv[1])[section]}
    checks.check(told == true, f"{section}: {told}, it did {true}")
PYTHON

begin "forks of a process that has hit the probes often"
# Where the kernel replaces a probe by a call, a child may lack what is called.
cat >forks.c <<'C'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void)
{
	void *volatile block;
	for (int i = 0; i < 200; i++) {
		int status;
		for (int j = 0; j < 50; j++)
			free(block = malloc(100000));
		if (!fork()) {
			free(block = malloc(100000));
			_exit(7);
		}
		if (wait(&status) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 7)
			return 1;
	}
	return 0;
}
C
cc -fno-builtin -o forks forks.c && record -e alloc --alloc -o out.folded -- ./forks

begin "a running process, in windows"
cat >busy.c <<'C'
#include <stdlib.h>
#include <unistd.h>
#define PLACE __attribute__((noinline))
PLACE static void *takes_most(void) { void *block = malloc(300); __asm__ volatile("" ::: "memory"); return block; }
PLACE static void *takes_some(void) { void *block = calloc(2, 50); __asm__ volatile("" ::: "memory"); return block; }
PLACE static void *takes_more(void *old) { old = realloc(old, 150); __asm__ volatile("" ::: "memory"); return old; }
int main(void) { for (;;) { free(takes_most()); free(takes_more(takes_some())); } }
C
cc -O1 -fno-builtin -o busy busy.c
./busy &
busy=$!
rm -f out.*folded
# Beside others that compute it may have no CPU in any of a few windows.
for seconds in 3 20; do
	"$pkbpf" -e alloc -p "$busy" -d "$seconds" -o out.folded -o out.txt 2>said && break
done
[ -e out.alloc.folded ] || fail "no allocations: $(cat said)"
kill "$busy"
grep -q 'in windows of 20 ms' said || fail "it is not said how: $(cat said)"
grep -q 'Not freed at the end: not known' out.txt || fail "live memory is told: $(cat out.txt)"
# Of 550 bytes 300, 100 and 150. Half of one window is enough for some hundred samples.
awk '/takes_most/ { most += $NF } /takes_some/ { some += $NF } /takes_more/ { more += $NF } { all += $NF }
	END { exit !(all && most / all > 0.40 && most / all < 0.70 && some / all < 0.35 && more / all > 0.10 && more / all < 0.45) }' \
	out.alloc.folded || fail "shares of bytes: $(cat out.alloc.folded)"

begin "an allocator in a library that is opened later"
cat >late.c <<'C'
#include <stddef.h>
static char memory[4096];
void *mi_malloc(size_t size) { static size_t calls; calls += size; memory[calls % sizeof(memory)]++; return memory; }
C
cat >opens.c <<'C'
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#define PLACE __attribute__((noinline))
typedef void *take_fn(size_t size);
static volatile sig_atomic_t late;
static void come(int number) { late = number; }
PLACE static void *takes_early(void) { void *block = malloc(300); __asm__ volatile("" ::: "memory"); return block; }
PLACE static void takes_late(take_fn *take) { take(300); __asm__ volatile("" ::: "memory"); }
int main(void)
{
	take_fn *take = NULL;
	signal(SIGUSR1, come);
	for (;;) {
		free(takes_early());
		if (late && !take)
			take = (take_fn *)dlsym(dlopen("./late.so", RTLD_NOW), "mi_malloc");
		if (take)
			takes_late(take);
	}
}
C
cc -O1 -fno-builtin -shared -fPIC -o late.so late.c && cc -O1 -fno-builtin -o opens opens.c -ldl
for seconds in 5 20; do
	./opens &
	opens=$!
	rm -f out.*folded
	"$pkbpf" -e alloc -p "$opens" -d "$seconds" -v -o out.folded 2>said &
	measuring=$!
	# The search of the start is over.
	until grep -q 'in windows of 20 ms' said || ! kill -0 "$measuring"; do sleep 0.05; done
	kill -USR1 "$opens"
	wait "$measuring"
	kill "$opens"
	grep -q takes_late out.alloc.folded && break
done
grep -q takes_early out.alloc.folded || fail "the first allocator is not watched: $(cat out.alloc.folded said)"
grep -q takes_late out.alloc.folded || fail "the later allocator is not watched: $(cat out.alloc.folded said)"

begin "more allocators than can be watched"
sleepers=()
for _ in {1..65}; do
	sleep 100 &
	sleepers+=($!)
done
"$pkbpf" -e alloc -p "$(IFS=, && echo "${sleepers[*]}")" -d 1 -o many.folded 2>said
[ $? = 1 ] && grep -q '64 files with allocators, the most' said || fail "it does not say that some are not watched: $(cat said)"
kill "${sleepers[@]}"

begin "programs that cannot be sampled run as without"
cat >static.c <<'C'
#include <stdio.h>
#include <stdlib.h>
int main(void) { void *volatile block = malloc(1 << 20); puts(getenv("LD_PRELOAD") ? "preloaded" : "as it was"); return !block; }
C
if cc -static -o static static.c 2>/dev/null; then
	"$pkbpf" -e alloc --alloc -o out.folded -- ./static >output.txt 2>said || fail "status $?: $(cat said)"
	grep -q 'not sampled: it is statically linked' said || fail "it is not said why: $(cat said)"
	grep -q 'as it was' output.txt || fail "its environment has changed"
else
	not_checked "a static program: there is no static C library"
fi
# A program with an allocator of its own keeps it.
cat >own.c <<'C'
#include <stddef.h>
static char memory[1 << 20];
static size_t used;
void *malloc(size_t size) { size_t at = used; used += (size + 15) / 16 * 16; return memory + at; }
void free(void *block) { (void)block; }
int main(void) { char *block = malloc(100); free(block); return block < memory || block >= memory + sizeof(memory); }
C
cc -o own own.c && record -e alloc --alloc -o out.folded -- ./own && [ -s out.alloc.folded ] &&
	fail "samples of an allocator of its own: $(cat out.alloc.folded)"

if command -v go >/dev/null; then
	begin "a Go program, the heap of which is its own"
	cat >linked.go <<'C'
package main

// #include <stdlib.h>
import "C"

func main() { C.free(C.malloc(1 << 20)) }
C
	HOME=$work go build -o golinked linked.go || fail "go build"
	"$pkbpf" -e alloc --alloc -o go.txt -- ./golinked 2>said
	grep -q 'allocations of Go in .*golinked are not sampled' said || fail "no word about Go: $(cat said)"
fi

begin "an allocator whose C++ operators do not call malloc() is named"
cat >operators.cc <<'C'
#include <cstddef>
static char memory[1 << 20];
static size_t used;
static void *take(size_t size) { size_t at = used; used += (size + 15) / 16 * 16; return memory + at; }
extern "C" void *malloc(size_t size) { return take(size); }
extern "C" void free(void *) {}
void *operator new(size_t size) { return take(size); }
C
if c++ -shared -fPIC -o operators.so operators.cc 2>said && echo 'int main() { delete new int; }' >linked.cc &&
	c++ -O0 -o linked linked.cc "$PWD/operators.so" 2>said; then
	"$pkbpf" -e alloc --alloc -o out.folded -- ./linked >output.txt 2>said
	grep -q 'C++ operators of .*/operators.so are not sampled' said || fail "no word about them: $(cat said)"
	"$pkbpf" -e alloc --alloc -o out.folded -- true >output.txt 2>said
	! grep 'C++ operators' said || fail "a word about operators that are not there"
else
	not_checked "no C++ compiler"
fi

begin "an operator that jumps to another one is counted once"
cat >jumps.cc <<'C'
#include <cstddef>
#include <cstdlib>
#include <sys/mman.h>
static void *take(size_t size)
{
	static char *room, *end;
	if (!room || size_t(end - room) < size) {
		room = static_cast<char *>(mmap(nullptr, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
		end = room + (4 << 20);
	}
	room += size;
	return room - size;
}
extern "C" void *malloc(size_t size) { return take((size + 15) / 16 * 16); }
extern "C" void *calloc(size_t n, size_t size) { return malloc(n * size); }
extern "C" void *realloc(void *, size_t size) { return malloc(size); }
extern "C" void free(void *) {}
void *operator new(size_t size) { return take((size + 15) / 16 * 16); }
__asm__(".globl _Znam\n.type _Znam, @function\n_Znam:\n\tjmp _Znwm@PLT\n.size _Znam, . - _Znam\n");
C
cat >jumper.cc <<'C'
#include <cstdlib>
#include <unistd.h>
static void *volatile kept;
__attribute__((noinline)) static void by_operator() { kept = new char[10000]; }
__attribute__((noinline)) static void by_malloc() { kept = malloc(10000); }
int main() { for (;;) { by_operator(); by_malloc(); usleep(500); } }
C
if [ "$(uname -m)" = x86_64 ] && c++ -O1 -shared -fPIC -Wl,-Bsymbolic -o jumps.so jumps.cc 2>said &&
	c++ -O1 -o jumper jumper.cc "$PWD/jumps.so" 2>said; then
	./jumper &
	target=$!
	record -e alloc -d 4 -p $target -o jumps.folded
	kill $target
	# Blocks of 10,000 bytes in windows: equal within 4.5 standard errors; counted twice, 200 of them are 4.7 apart.
	awk '/by_operator/ { jumped += $NF / 10000 } /by_malloc/ { plain += $NF / 10000 }
		END { exit !(plain + jumped >= 100 && (jumped - plain) ^ 2 < 4.5 ^ 2 * (plain + jumped)) }' jumps*.folded || fail "one is counted twice: $(cat jumps*.folded)"
else
	not_checked "no C++ compiler for x86-64"
fi

conclude
