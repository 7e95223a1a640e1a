#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# Stock programs under load: their user stacks reach the root, though nothing was built with frame pointers.
# usage: test_programs.sh PKBPF WORKLOAD_FOLDER [PROGRAM…]
#
# With names of programs, or PKBPF_TABLE set, prints one row of a table per program instead of stopping at bounds.
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
shift 2
# shellcheck source=programs.sh
. "$here/programs.sh"
# shellcheck disable=SC2034 # programs.sh works there
programs_folder=$work
cleanup() { programs_stop; }
seconds=${PKBPF_SECONDS:-3}

record_command() { "$pkbpf" -q -e cpu -F 999 -o "$result.folded" --full -o "$result.txt" -- "$@" >stdout.log 2>stderr.log; }
record_pids() {
	"$pkbpf" -q -e cpu -F 999 -d "$seconds" -o "$result.folded" --full -o "$result.txt" --pid "$1" >stdout.log 2>stderr.log
}

if [ $# -gt 0 ]; then
	programs=("$@")
else
	programs=(postgres nginx redis python3 perl cc1plus clang sqlite3 openssl ripgrep fzf)
fi
[ -z "${PKBPF_TABLE-}" ] || PYTHONPATH=$here python3 "$here/complete.py" --head
for name in "${programs[@]}"; do
	result=$work/$name.result
	# Go's collector may move the stack of the goroutine that a worker has left for the system's, where the worker's frame
	# pointer still leads: then all of its stacks end there until the cycle is over, up to 30 in one of ten runs of 3 s.
	case $name in
	fzf) stretch=3 ;;
	*) stretch=1 ;;
	esac
	with_program "$name" $((seconds * stretch))
	status=$?
	if [ $status = 77 ]; then
		# tools/packages installs all that the test needs.
		[ -n "${PKBPF_TABLE-}" ] && echo "$name is not installed" || fail "$name is not installed"
		continue
	fi
	# timeout ends what it has stopped with 124; that is how some loads end.
	if [ ! -s "$result.folded" ] || { [ $status != 0 ] && [ $status != 124 ]; }; then
		fail "$name ended with $status"
		continue
	fi
	# cc1plus recurses deeper than the 1,024 frames that are walked.
	case $name in
	cc1plus) bound='0.995 --but-depth' ;;
	*) bound=0.995 ;;
	esac
	# shellcheck disable=SC2086 # the bound may be two words
	checker "$here/complete.py" "$name" "$(comm_of "$name")" "$result.folded" $bound ${PKBPF_TABLE:+--table}
	# It is stripped, but its functions have names in the table that Go's tracebacks need.
	[ "$name" != fzf ] || grep -q '^fzf;runtime\.goexit;.*;github.com/junegunn/fzf/src\.' "$result.folded" ||
		fail "the functions of fzf have no names"
	[ -z "${PKBPF_KEEP-}" ] || cp "$result".* "$PKBPF_KEEP"
done
conclude
