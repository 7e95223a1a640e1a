#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# A program that executes another one when it has just been executed itself: the second is not unwound as the first is.
# usage: test_brief_images.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

export workloads

chain() {
	for ((i = 0; i < 100; i++)); do
		"$workloads/brief_image" 5 "$workloads/next_image" 5
	done
}
export -f chain

# Without address space randomization both have their libraries at the same addresses, too.
record -e cpu -F 4999 -o images.folded --full -o images.txt -- setarch -R bash -c chain || exit 1
# count PATTERN: samples of the second program that match
count() {
	awk -v pattern="$1" '/^next_image;/ && $0 ~ pattern { sum += $NF } END { print sum + 0 }' images.folded
}
whole=$(count ';_start;.*;main;.*work')
wrong=$(count 'stack memory not readable')
echo "  of $(count .) samples $whole are whole up to work(), and $wrong were unwound by what holds for the former program"
[ "$whole" -gt 200 ] && [ "$wrong" = 0 ] || fail "$(grep '^next_image' images.folded)"
conclude
