#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The map shows what is there: paths that ARCHITECTURE.md and the READMEs name exist, and each folder of user/ has its row.
# usage: test_map.sh ROOT
cd "$1" || exit 1
failures=0

# places FILE FOLDER…: the paths it names, below one of the folders, where names of families (<kind>, *) and lists are left out
places() {
	local file=$1 path folder found
	shift
	while read -r path; do
		found=
		for folder; do
			[ ! -e "$folder/$path" ] || found=1
			[ ! -e "$folder/${path%/}.h" ] || found=1
		done
		[ -n "$found" ] || { echo "FAILED: $file names $path, which is not there"; failures=$((failures + 1)); }
	done < <(grep -oE '`[a-z0-9_]+/[A-Za-z0-9_./]*`' "$file" | tr -d '`' | sort -u)
}

places ARCHITECTURE.md .
places user/README.md user user/process .
places bpf/README.md bpf include .
for folder in user/*/; do
	name=$(basename "$folder")
	[ "$name" = preload ] || grep -qE "^\|[^|]*\`$name/\`" user/README.md || { echo "FAILED: user/README.md has no row for $name/"; failures=$((failures + 1)); }
done
[ $failures = 0 ]
