#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What tracing block I/O costs: 4k random reads of a loop device in memory, one at a time, alone and beside each tracer.
#
#	bench_blockio.sh path/to/pkbpf [rounds] [seconds per run]
#
# Rounds are interleaved, each tracer's run between two runs without one; the ratio is to their mean. Other load on the
# machine then hits all alike, and the median over rounds is what is left. The CPU time that fio needs for a request is
# less disturbed by it than the number of requests per second; the tracers' programs run in it.
set -eu

pkbpf=${1:?usage: bench_blockio.sh path/to/pkbpf [rounds] [seconds]}
rounds=${2:-7}
seconds=${3:-2}

[ "$(id -u)" = 0 ] || { echo "bench_blockio.sh: needs root" >&2; exit 77; }
command -v fio >/dev/null || { echo "bench_blockio.sh: needs fio" >&2; exit 77; }

dir=$(mktemp -d)
device=
tracer=

stop_tracer() {
	if [ -n "$tracer" ]; then
		kill -INT "$tracer" 2>/dev/null || true
		wait "$tracer" 2>/dev/null || true
	fi
	tracer=
}

cleanup() {
	stop_tracer
	[ -z "$device" ] || losetup -d "$device"
	umount "$dir" 2>/dev/null || true
	rmdir "$dir"
}
trap cleanup EXIT

mount -t tmpfs -o size=300m none "$dir"
dd if=/dev/zero of="$dir/image" bs=1M count=256 status=none
device=$(losetup -f --show "$dir/image")

# IOPS of one run, and microseconds of fio's CPU time per request.
run_fio() {
	fio --minimal --name=read --filename="$device" --direct=1 --rw=randread --bs=4k --ioengine=psync --iodepth=1 \
		--time_based --runtime="$seconds" --randrepeat=0 --output="$dir/fio"
	# terse format: 6 KiB read, 8 IOPS, 9 ms, 88 and 89 share of a CPU in user and kernel mode
	tail -1 "$dir/fio" | awk -F';' '{ print $8, ($88 + $89) / 100 * $9 * 1000 / ($6 / 4) }'
}

# start_tracer <name>: in the background, working when this returns.
start_tracer() {
	case $1 in
	pkbpf) "$pkbpf" -q -e blockio -o "$dir/out.txt" & ;;
	pkbpf-cpu) "$pkbpf" -q -e cpu,blockio -o "$dir/out.txt" & ;;
	biolatency) biolatency 1000 >"$dir/out" 2>&1 & ;;
	biosnoop) biosnoop >"$dir/out" 2>&1 & ;;
	perf) perf record -q -a -g -e block:block_rq_issue -e block:block_rq_complete -o "$dir/perf.data" >/dev/null 2>&1 & ;;
	perf-trace) perf trace -a -e block:block_rq_issue,block:block_rq_complete -o "$dir/out" >/dev/null 2>&1 & ;;
	esac
	tracer=$!
	sleep 2
	kill -0 "$tracer"
}

available() {
	case $1 in
	pkbpf*) true ;;
	perf*) command -v perf >/dev/null && [ -d /sys/kernel/tracing/events/block ] ;;
	*)
		# There, and this kernel takes its programs: then it runs until it is stopped.
		local status=0
		command -v "$1" >/dev/null || return 1
		timeout 3 "$1" >/dev/null 2>&1 || status=$?
		[ $status = 124 ]
		;;
	esac
}

tracers=
for name in ${TRACERS:-pkbpf biolatency biosnoop perf}; do
	if available "$name"; then
		tracers="$tracers $name"
	else
		echo "not here: $name" >&2
	fi
done

run_fio >/dev/null
for _ in $(seq "$rounds"); do
	before=$(run_fio)
	for name in $tracers; do
		start_tracer "$name"
		during=$(run_fio)
		stop_tracer
		rm -f "$dir/out" "$dir/out.txt" "$dir/perf.data"
		after=$(run_fio)
		echo "$name $before $during $after"
		before=$after
	done
done | awk '
	{
		base = ($2 + $6) / 2
		bases[++n] = base
		loss[$1, ++count[$1]] = 100 * (1 - $4 / base)
		base = ($3 + $7) / 2
		times[n] = base
		more[$1, count[$1]] = 100 * ($5 / base - 1)
		if ($2 > best) best = $2
		if ($6 > best) best = $6
		if ($4 > best_of[$1]) best_of[$1] = $4
	}
	function sorted(values, size,   i, j, t) {
		for (i = 2; i <= size; i++)
			for (j = i; j > 1 && values[j - 1] > values[j]; j--) { t = values[j]; values[j] = values[j - 1]; values[j - 1] = t }
	}
	END {
		sorted(bases, n)
		sorted(times, n)
		printf "%-12s %9.0f IOPS and %.1f us of CPU time per request without a tracer (median of %d)\n", "",
			bases[int((n + 1) / 2)], times[int((n + 1) / 2)], n
		for (name in count) {
			m = count[name]
			for (i = 1; i <= m; i++) { one[i] = loss[name, i]; two[i] = more[name, i] }
			sorted(one, m)
			sorted(two, m)
			printf "%-12s %8.1f %% fewer IOPS (median of %d; %.1f to %.1f), %.1f %% more CPU time per request (%.1f to %.1f); best run %.0f of %.0f IOPS\n",
				name, one[int((m + 1) / 2)], m, one[1], one[m], two[int((m + 1) / 2)], two[1], two[m], best_of[name], best
		}
	}'
