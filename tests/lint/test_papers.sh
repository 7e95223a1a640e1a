#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The manual and the completions that were made from the tables: test_papers.sh PKBPF DIRECTORY
set -u
pkbpf=$1 papers=$2 failures=0

fail() {
	echo "FAILED: $*"
	failures=$((failures + 1))
}

# Every option of --help all is in each of them.
options=$("$pkbpf" --help all | grep -oE '^  (-., |    )--[a-z-]+' | grep -oE -- '--[a-z-]+')
[ "$(wc -w <<<"$options")" -gt 20 ] || fail "--help lists too few options: $options"
for option in $options; do
	sed 's/\\-/-/g' "$papers/pkbpf.1" | grep -qE -- "Fl -${option#--}( |\$)" || fail "the manual lacks $option"
	grep -qE -- "${option}[ |)]" "$papers/pkbpf.bash" || fail "the completion for bash lacks $option"
	grep -qE -- "${option}[}[]" "$papers/_pkbpf" || fail "the completion for zsh lacks $option"
	grep -qE -- "-l ${option#--} " "$papers/pkbpf.fish" || fail "the completion for fish lacks $option"
done

# A line that was meant to be replaced stands nowhere.
! grep -n '^@' "$papers/pkbpf.1" || fail "the manual has a part that nobody fills"

# completes EXPECTED WORD…: bash offers exactly this for the last word
completes() {
	local expected=$1
	shift
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
	_pkbpf
	[ "${COMPREPLY[*]}" = "$expected" ] || fail "'$*' gives '${COMPREPLY[*]}' instead of '$expected'"
}

# shellcheck source=/dev/null
. "$papers/pkbpf.bash"
[ "$(complete -p pkbpf)" = "complete -F _pkbpf pkbpf" ] || fail "bash has no completion for pkbpf"
completes --frequency pkbpf --fr
kinds=$(sed -n 's/^\tX([A-Z]*, [0-9]*, \([a-z]*\)).*/\1/p' "$(dirname "$0")/../../include/pkbpf/profile_kind.h")
[ "$(wc -w <<<"$kinds")" -ge 4 ] || fail "too few kinds of events: $kinds"
completes "$(xargs <<<"$kinds")" pkbpf -e ""
completes cpu,offcpu pkbpf --events cpu,off
formats=$(sed -n 's/^\tROW(\([a-z_]*\)).*/\1/p' "$(dirname "$0")/../../user/export/formats.h" | tr _ -)
[ "$(wc -w <<<"$formats")" -ge 5 ] || fail "too few formats: $formats"
completes "$(xargs <<<"$formats")" pkbpf -f ""
completes folded pkbpf -o x -f fo
completes thread pkbpf --by = th
completes doctor pkbpf doc
completes --pid pkbpf doctor --pi
completes "" pkbpf doctor --fr
completes $$ pkbpf -p $$
completes "1,$$" pkbpf --pid "1,$$"
completes "$papers/pkbpf.1" pkbpf -o "$papers/pkbpf.1"
completes --duration pkbpf -p 1 --du

# A cgroup's name is text: whoever made it must not run commands in the shell that completes.
folder=$(mktemp -d)
mkdir "$folder/a\$(echo evaluated) b"
# shellcheck disable=SC2317 # the completion calls it
cd() { builtin cd "$folder" || return; }
completes "a\$(echo evaluated) b" pkbpf -G a
unset -f cd
rm -r "$folder"

for shell in zsh fish; do
	paper=$papers/_pkbpf
	[ $shell = zsh ] || paper=$papers/pkbpf.fish
	if ! command -v $shell >/dev/null; then
		echo "NOT CHECKED: the completion for $shell, which is not installed"
	elif ! $shell -n "$paper"; then
		fail "$shell cannot read $paper"
	fi
done

if ! command -v mandoc >/dev/null; then
	echo "NOT CHECKED: the manual, for want of mandoc"
else
	# Which other manuals a machine has says nothing about this one.
	complaints=$(mandoc -Tlint "$papers/pkbpf.1" | grep -v 'referenced manual not found')
	[ -z "$complaints" ] || fail "$complaints"
fi
[ $failures = 0 ]
