#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# Calls of functions: exact counts, and programs that do what they did before, however they leave functions.
# usage: test_functions.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
evidence=(said)

target=
cleanup() {
	[ -n "$target" ] && kill "$target" 2>/dev/null
}

# same_output NAME PATTERN COMMAND…: as without pkbpf, with its exit status; its calls are in NAME.json
same_output() {
	local name=$1 pattern=$2 expected status
	shift 2
	"$@" >alone 2>&1
	expected=$?
	"$pkbpf" -q -e offcpu --function "$pattern" --probe-cost none -o "$name.json" -- "$@" >watched 2>said
	status=$?
	[ $status = $expected ] || fail "$name: status $status, alone $expected: $(tail -n 3 said)"
	diff alone watched >difference || fail "$name says something else: $(head -n 5 difference)"
}

[ "$(uname -m)" = x86_64 ] || skip "functions are counted on x86-64 only"

begin "recursion, tail calls, longjmp, coroutines, signals, fork and vfork"
same_output calls '*' "$workloads/calls" 300 4
checker "$here/calls_check.py" calls calls.json leaf=1702 tail=1238 many_ways=300 red_zone=300 fibonacci=89/1 deep=51/1 even=11/1 odd=10/1 \
	jumper=300+100 inside_coroutine=60+2 handler=5 sleeper=2 all=1 main=1
checker "$here/calls_check.py" times calls.json

begin "calls by stack: each is in one, also recursive ones, and in recordings"
"$pkbpf" -q -e cpu --function leaf --function fibonacci --callers --probe-cost none -o who.json -o who.folded -o who.pkbpf -- \
	"$workloads/calls" 300 4 >said 2>&1 || fail "status $?"
"$pkbpf" report -q who.pkbpf -o again.json >said 2>&1 || fail "report: status $?"
checker - <<-'END'
	import json
	from checks import check
	report, again = (json.load(open(name)) for name in ("who.json", "again.json"))
	stacks = report["calls_by_stack"]
	for name, calls in ("leaf", 1702), ("fibonacci", 89):
	    seen = sum(s["calls"] for s in stacks if s["frames"] and s["frames"][0]["name"] == name)
	    check(seen == calls, f"{name}: {seen} of {calls} calls have a stack")
	total = {r["name"]: r for r in report["regions_by_name"]}["leaf()"]["wall_ns"]
	times = sum(s["total_ns"] for s in stacks if s["frames"][0]["name"] == "leaf")
	check(times == total, f"stacks of leaf() have {times} ns of {total} ns")
	callers = {s["frames"][1]["name"] for s in stacks if s["frames"][0]["name"] == "leaf"}
	check({"all", "in_thread", "many_ways"} <= callers, f"leaf() is called by {callers}")
	def sums(stacks):
	    # Call sites of one caller are lines of their own until they are recorded.
	    by_names = {}
	    for s in stacks:
	        key = (s["pid"], *(f["name"] for f in s["frames"]))
	        calls, time = by_names.get(key, (0, 0))
	        by_names[key] = calls + s["calls"], time + s["total_ns"]
	    return by_names
	check(sums(stacks) == sums(again["calls_by_stack"]), "a recording has the same stacks")
	folded = [line for line in open("who.calls.folded") if ";in_thread;leaf " in line]
	check(len(folded) == 1 and int(folded[0].split()[-1]) > 0, "folded stacks end in the function")
END
"$pkbpf" --callers -d 0.1 >said 2>&1
[ $? = 2 ] || fail "--callers alone is accepted"

begin "slow calls, one by one"
"$pkbpf" -q -e offcpu --function sleeper --slow-function 1ms -o slow.json -- "$workloads/calls" 300 1 >said 2>&1
checker "$here/regions_check.py" slow slow.json 1 main "sleeper()"
"$pkbpf" --slow-function 1ms -d 0.1 >said 2>&1
[ $? = 2 ] || fail "--slow-function alone is accepted"

begin "system calls: exact counts, below functions, one by one"
"$pkbpf" -q -e offcpu --function 'syscall:write' --probe-cost none -o writes.json -- dd if=/dev/zero of=/dev/null bs=1 count=3000 status=none \
	>said 2>&1 || fail "status $?"
"$pkbpf" -q -e offcpu --function sleeper --function 'syscall:*sleep' --slow-function 1500us -o sleeps.json -- "$workloads/calls" 20 1 >said 2>&1
checker - <<-'END'
	import json
	from checks import check
	report = lambda path: json.load(open(path))
	calls = next(r for r in report("writes.json")["regions_by_name"] if r["name"] == "syscall:write")
	check(calls["calls"] == 3000 == calls["count"], f"{calls['calls']} of 3000 calls of write()")
	sleeps = report("sleeps.json")
	call = next(r for r in sleeps["regions_by_name"] if r["name"] == "syscall:clock_nanosleep")
	check(call["calls"] == 2 and call["sleep_ns"] >= 4e6, f"{call['calls']} sleeps, {call['sleep_ns'] / 1e6:.2f} ms asleep")
	inner = next(r for r in sleeps["regions"] if r["name"] == "syscall:clock_nanosleep")
	check(sleeps["regions"][inner["parent"]]["name"] == "sleeper()", "below the function that calls it")
	slow = [r for r in sleeps["slow_regions"] if r["name"] == "syscall:clock_nanosleep"]
	check(len(slow) == 2, f"{len(slow)} of them took long")
	check(all(any(f["name"] == "sleeper" for f in r["frames"]) for r in slow), "with the stack of the program")
END
"$pkbpf" --progress never -e offcpu --function 'syscall:write' --probe-cost 1% -d 1 -o storm.json -- dd if=/dev/zero of=/dev/null bs=1 count=20000000 \
	status=none >said 2>&1
grep -q "syscall:write is called too often to be counted" said || fail "calls without end are not let go: $(cat said)"
"$pkbpf" --function syscall:no_such_call -d 0.1 >said 2>&1
[ $? = 2 ] || fail "an unknown call is accepted"

begin "200 threads"
same_output threads tail "$workloads/calls" 20 200
checker "$here/calls_check.py" calls threads.json tail=4003

begin "C++ exceptions and cancelled threads"
if g++ -O2 -pthread -o exceptions "$here/call_exceptions.cpp" 2>said; then
	same_output exceptions 'steps::*' ./exceptions
	checker "$here/calls_check.py" calls exceptions.json steps::maybe=4000+2000 steps::through=4000+2000 steps::catches=4000
	same_output cancelled '_Z5waitsv' ./exceptions
	checker "$here/calls_check.py" calls cancelled.json waits=5
else
	not_checked "no g++: $(head -n 1 said)"
fi

begin "goroutines, whose stacks move"
if command -v go >/dev/null && HOME=$PWD GOCACHE=/tmp/pkbpf-go-cache go build -o goroutines "$here/call_goroutines.go" 2>said; then
	same_output goroutines 'main.*' ./goroutines
	checker "$here/calls_check.py" seen goroutines.json main.grow main.recovers
else
	not_checked "no Go: $(head -n 1 said)"
fi

begin "a running program, again and again"
"$workloads/calls" fast 60 >/dev/null &
target=$!
for ((i = 0; i < 3; i++)); do
	record -p "$target" -d $((i / 2)).5 -e offcpu --function as_fast_as_it_can --function fast --region 'often=function:fast..main' -o live.json
done
kill -0 "$target" 2>/dev/null || fail "the program has ended"
checker - <<-'END'
	import json
	from checks import check
	names = {r["name"]: r for r in json.load(open("live.json"))["regions_by_name"]}
	fast, often = names["fast()"], names["often"]
	check(fast["let_go"] and fast["calls"] > 0, "a function that is called too often is let go, and reported")
	check(often["let_go"] and often["not_left"] > 0, "as is a region that such a function begins")
END

begin "a flood whose returns, and then whose entries, lose their probes: each call counts once"
cat >flood.c <<-'END'
	#define KEEP __attribute__((noinline))
	KEEP int tiny(int i) { __asm__ volatile("" ::: "memory"); return i + 1; }
	KEEP int other(int i) { __asm__ volatile("" ::: "memory"); return i + 2; }
	int main(void)
	{
		volatile long sum = 0;
		for (int i = 0; i < 1000; i++)
			sum += tiny(i) + (i % 10 ? 0 : other(i));
		return 0;
	}
END
if gcc -O2 -o flood flood.c 2>said; then
	for ((i = 0; i < 10; i++)); do
		"$pkbpf" -q -e offcpu --function tiny --function other -o "flood$i.json" -- ./flood >said 2>&1 || fail "status $?: $(cat said)"
	done
	checker - <<-'END'
	import json
	from checks import check
	reports = [json.load(open(f"flood{i}.json")) for i in range(10)]
	calls = [{r["name"]: (r["calls"], r["let_go"]) for r in report["regions_by_name"]} for report in reports]
	for name, count in (("tiny()", 1000), ("other()", 100)):
	    found = [each[name] for each in calls]
	    check(all(n == count or (gone and n < count) for n, gone in found), f"{name}: {count} calls each time: {found}")
	END
else
	not_checked "no gcc: $(head -n 1 said)"
fi

begin "patterns that mean nothing, or what cannot be had"
"$pkbpf" --progress never -e offcpu --function 'no_such_name*' -d 0.1 -p "$target" -o none.json 2>said
status=$?
[ $status = 1 ] || fail "a name that means nothing is no failure: status $status"
grep -q "means no function" said || fail "nothing is said: $(cat said)"
if command -v gcc >/dev/null; then
	cat >inlined.c <<-'END'
		static inline __attribute__((always_inline)) int parse(int x) { volatile int y = x; return y + 1; }
		__attribute__((noipa)) int load(int x) { return parse(x); }
		__attribute__((noipa)) int save(int x) { return parse(x) * parse(x + 1); }
		int main(void) { return load(1) + save(2) == 0; }
	END
	gcc -g -O2 -o inlined inlined.c
	"$pkbpf" --progress never -e offcpu --function parse -o none.json -- ./inlined 2>said
	grep -q "parse() of .*inlined has 3 inlined copies in .*save()" said || fail "nothing is said of inlined copies: $(cat said)"
	grep -q "means no function" said && fail "they are none: $(cat said)"
else
	not_checked "no gcc"
fi
# Functions of the kernel, where it can be probed.
"$pkbpf" --progress never -e offcpu --function 'kernel:vfs_read' --function 'kernel:ksys_read' --probe-cost none \
	-o kernel.json -- dd if=/dev/zero of=/dev/null bs=4096 count=3000 2>said
status=$?
if [ -r /sys/bus/event_source/devices/kprobe/type ]; then
	[ $status = 0 ] || fail "kernel: status $status: $(cat said)"
	python3 - kernel.json <<-'END' || fail "calls in the kernel"
		import json, sys
		rows = [row for row in json.load(open(sys.argv[1]))["regions"] if row["name"] == "kernel:vfs_read"]
		assert 3000 <= sum(row["count"] for row in rows) < 3200, rows
		assert all(row["undivided_ns"] == 0 for row in rows), rows
	END
else
	[ $status = 5 ] && grep -q "CONFIG_KPROBES" said || fail "kernel: status $status, without a reason: $(cat said)"
	"$pkbpf" doctor >doctor
	grep -q "kernel functions.*CONFIG_KPROBES" doctor || fail "doctor says nothing of kernel functions"
fi
"$pkbpf" --function kernel: -d 0.1 2>said
[ $? = 2 ] || fail "kernel: without a name is accepted"
conclude
