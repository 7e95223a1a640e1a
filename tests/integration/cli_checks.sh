# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# What tests of the command line share, after prelude.sh: sourced in a folder of their own, where they leave "out" and "err".

spinner=

# shellcheck disable=SC2034 # prelude.sh shows them
evidence=(out err)

# run STATUS ARGUMENT…: runs pkbpf with stdout in "out" and stderr in "err"; again where nobody had a CPU to be sampled on
run() {
	local expected=$1 status
	shift
	for _ in 1 2 3 4 5; do
		"$pkbpf" "$@" >out 2>err
		status=$?
		[ $status = 4 ] && [ "$expected" != 4 ] && grep -q 'no samples' err || break
	done
	[ "$status" = "$expected" ] || fail "exit status $status instead of $expected: pkbpf $*"
}

# says FILE TEXT: the file holds a line with TEXT
says() {
	grep -qF -- "$2" "$1" || fail "'$2' is not in $1"
}

is_folded() {
	[ -s "$1" ] || { fail "$1 is empty"; return; }
	! grep -qvE '^[^;]+(;[^;]+)* [0-9]+$' "$1" || fail "$1 holds a line that is not folded"
}

no_temporaries() {
	local left
	left=$(find "$1" -name '.pkbpf-*' | head -1)
	[ -z "$left" ] || fail "a temporary is left behind: $left"
}

# ended PID: it is gone, or dead and not yet waited for
ended() {
	! kill -0 "$1" 2>/dev/null || grep -q '^State:.*Z' "/proc/$1/status" 2>/dev/null
}

start_spinner() {
	"$workloads/spin" 600 &
	spinner=$!
	disown $spinner
}

stop_spinner() {
	kill "$spinner"
	spinner=
}
