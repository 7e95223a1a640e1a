#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# alone: it measures how long programs take
# Probes that come and go, again and again, on a program whose 200 threads leave functions in every way: exceptions, coroutines, longjmp,
# handlers on other stacks, vfork, exec, cancelled threads, libraries that are unloaded. It does what it does alone.
# usage: test_ways_out.sh PKBPF WORKLOAD_FOLDER
#
# PKBPF_TIMES: how often pkbpf attaches. PKBPF_WAYS: all threads leave in this way; several: in programs of their own.
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
evidence=(said)

[ "$(uname -m)" = x86_64 ] || skip "functions are probed on x86-64 only"
command -v g++ >/dev/null || skip "no g++"
target=
cleanup() {
	[ -z "$target" ] || kill "$target" 2>/dev/null
}

cat >library.c <<'C'
__attribute__((noinline, noclone)) static int library_step(int value) { __asm__ volatile("" ::: "memory"); return value + 1; }
int library_work(int value) { int sum = library_step(value) * 2; __asm__ volatile("" ::: "memory"); return sum + library_step(value); }
C
g++ -O2 -pthread -I"$here/../../include" -o ways_out "$here/ways_out.cpp" 2>said && gcc -O2 -shared -fPIC -o libways.so library.c 2>>said ||
	give_up "they cannot be built"

# attach ARGUMENT…: to the library, too, which comes and goes: there must be something to attach to
attach() {
	local tries
	for tries in {1..50}; do
		"$pkbpf" -q "$@" >said 2>&1 && return
		grep -q 'means no function of any program' said || break
	done
	fail "pkbpf $*, $tries tries: $(tail -n 20 said)"
	return 1
}

# attached NAME [WAY]: while pkbpf attaches and detaches
times=${PKBPF_TIMES:-2}
attached() {
	local name=$1 i status
	shift
	begin "$name, $times times"
	: | ./ways_out ./libways.so "$@" >alone 2>&1
	mkfifo "hold.$name"
	./ways_out ./libways.so "$@" <"hold.$name" >watched 2>&1 &
	target=$!
	exec 3>"hold.$name"
	for ((i = 0; i < times; i++)); do
		attach -p "$target" -d 0.3 -e offcpu --regions --function '*' --function 'libways.so:*' --probe-cost none -o "$name.json" || break
		kill -0 "$target" 2>/dev/null || break
	done
	exec 3>&-
	wait "$target"
	status=$?
	target=
	[ $status = 5 ] || fail "status $status: $(tail -n 3 watched)"
	diff alone watched >difference || fail "it says something else: $(head -n 5 difference)"
}

for way in ${PKBPF_WAYS-all}; do
	attached "$way" ${PKBPF_WAYS:+"$way"}
done
[ -n "${PKBPF_WAYS-}" ] || checker "$here/calls_check.py" seen all.json leaf throws passes jumps
conclude
