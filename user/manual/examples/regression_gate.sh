#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Profiles a command several times and compares the runs with a baseline of another branch. Status 3: a change is beyond a condition.
# usage: [VARIABLE=VALUE]... regression_gate.sh COMMAND [ARGUMENT]...
#	PKBPF       the program, with what it needs in front; default: pkbpf, or sudo pkbpf for others than root
#	RUNS        how often the command is run; default: 5
#	OPTIONS     options of the recordings; default: -e cpu,offcpu --regions --slice 100ms
#	CONDITIONS  a line each, as of pkbpf diff --fail-if; default: cpu.total>+10%
#	OUT         folder of baseline, comment.md, diff.html and junit.xml; default: pkbpf-out
#	UPDATE      1: replaces the baseline by these runs and compares nothing, as on the base branch
set -eu
[ "$(id -u)" = 0 ] && default=pkbpf || default='sudo pkbpf'
pkbpf=${PKBPF:-$default}
out=${OUT:-pkbpf-out}
[ $# -gt 0 ] || { echo 'regression_gate.sh: which command?' >&2 && exit 2; }

mkdir -p "$out"
rm -f "$out"/run-*.pkbpf "$out/comment.md" "$out/diff.html" "$out/junit.xml"
run=0
while [ $run -lt "${RUNS:-5}" ]; do
	run=$((run + 1))
	# shellcheck disable=SC2086 # words
	$pkbpf -q ${OPTIONS:--e cpu,offcpu --regions --slice 100ms} -o "$out/run-$run.pkbpf" -- "$@"
done

if [ "${UPDATE:-}" = 1 ]; then
	rm -f "$out/baseline"
	$pkbpf diff -q --save-baseline "$out/baseline" "$out"/run-*.pkbpf
	exit
fi
if ! [ -e "$out/baseline" ]; then
	echo 'No profile of the base branch yet: nothing to compare with.' | tee "$out/comment.md"
	exit
fi

runs=$run
set -- -q --baseline "$out/baseline" "$out/run-1.pkbpf"
for run in $(seq 2 "$runs"); do
	set -- "$@" --new "$out/run-$run.pkbpf"
done
while IFS= read -r condition; do
	[ -z "$condition" ] || set -- "$@" --fail-if "$condition"
done <<END
${CONDITIONS:-cpu.total>+10%}
END
status=0
$pkbpf diff "$@" -o "$out/comment.md" -o "$out/diff.html" -f junit -o "$out/junit.xml" || status=$?
cat "$out/comment.md"
exit $status
