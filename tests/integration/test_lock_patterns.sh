#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# alone: its holders need a CPU to be short
# Why threads wait for a lock: held across I/O, starving writers, priority inversion, a convoy; each is found where it is
# planted, and not in a twin.
# usage: test_lock_patterns.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

file=$(mktemp /var/tmp/pkbpf_lock_patterns.XXXXXX)
trap 'rm -f "$file"' EXIT

# run MODE: keeps what is said of locks in "words". Status 77 of the program: it may not do what it has to.
run() {
	echo "  $1"
	"$pkbpf" -q -e cpu,locks -o found.txt -o found.json -- "$workloads/lock_patterns" "$1" 2 "$file" >/dev/null 2>err.txt
	status=$?
	[ $status = 0 ] || [ $status = 77 ] || fail "status $status: $(cat err.txt)"
	python3 - >words <<'PYTHON'
import json
for finding in json.load(open("found.json"))["findings"]:
    if finding["rule"] == "lock_bound":
        print(finding["text"])
PYTHON
}
finds() {
	run "$1"
	[ "$status" = 77 ] && return
	grep -q "$2" words || fail "$1: no '$2' in: $(cat words found.txt)"
}
finds_not() {
	run "$1"
	[ "$status" = 77 ] && return
	grep -q "$2" words && fail "$1: '$2' in: $(cat words)"
}

if [ "$(stat -f -c %T /var/tmp)" = tmpfs ]; then
	echo "  /var/tmp is in memory: no I/O to wait for"
else
	finds io "held across I/O"
fi
finds_not io_outside "held across I/O"
finds starve "writers starve behind readers"
grep -q PTHREAD_RWLOCK_PREFER_WRITER words || fail "advice: $(cat words)"
finds_not writers_first "writers starve"
finds inversion "priority inversion"
finds_not inherited "priority inversion"
finds convoy "a convoy: "
finds_not long_holds "a convoy: "

conclude
