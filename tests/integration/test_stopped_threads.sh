#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# Threads of stock programs, stopped wherever they are: their frames by our tables are libdwfl's, PC by PC.
# usage: test_stopped_threads.sh PKBPF WORKLOAD_FOLDER [PROGRAM…]
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
compare=$(readlink -f "$workloads/../../oracle/compare_stopped")
shift 2
[ -x "$compare" ] || give_up "$compare is not built"
# shellcheck source=programs.sh
. "$here/programs.sh"
# shellcheck disable=SC2034 # programs.sh works there
programs_folder=$work
cleanup() { programs_stop; }
times=${PKBPF_TIMES:-12}

descendants() {
	local child
	for child in $(pgrep -P "$1"); do
		echo "$child"
		descendants "$child"
	done
}

# compare PID: the process and all below it
compare() {
	# shellcheck disable=SC2046 # one word per process
	"$compare" "$name" "$times" "$1" $(descendants "$1") >compared
	local status=$?
	head -n 40 compared
	return $status
}

record_pids() { compare "$1"; }
record_command() {
	# Not through timeout: what ends it is the end of the comparison.
	[ "$1" != timeout ] || { while [ "$1" = timeout ] || [[ $1 =~ ^(-s|INT|[0-9]+)$ ]]; do shift; done; }
	in_background "$@"
	local pid=$!
	sleep 0.3
	compare "$pid"
}

program_sleep() { record_command sleep 100; }
program_bash() {
	mkfifo pipe
	record_command bash -c 'f() { if (($1 > 0)); then f $(($1 - 1)); else for ((i = 0; i < 300000; i++)); do :; done
		read -r line <>pipe; fi; }; f 12'
}

if [ $# -gt 0 ]; then
	programs=("$@")
else
	programs=(sleep bash python3 perl sqlite3 postgres redis nginx ripgrep)
fi
for name in "${programs[@]}"; do
	with_program "$name" 30 || fail "$name ended with $?"
done
conclude
