#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# alone: it measures waits to a part in a thousand
# Off-CPU time against programs that know their waits: times, counts, states, stacks, wall clock.
# usage: test_offcpu.sh PKBPF WORKLOAD_FOLDER
# A folder on a disk: in memory nothing ever waits for I/O.
work_below=/var/tmp
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

target=
busy=()
cleanup() {
	[ -n "$target" ] && kill "$target" 2>/dev/null
	((${#busy[@]})) && kill "${busy[@]}" 2>/dev/null
}

# number PATTERN FILE: the first number of the report's line that matches, without separators
number() {
	grep -E -m1 -- "$1" "$2" | grep -oE '[0-9][0-9,]*' | head -1 | tr -d ,
}

echo "  every chain has its time, its state and its stack"
stolen=$(stolen_us)
"$pkbpf" -q -v -e offcpu --per-thread --wait-states -o waits.folded --full -o report.txt -- \
	"$workloads/waits" 20 20 "$work" >truth.txt 2>err.txt || fail "status $?: $(cat err.txt)"
PYTHONPATH=$here python3 "$here/waits_check.py" waits.folded truth.txt $(($(stolen_us) - stolen)) >check.txt || {
	grep FAILED check.txt
	fail "measured and true times differ"
}
check_wall_clock "known waits" report.txt

echo "  stacks have all the time off the CPU, also what passes until a new thread first runs"
for ((cpu = 0; cpu < 2 * $(nproc); cpu++)); do
	(while :; do :; done) &
	busy+=($!)
done
# shellcheck disable=SC2016 # the shell that is started expands it
"$pkbpf" -q -e offcpu --wait-states -o short.folded -o short.json -- \
	sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do /bin/true; done' 2>err.txt || fail "status $?: $(cat err.txt)"
kill "${busy[@]}"
wait "${busy[@]}" 2>/dev/null
busy=()
told=$(grep -m1 -A1 '"offcpu": {' short.json | grep -oE '"total_ns": [0-9]+' | grep -oE '[0-9]+')
awk -v told="${told:-0}" '{ sum += $NF } END { exit !(sum > 0 && sum > told / 1010 && sum < told / 990) }' short.folded ||
	fail "the stacks have $(awk '{ sum += $NF } END { print sum }' short.folded) us of ${told:-no} ns off the CPU"
grep -qE 'user registers not available|resumed before' short.folded && fail "the command's wait to be let go has no user stack"
grep -qE '^(sh|true);\[runqueue\] ' short.folded || fail "no process waited for its first turn beside busy loops"

echo "  counts of waits are exact"
# A process of its own: the command itself also waits to be let go.
"$pkbpf" -q -v -e offcpu --full -o report.txt -- sh -c "'$workloads/waits' 50 5 '$work' poll; :" >truth.txt 2>err.txt ||
	fail "status $?"
# 50 waits of the chain; the main thread waits once for its end. A thread that is preempted on its way to sleep for
# longer than it wants to sleep does not sleep at all.
waits=$(awk '/wait-time distribution/ { here = 1 } here && $2 ~ /^(waits|poll)$/ && $3 == "sleep" { print $4; exit }' report.txt |
	tr -d ,)
[ "${waits:-0}" -ge 49 ] && [ "$waits" -le 51 ] || fail "${waits:-no} sleeps counted instead of 51"
# The kernel's own counts; each of the two threads may switch once more on its way out.
read -r _ voluntary involuntary <<<"$(grep ^process truth.txt)"
read -r _ _ _ vol invol _ <<<"$(awk '/^Thread states/ { here = 1 } here && $2 ~ /^(waits|poll)$/' report.txt | head -1)"
awk -v a="$voluntary" -v b="${vol:-0}" -v c="$involuntary" -v d="${invol:-0}" \
	'BEGIN { exit !(b >= a - 2 && b <= a + 2 && d >= c - 2 && d <= c + 4) }' ||
	fail "${vol:-no} voluntary and ${invol:-no} involuntary switches of $voluntary and $involuntary"

echo "  threads blocked all along count from edge to edge"
"$workloads/waits" 100 100 "$work" blocked >/dev/null &
target=$!
is_asleep() { [ "$(grep -l '^State:.S' "/proc/$target"/task/*/status | wc -l)" = 2 ]; }
wait_until 60 is_asleep
begin=$(date +%s%N)
"$pkbpf" -q -v -e offcpu -d 1 -p "$target" -o blocked.folded --full -o report.txt 2>err.txt || fail "status $?: $(cat err.txt)"
took=$((($(date +%s%N) - begin) / 1000))
grep -q 'run_chain;chain_blocked;wait_blocked;.*nanosleep' blocked.folded || fail "no stack of the blocked thread"
blocked=$(total wait_blocked blocked.folded)
# The interval begins a little before the duration does, and the whole run is longer than both.
[ "$blocked" -gt 985000 ] && [ "$blocked" -lt "$took" ] || fail "$blocked us blocked of about 1000000"
joined=$(awk '/pthread_join|__pthread_clockjoin|main/ && !/wait_blocked/ { total += $NF } END { print total + 0 }' blocked.folded)
[ "$joined" -gt 985000 ] || fail "the main thread waited $joined us of about 1000000"
check_wall_clock "blocked threads" report.txt
kill "$target" 2>/dev/null
wait "$target" 2>/dev/null
target=

echo "  a thread that ends while others are blocked, and a process killed in its wait, keep their time"
"$workloads/waits" 100 100 "$work" blocked >/dev/null &
target=$!
disown "$target"
wait_until 60 is_asleep
rm -f err.txt
begin=$(date +%s%N)
"$pkbpf" -v -e offcpu -d 100 -p "$target" -o killed.folded 2>err.txt &
profiler=$!
wait_until 60 profiling err.txt || fail "pkbpf does not start: $(cat err.txt)"
sleep 1
kill -9 "$target"
took=$((($(date +%s%N) - begin) / 1000))
wait $profiler || fail "status $?: $(cat err.txt)"
killed=$(total wait_blocked killed.folded)
[ "$killed" -gt 985000 ] && [ "$killed" -lt "$took" ] || fail "$killed us blocked before the kill, within $took us"
wait "$target" 2>/dev/null
target=

echo "  waits shorter than --min-block are not listed"
"$pkbpf" -q -e offcpu --min-block 2s -o short.folded -- "$workloads/waits" 20 5 "$work" sleep >/dev/null 2>&1
grep -q wait_sleep short.folded && fail "5 ms waits are listed although --min-block is 2s"

echo "  --wakers names who ended a wait"
"$pkbpf" -q -e offcpu --wakers -o wakers.folded -- "$workloads/waits" 20 5 "$work" pipe >/dev/null 2>&1
grep -q 'wait_pipe;.*;--;.*write_\[w\];write_bytes_\[w\]' wakers.folded || fail "the writer is not the waker of the reader"

echo "  a timer's interrupt is told as the waker, not the busy thread that it hit"
taskset -c 0 "$workloads/spin" 20 &
busy=($!)
taskset -c 0 "$workloads/waits" 2000 10 "$work" sleep >/dev/null &
target=$!
"$pkbpf" -q -e offcpu --wakers -p "$target" -d 2 -o timer.folded 2>err.txt || fail "status $?: $(cat err.txt)"
kill "${busy[@]}" "$target"
wait "${busy[@]}" "$target" 2>/dev/null
busy=()
target=
awk '/wait_sleep;.*;--;/ { all += $NF; if (/;(spin_here|main)_\[w\]/) hit += $NF }
	END { printf "    %d us, %d of them by who was hit\n", all, hit; exit !(all > 500000 && hit * 100 < all) }' timer.folded ||
	fail "wakers of a sleeper"

echo "  a thread is told by the name that it has, also where it waits at the same place by each"
cat >renames.py <<'P'
import os, sys, time

def wait_as(name, count):
    open("/proc/self/comm", "w").write(name)
    wall, cpu = time.monotonic(), time.thread_time()
    for _ in range(count):
        time.sleep(0.01)
    wall, cpu = time.monotonic() - wall, time.thread_time() - cpu
    # What waits to print and to exit is not of this name.
    open("/proc/self/comm", "w").write("printing")
    print(name, wall, cpu, flush=True)

while len(sys.argv) > 1 and not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
time.sleep(1)
wait_as("first", 100)
wait_as("second", 200)
P
"$pkbpf" -q -e offcpu -o renames.folded -- python3 renames.py >own || fail "status $?"
! grep -q wait_for_go renames.folded || fail "what the command waited before it began"
checker - <<'P'
import checks
import folded

own = {name: float(wall) - float(cpu) for name, wall, cpu in map(str.split, open("own"))}
stacks = list(folded.read("renames.folded"))
for name, seconds in own.items():
    listed = sum(count for frames, count in stacks if frames[0] == name) / 1e6
    checks.check(abs(listed - seconds) < 0.02 * seconds + 0.02, f"{listed:.3f} s off the CPU as the {name} of {seconds:.3f}")
P
python3 renames.py go >own &
target=$!
rm -f err.txt
"$pkbpf" -v -e cpu,offcpu --comm first -d 100 -o first.json 2>err.txt &
profiler=$!
wait_until 60 profiling err.txt || fail "pkbpf does not start: $(cat err.txt)"
: >go
wait "$target"
kill -INT $profiler
wait $profiler || fail "status $?: $(cat err.txt)"
checker - $target <<'P'
import sys
import checks

own = {name: float(wall) for name, wall, _ in map(str.split, open("own"))}["first"]
row = next(x for x in checks.read_report("first.json")["rows"] if x["pid"] == int(sys.argv[1]))
listed = row["offcpu"]["wall_ns"] / 1e9, row["offcpu"]["sleep_ns"] / 1e9, row["cpu"]["total_ns"] / 1e9
print("    chosen by the first: %.3f s of %.3f, asleep %.3f s of 1, on a CPU %.4f s" % (listed[0], own, *listed[1:]))
if not 0.9 * own < listed[0] < 1.1 * own + 0.02 or not 0.95 < listed[1] < own or listed[2] != row["offcpu"]["oncpu_ns"] / 1e9 or not listed[2]:
    checks.fail("it is there when it was no target")
P
target=

conclude
