#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Resident pages by who wrote first, of a program that makes them in every way there is.
# usage: test_memory.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

begin "pages of each kind, to the byte"
mkfifo go
"$workloads/resident" <go >said.txt &
pid=$!
exec 3>go
"$pkbpf" -v -e memory --children -p "$pid" -o out.folded -o out.json -o out.html -f text -o out.txt --full 2>said &
profiler=$!
wait_until 60 profiling said || give_up "it does not start: $(cat said)"
echo >&3
wait_until 60 grep -q ready said.txt || fail "the program did not come to its end in time"
wait_until 60 pgrep -P "$pid"
# The child writes its last page soon.
sleep 0.5
kill -INT "$profiler"
wait "$profiler" || fail "status $?: $(cat said)"
pkill -P "$pid"
kill "$pid"
grep -q ', 0 lost' said || fail "lost: $(cat said)"
checker "$here/memory_check.py" out.folded out.json >check.txt || grep -v '^ok' check.txt
grep -q '^Memory over time' out.txt || fail "no memory over time: $(cat out.txt)"

begin "a command, as it was at its peak"
record -e memory -o out.folded -- sh -c 'python3 -c "
import time
block = b\"x\" * (100 << 20)
time.sleep(2.5)
del block
time.sleep(0.4)
"'
awk '$1 ~ /^python3;/ { sum += $NF } END { exit !(sum >= 100 * 1048576 && sum < 130 * 1048576) }' out.folded ||
	fail "peak of a command: $(cat out.folded)"

conclude
