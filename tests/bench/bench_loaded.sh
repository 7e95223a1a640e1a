#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Runs a benchmark while a stock program is under load; PID in its arguments becomes the program's.
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
exec 3>&1
with_program "$program" 3000
