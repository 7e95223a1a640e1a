#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# alone: it floods the machine
# Programs that flood a profiler, each beside an innocent one: that one's profile is whole, and pkbpf stays within what it is
# allowed. PKBPF_ADVERSARIES names others than the short ones, and PKBPF_SECONDS the time for each, of which the limit of
# overhead needs 12.
# usage: test_adversaries.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
adversaries=${PKBPF_ADVERSARIES:-switches rewrites}
mib=256 percent=60
neighbour='' adversary=''
cleanup() {
	[ -z "$neighbour" ] || kill "$neighbour" 2>/dev/null
	# shellcheck disable=SC2046 # its children, too
	[ -z "$adversary" ] || kill -9 "$adversary" $(pgrep -P "$adversary") 2>/dev/null
	wait 2>/dev/null
	neighbour='' adversary=''
}

flood() { # NAME [ARGUMENT]
	"$workloads/neighbour" &
	neighbour=$!
	"$workloads/adversary" "$@" >ready 2>&1 &
	adversary=$!
	wait_until 60 grep -q ready ready || fail "$1: it does not begin: $(cat ready)"
	rm -f ./*.folded
	record -d "${PKBPF_SECONDS:-2}" -F 499 -e cpu,offcpu,faults,blockio --max-memory ${mib}M --max-overhead $percent -o n.json -o n.folded &&
		checker "$here/adversary_check.py" "$1" n.json . $mib $percent
	cleanup
}

for name in $adversaries; do
	begin "$name"
	case $name in
	threads) flood threads 30000 ;;
	mappings) flood mappings 65000 ;;
	requests) flood requests "$work/file" ;;
	rewrites)
		cp "$workloads/adversary" rewritten
		flood rewrites "$work/rewritten"
		;;
	*) flood "$name" ;;
	esac
done
conclude
