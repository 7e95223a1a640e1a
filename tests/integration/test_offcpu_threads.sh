#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# alone: it measures waits of many threads
# Off-CPU time where threads are many, switch often, share a number or end while they wait.
# usage: test_offcpu_threads.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

target=
cleanup() {
	[ -n "$target" ] && kill -9 "$target" 2>/dev/null
}

# within SHARE_PERMILLE SLACK_US MEASURED TRUE
within() {
	awk -v permille="$1" -v slack="$2" -v measured="$3" -v true="$4" \
		'BEGIN { d = measured - true; exit !((d < 0 ? -d : d) <= true * permille / 1000 + slack) }'
}

threads=5000

# What reads tables and names from a disk that is slow after a pause is late for the first of 5,000 threads.
"$pkbpf" -q -e offcpu -o warm.folded -- "$workloads/crowd" 10 0.1 >/dev/null 2>err.txt || fail "status $?: $(cat err.txt)"

echo "  $threads threads that sleep at once all have their time and their stack"
begin=$(date +%s%N)
"$pkbpf" -q -v -e offcpu -o crowd.folded --full -o crowd.txt -- "$workloads/crowd" "$threads" 1 >/dev/null 2>err.txt ||
	fail "status $?: $(cat err.txt)"
took=$((($(date +%s%N) - begin) / 1000))
slept=$(total ';member;sleep_in_crowd;' crowd.folded)
# None sleeps shorter than it wants to, and none longer than all of them took.
[ "$slept" -ge $((threads * 1000000)) ] && [ "$slept" -le $((threads * took)) ] ||
	fail "$slept us slept by $threads threads, each 1 s of the $took us this took"
check_wall_clock "a crowd" crowd.txt

echo "  so have $threads threads that were blocked all along"
"$workloads/crowd" "$threads" 600 >/dev/null &
target=$!
for ((tries = 0; tries < 600; tries++)); do
	asleep=$(cat "/proc/$target"/task/*/syscall 2>/dev/null | grep -vc '^running')
	[ "$asleep" -gt "$threads" ] && break
	sleep 0.1
done
[ "$asleep" -gt "$threads" ] || fail "only $asleep threads of the crowd went to sleep"
begin=$(date +%s%N)
"$pkbpf" -q -v -e offcpu -d 2 -p "$target" -o blocked.folded --full -o blocked.txt 2>err.txt || fail "status $?: $(cat err.txt)"
took=$((($(date +%s%N) - begin) / 1000))
slept=$(total ';member;sleep_in_crowd;' blocked.folded)
# From edge to edge; 15 ms are the time between what the duration and what the interval is counted from.
[ "$slept" -ge $((threads * 1985000)) ] && [ "$slept" -le $((threads * took)) ] ||
	fail "$slept us blocked of $threads threads that were for 2 s each"
check_wall_clock "a blocked crowd" blocked.txt

echo "  threads killed while they wait keep what they have waited"
"$pkbpf" -q -v -e offcpu -p "$target" -o killed.folded --full -o killed.txt 2>err.txt &
profiler=$!
# This it says when everything is attached; it stops by itself when its target has ended.
for ((tries = 0; tries < 600; tries++)); do
	grep -q 'account of resources' err.txt && break
	sleep 0.1
done
sleep 1
kill -9 "$target"
wait "$target" 2>/dev/null
target=
wait "$profiler" || fail "status $?: $(cat err.txt)"
slept=$(total 'sleep_in_crowd|nanosleep' killed.folded)
[ "$slept" -ge $((threads * 990000)) ] || fail "$slept us of $threads threads that waited 1 s or more until they were killed"
check_wall_clock "a killed crowd" killed.txt

echo "  threads that wake while they are being looked at have neither more time than there is nor more on a CPU"
"$workloads/crowd" "$threads" 0.05 again >/dev/null &
target=$!
for ((tries = 0; tries < 600; tries++)); do
	[ "$(ls "/proc/$target/task" | wc -l)" -gt "$threads" ] && break
	sleep 0.1
done
"$pkbpf" -q -e offcpu -d 1 -p "$target" -o waking.json 2>err.txt || fail "status $?: $(cat err.txt)"
kill -9 "$target"
wait "$target" 2>/dev/null
target=
# On a CPU may be twice as long as the kernel counts, where the host takes it away.
checker - "$threads" <<'P'
import sys
import checks

report = checks.read_report("waking.json")
row, threads = report["rows"][0], int(sys.argv[1]) + 1
wall, lived = row["offcpu"]["wall_ns"] / 1e9, threads * report["time"]["duration_ns"] / 1e9
oncpu, used = row["offcpu"]["oncpu_ns"] / 1e9, row["cpu"]["total_ns"] / 1e9
if abs(wall - lived) > 0.005 * lived or oncpu > 2 * used + 0.2:
    checks.fail(f"{threads} threads lived {lived:.1f} s and are told of {wall:.1f}, on a CPU for {used:.2f} s and told of {oncpu:.2f}")
P

# check_rate FOLDED TRUTH STOLEN_US WHAT: are all waits of the two threads and of the one that waits for them there?
check_rate() {
	local measured true
	measured=$(total . "$1")
	# Two threads, and the first one, which waits for them as long as the longer one lives.
	true=$(awk '$1 == "thread" { sum += $2 - $3; if ($2 > longest) longest = $2 } END { printf "%.0f", (sum + longest) / 1000 }' "$2")
	# Beside 1 %: waits of the start, before the program can tell of itself, and what the host stole from their CPU.
	within 10 $((150000 + $3)) "$measured" "$true" || fail "$4: $measured us off the CPU instead of $true"
}

echo "  waits add up at the highest switch rate"
stolen=$(stolen_us)
"$pkbpf" -q -v -e offcpu --max-overhead none -o rate.folded --full -o rate.txt -- "$workloads/pingpong" 3 >truth.txt 2>err.txt ||
	fail "status $?: $(cat err.txt)"
check_rate rate.folded truth.txt $(($(stolen_us) - stolen)) "every wait"
check_wall_clock "full rate" rate.txt
grep -q 'stacks of some waits were skipped' rate.txt && fail "every wait was taken, but the report speaks of a sample"

echo "  they do when stacks are taken of a sample only, and the report says so"
for limit in '' '--max-overhead=1%'; do
	stolen=$(stolen_us)
	"$pkbpf" -q -v -e offcpu $limit -o few.folded --full -o few.txt -- "$workloads/pingpong" 4 >truth.txt 2>err.txt ||
		fail "status $?: $(cat err.txt)"
	check_rate few.folded truth.txt $(($(stolen_us) - stolen)) "sampled waits"
	check_wall_clock "sampled waits" few.txt
	tr '\n' ' ' <few.txt | grep -q 'stacks of some waits were skipped' || fail "the report does not say that waits were sampled"
done

# measure_rests ROUNDS MILLISECONDS: long waits among many short ones; sets rested and true, in microseconds
measure_rests() {
	"$pkbpf" -q -v -e offcpu --max-overhead 1 --per-thread -o bursts.folded --full -o bursts.txt -- "$workloads/bursts" "$1" "$2" \
		>truth.txt 2>err.txt || fail "status $?: $(cat err.txt)"
	rested=$(total ';main;rest;' bursts.folded)
	true=$(awk '$1 == "rest" { printf "%.0f", $3 / 1000 }' truth.txt)
	tr '\n' ' ' <bursts.txt | grep -q 'stacks of some waits were skipped' || fail "bursts were not sampled: $(cat err.txt)"
	check_wall_clock "bursts" bursts.txt
}
# They are so long that a visit finds them. The time on the run queue after each sleep is in neither; 2 ms each are room for it.
echo "  a few long waits among many short ones have their own stack and length"
measure_rests 8 500
within 10 16000 "$rested" "$true" || fail "$rested us of long sleeps instead of $true"
# Too short for a visit. Nearly all are taken, since there are few of them; one in 32 of the others had 42 to 66 % of this time. Should the
# room for rare ones be used up once, one stands for 32, a fifth of the whole.
echo "  so have those that nobody visits, as far as a sample can tell"
measure_rests 150 20
[ "$rested" -ge $((true * 3 / 4)) ] && [ "$rested" -le $((true * 3 / 2)) ] || fail "$rested us of 150 long sleeps instead of $true"

echo "  processes whose numbers are those of a pool's threads, a whole table further on, have their time"
cp "$(command -v sleep)" ./guest
beside_a_pool() {
	local pool guests=()
	# So low that a whole table further on there still are numbers.
	echo 5000 >/proc/sys/kernel/ns_last_pid
	"$workloads/crowd" 64 3 &
	pool=$!
	for ((tries = 0; tries < 100; tries++)); do
		[ "$(ls "/proc/$pool/task" | wc -l)" = 65 ] && break
		sleep 0.01
	done
	# 16,384 is the size of the table unless the machine has thousands of threads.
	echo $((pool + 20 + 16384)) >/proc/sys/kernel/ns_last_pid
	for ((i = 0; i < 3; i++)); do
		"$work/guest" 1 &
		guests+=($!)
	done
	echo "${guests[@]}"
	wait "${guests[@]}"
	kill "$pool"
}
if [ -w /proc/sys/kernel/ns_last_pid ]; then
	export -f beside_a_pool
	export work workloads
	"$pkbpf" -q -v -e offcpu -o guests.folded --full -o guests.txt -- bash -c beside_a_pool >guests.pids 2>err.txt ||
		fail "status $?: $(cat err.txt)"
	slept=$(total '^guest;.*nanosleep' guests.folded)
	[ "$slept" -ge 2997000 ] || fail "processes $(cat guests.pids) beside a pool slept $slept us instead of 3000000"
	check_wall_clock "processes beside a pool" guests.txt
else
	not_checked "processes beside a pool of numbers: this kernel gives no number out on demand"
fi

echo "  two processes that have the same number one after the other are two"
cp "$(command -v sleep)" ./former
cp "$(command -v sleep)" ./latter
reuse() {
	local pid
	setarch -R "$work/former" 1 &
	pid=$!
	wait "$pid"
	for ((tries = 0; tries < 1000; tries++)); do
		# Only the one that got the number becomes "latter". It is the same program, so that without address space
		# randomization its stacks are those of the former address for address.
		echo $((pid - 1)) >/proc/sys/kernel/ns_last_pid
		(
			[ "$BASHPID" = "$pid" ] && exec setarch -R "$work/latter" 2
			exit 99
		) &
		wait $! && return 0
	done
	return 77 # somebody else has it and keeps it
}
if [ -w /proc/sys/kernel/ns_last_pid ]; then
	export -f reuse
	export work
	"$pkbpf" -q -v -e offcpu --pid-frame --wait-states -o reuse.folded --full -o reuse.txt -- bash -c reuse >/dev/null 2>err.txt
	status=$?
	[ "$status" = 0 ] || [ "$status" = 77 ] || fail "status $status: $(cat err.txt)"
fi
if [ "${status:-77}" = 0 ]; then
	roots=$(awk -F ';' '/nanosleep.*\[sleep\]/ && /^(former|latter)-/ { print $1 }' reuse.folded | sort -u)
	[ "$(wc -l <<<"$roots")" = 2 ] && [ "$(sed 's/.*-//' <<<"$roots" | sort -u | wc -l)" = 1 ] ||
		fail "expected two processes of one number instead of: $roots"
	first=$(total '^former-.*nanosleep.*[[]sleep]' reuse.folded)
	second=$(total '^latter-.*nanosleep.*[[]sleep]' reuse.folded)
	[ "$first" -ge 999000 ] && [ "$first" -lt 1900000 ] || fail "the former slept $first us instead of 1000000"
	[ "$second" -ge 1999000 ] && [ "$second" -lt 2900000 ] || fail "the latter slept $second us instead of 2000000"
	check_wall_clock "a number used twice" reuse.txt
else
	not_checked "a number used twice: this kernel gives none out again on demand"
fi

conclude
