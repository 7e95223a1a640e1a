#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# alone: waits are held against the program's own clock, to 2 %
# Each wait for a lock names its holder at its begin; waits and sums match the program and the off-CPU account.
# usage: test_lock_truth.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

# check_kind KIND THREADS [PROGRAM]
check_kind() {
	echo "  $2 threads at locks of the kind $1"
	"$pkbpf" -q -e locks --trace --trace-min 1ns -o run.json -o run.trace.json -- "${3:-$workloads/lock_owners}" "$1" "$2" 2 holds \
		>truth.txt 2>err.txt || fail "status $?: $(cat err.txt)"
	python3 "$here/lock_owner_check.py" run.trace.json run.json truth.txt 99 || fail "$1: waits are not as they were"
}

for threads in 2 6 16 64; do
	check_kind normal $threads
done
for kind in recursive errorcheck adaptive timed robust pi rwlock readers shared; do
	check_kind $kind 6
done

conclude
