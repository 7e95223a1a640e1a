#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# alone: it looks for programs and maps of every pkbpf
# No program, map, link or file is left, however pkbpf ends.
# usage: test_nothing_left.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
profiler=
cleanup() { [ -n "$profiler" ] && kill -9 "$profiler" 2>/dev/null; }
tool=$(command -v bpftool || ls /usr/sbin/bpftool) || skip "no bpftool"
mkdir out

# ids KIND: what the profiler's descriptors hold of that kind, by fdinfo; later, whether they are still there
ids() {
	cat /proc/"$profiler"/fdinfo/* 2>/dev/null | awk -v key="$1_id:" '$1 == key { print $2 }' | sort -u
}

is_gone() { # KIND
	"$tool" "$1" show -j 2>/dev/null | grep -oE '"id":[0-9]+' | cut -d: -f2 | sort -u >there
	[ -z "$(comm -12 there "held.$1")" ]
}

for end in INT KILL SEGV; do
	begin "after SIG$end"
	rm -f out/* out/.pkbpf-*
	(ulimit -c 0 && exec "$pkbpf" -v -d 60 --slow-io 0 --wakers -o out/a.folded -o out/a.html -o out/a.json 2>"$end.err") &
	profiler=$!
	wait_until 60 profiling "$end.err" || give_up "pkbpf did not start: $(tail -3 "$end.err")"
	for kind in prog map link; do ids $kind >held.$kind; done
	[ -s held.prog ] && [ -s held.map ] || give_up "it holds $(wc -l <held.prog) programs and $(wc -l <held.map) maps"
	kill -$end "$profiler"
	wait "$profiler" 2>/dev/null
	[ $end = INT ] || [ -z "$(ls -A out)" ] || fail "files are left: $(ls -A out)"
	[ $end != INT ] || [ -z "$(find out -name '.pkbpf-*')" ] || fail "temporary files are left: $(ls -A out)"
	# The kernel frees them after a grace period.
	for kind in prog map link; do
		wait_until 60 is_gone $kind || fail "${kind}s are left: $(comm -12 there held.$kind | head -3 | tr '\n' ' ')"
	done
	[ -z "$(find /sys/fs/bpf -name '*pkbpf*' 2>/dev/null)" ] || fail "something is pinned"
	profiler=
done

begin "a recording is there up to the crash"
"$pkbpf" -v -d 60 -e cpu -o out/r.pkbpf 2>r.err &
profiler=$!
wait_until 60 profiling r.err || give_up "pkbpf did not start: $(tail -3 r.err)"
# shellcheck disable=SC2016 # evaluated later
wait_until 60 eval '[ "$(cat out/.pkbpf-*.tmp | wc -c)" -gt 1000 ]' || fail "no slice is written"
kill -KILL $profiler
wait $profiler 2>/dev/null
left=$(find out -name '.pkbpf-*.tmp')
[ -n "$left" ] || fail "nothing is left of the recording"
"$pkbpf" report "$left" -o back.json 2>err || fail "cannot be read: $(cat err)"
profiler=

conclude
