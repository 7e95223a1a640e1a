#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What profiling page faults costs: a loop that faults as fast as it can, alone and beside each tracer.
#
#	bench_faults.sh path/to/pkbpf path/to/workload/fault [rounds] [seconds per run]
#
# KINDS=memory: with these kinds of events instead of faults.
# Rounds are interleaved, each tracer's run between two runs without one. The workload says faults per second of its own
# CPU time, so that other load on the machine does not count.
set -eu

pkbpf=${1:?usage: bench_faults.sh path/to/pkbpf path/to/workload/fault [rounds] [seconds]}
fault=${2:?usage: bench_faults.sh path/to/pkbpf path/to/workload/fault [rounds] [seconds]}
rounds=${3:-7}
seconds=${4:-2}

[ "$(id -u)" = 0 ] || { echo "bench_faults.sh: needs root" >&2; exit 77; }

dir=$(mktemp -d)
tracer=

stop_tracer() {
	if [ -n "$tracer" ]; then
		kill -INT "$tracer" 2>/dev/null || true
		wait "$tracer" 2>/dev/null || true
	fi
	tracer=
}

trap 'stop_tracer; rm -rf "$dir"' EXIT

run_loop() {
	"$fault" loop "$seconds" | cut -d' ' -f1
}

start_tracer() {
	case $1 in
	pkbpf) "$pkbpf" -q -e "${KINDS:-faults}" --full -o "$dir/out.txt" & ;;
	perf) perf record -q -a -g -e page-faults -c 1 -o "$dir/perf.data" >/dev/null 2>&1 & ;;
	perf-default) perf record -q -a -g -e page-faults -o "$dir/perf.data" >/dev/null 2>&1 & ;;
	perf-trace) perf trace -a -F all --no-syscalls -o "$dir/out" >/dev/null 2>&1 & ;;
	esac
	tracer=$!
	sleep 2
	kill -0 "$tracer"
}

tracers=
for name in ${TRACERS:-pkbpf perf-default perf perf-trace}; do
	case $name in
	perf*) command -v perf >/dev/null || { echo "not here: perf" >&2; continue; } ;;
	esac
	tracers="$tracers $name"
done

run_loop >/dev/null
for _ in $(seq "$rounds"); do
	before=$(run_loop)
	for name in $tracers; do
		start_tracer "$name"
		during=$(run_loop)
		stop_tracer
		rm -f "$dir/out" "$dir/out.txt" "$dir/perf.data"
		after=$(run_loop)
		echo "$name $before $during $after"
		before=$after
	done
done | awk '
	{ base = ($2 + $4) / 2; bases[++n] = base; slower[$1, ++count[$1]] = 100 * (base / $3 - 1) }
	function sorted(values, size,   i, j, t) {
		for (i = 2; i <= size; i++)
			for (j = i; j > 1 && values[j - 1] > values[j]; j--) { t = values[j]; values[j] = values[j - 1]; values[j - 1] = t }
	}
	END {
		sorted(bases, n)
		printf "%-12s %9.0f faults/s of CPU time without a tracer (median of %d)\n", "", bases[int((n + 1) / 2)], n
		for (name in count) {
			m = count[name]
			for (i = 1; i <= m; i++) one[i] = slower[name, i]
			sorted(one, m)
			printf "%-12s %8.1f %% slower (median of %d; %.1f to %.1f)\n", name, one[int((m + 1) / 2)], m, one[1], one[m]
		}
	}'
