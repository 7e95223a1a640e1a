#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Each tool says how it is called when it is asked, refuses options, presets and parts that it does not know, and does nothing
# in either case.
# usage: test_usage.sh ROOT
root=$1
failures=0
fail() {
	echo "FAILED: $*"
	failures=$((failures + 1))
}

# Where nothing may be made: a build folder, a log, a package, a line to the network.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PKBPF_BUILD=$work/build TMPDIR=$work/tmp
mkdir "$TMPDIR"
nothing_made() {
	[ ! -e "$PKBPF_BUILD" ] || { fail "$1 makes $(find "$PKBPF_BUILD" | head -n 3)" && rm -rf "$PKBPF_BUILD"; }
	[ -z "$(ls -A "$TMPDIR")" ] || { fail "$1 leaves $(ls -A "$TMPDIR")" && rm -rf "${TMPDIR:?}"/*; }
}

tools=0
for tool in "$root"/tools/*; do
	# tools/run hands its options on: they are those of pkbpf.
	name=$(basename "$tool")
	[ -f "$tool" ] && [ -x "$tool" ] && [ "$name" != run ] || continue
	tools=$((tools + 1))
	for option in --help -h; do
		said=$(timeout 20 "$tool" $option 2>"$work/errors" </dev/null) || fail "tools/$name $option: status $?"
		[[ $said == *"tools/$name"* || $said == "usage: $name"* ]] || fail "tools/$name $option does not say how it is called: $said"
		[ ! -s "$work/errors" ] || fail "tools/$name $option complains: $(cat "$work/errors")"
		nothing_made "tools/$name $option"
	done
done
[ "$tools" -gt 12 ] || fail "only $tools tools were found"

# refuses WORD TOOL ARGUMENT…: with status 2, and a message that has the word
refuses() {
	local word=$1 name=$2
	shift 2
	said=$(timeout 20 "$root/tools/$name" "$@" 2>&1 </dev/null)
	status=$?
	[ $status = 2 ] || fail "tools/$name $*: status $status: $said"
	[[ $said == *"$word"* ]] || fail "tools/$name $* does not name $word: $said"
	nothing_made "tools/$name $*"
}
for name in check_layers coverage format lint mutate package packages pictures test update_golden version; do
	refuses --no-such-option $name --no-such-option
done
refuses nothing build nothing
refuses release build nothing
refuses --no-such-option build --no-such-option
refuses --no-such-option build release --no-such-option
refuses preset build
refuses mips cross_build mips
refuses --no-such-option cross_build arm64 --no-such-option
refuses -z fresh_root -z true
refuses -z run_kernels -z
refuses --no-such-option image --no-such-option program output
refuses --no-such-option release --no-such-option folder
refuses nothing packages build nothing
refuses nothing packages --list nothing
refuses groups packages
refuses command fresh_root
refuses nothing test nothing
refuses '-R nothing' test nothing
refuses '-R needs a value' test -L unit -R
refuses nothing test --extended nothing
refuses kernels test --extended nothing
refuses nothing test --nightly coverage nothing
refuses /nothing.c lint /nothing.c
refuses -k run_kernels -k
refuses extra package --fresh extra

[ "$failures" = 0 ] && echo "all passed"
exit $((failures > 0))
