#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Each room of user/ has at least 0.35 lines of unit tests a line of code, so that a wrong sign is found without root.
# usage: test_lines.sh ROOT
root=$1 least=35
failures=0 rooms=0

# Of manual/ the output is tested as it is: lint/papers.
untested=' manual '

# lines FOLDER: of its C files
lines() { find "$1" -name '*.[ch]' -exec cat {} + 2>/dev/null | wc -l; }

for folder in "$root"/user/*/; do
	room=$(basename "$folder")
	code=$(lines "$folder") tests=$(lines "$root/tests/unit/$room")
	[ "$code" -gt 0 ] || continue
	rooms=$((rooms + 1))
	printf '%d.%02d  %-12s %6d lines of tests, %6d of code\n' $((tests / code)) $((100 * tests / code % 100)) "$room" "$tests" "$code"
	[ $((100 * tests)) -ge $((least * code)) ] || [[ $untested == *" $room "* ]] && continue
	echo "FAILED: $room needs $(((least * code + 99) / 100 - tests)) more lines of unit tests: its pure parts, with known answers"
	failures=$((failures + 1))
done
[ $rooms -gt 30 ] || { echo "FAILED: only $rooms rooms were found" && exit 1; }
exit $((failures > 0))
