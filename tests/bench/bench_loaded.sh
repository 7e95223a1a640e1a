#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs a benchmark while a stock program is under load, or "build", make of this tree; PID in its arguments becomes the
# program's.
# usage (root): bench_loaded.sh PROGRAM COMMAND…      e.g. bench_loaded.sh postgres ./bench_cpu_cost.py build/… host 60
set -u

here=$(dirname "$(readlink -f "$0")")
program=$1
shift
command=("$@")
# shellcheck source=../integration/programs.sh
. "$here/../integration/programs.sh"
programs_folder=$(mktemp -d /tmp/pkbpf-loaded-XXXXXX)
trap 'programs_stop; rm -rf "$programs_folder"' EXIT
trap 'exit 130' INT TERM
from=$PWD

record_pids() { (cd "$from" && "${command[@]/#PID/${1%%,*}}" >&3); }
record_command() {
	in_background "$@"
	local pid=$! child
	sleep 1
	# What a driver or timeout has started does the work.
	while child=$(pgrep -n -P "$pid"); do pid=$child; done
	record_pids "$pid"
}
# This project's own tree, compiled again and again: short programs without end, and large ones.
program_build() {
	need cmake make || return 77
	cmake -S "$here/../.." -B tree -G 'Unix Makefiles' -DCMAKE_BUILD_TYPE=RelWithDebInfo >configure.log 2>&1 || return 1
	in_background timeout $(($1 + 20)) bash -c 'while :; do make -C tree -j"$(nproc)"; make -C tree clean; done'
	local make=$!
	sleep 3
	record_pids "$make"
	local status=$?
	programs_stop
	return $status
}
exec 3>&1
with_program "$program" 3000
