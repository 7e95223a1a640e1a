#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The report without options is a page: short, as wide as the terminal, sorted by a column that it shows.
# usage: test_page.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

"$workloads/spin" 600 &
target=$!

# fits FILE LINES COLUMNS
fits() {
	[ "$(wc -l <"$1")" -le "$2" ] || fail "$1 has $(wc -l <"$1") lines"
	awk -v most="$3" 'length > most { print; wide = 1 } END { exit wide }' "$1" || fail "$1 is wider than $3 columns"
}

echo "  a process: at most 40 lines, and where it spends its time"
for columns in 80 160; do
	COLUMNS=$columns "$pkbpf" -q -p $target -d 1 >page.txt 2>err.txt || fail "status $?: $(cat err.txt)"
	fits page.txt 40 "$columns"
	grep -q '^ *[0-9.]*%  .*spin_here' page.txt || fail "no spin_here at $columns columns: $(cat page.txt)"
	grep -qE "^ *$target spin" page.txt || fail "no row at $columns columns: $(cat page.txt)"
	python3 "$here/page_figures.py" page.txt || fail "figures differ at $columns columns"
done

echo "  a call tree, live and from a recording"
COLUMNS=80 "$pkbpf" -q -p $target -d 1 --tree -o - -o tree.pkbpf >tree.txt 2>err.txt || fail "status $?: $(cat err.txt)"
fits tree.txt 200 80
grep -qE '^CPU: call tree of [0-9]+ samples$' tree.txt || fail "no tree: $(cat tree.txt)"
# On one line with its process, or below it where something else was seen once.
grep -qE '^ *[0-9.]+% +[0-9]+ +[0-9.]+%  (spin: .*|  )spin_here' tree.txt || fail "no path to spin_here: $(cat tree.txt)"
COLUMNS=80 "$pkbpf" report -q tree.pkbpf --tree >again.txt 2>err.txt || fail "status $?: $(cat err.txt)"
cmp tree.txt again.txt || fail "the tree of the recording differs: $(diff tree.txt again.txt)"

echo "  the host: at most 60 lines"
COLUMNS=100 "$pkbpf" -q -d 1 --sort rss >host.txt 2>err.txt || fail "status $?: $(cat err.txt)"
fits host.txt 60 100
grep -q '^Processes, sorted by RSS$' host.txt || fail "not sorted by RSS: $(cat host.txt)"

echo "  the rest is behind --full"
"$pkbpf" -q -p $target -d 1 --full >full.txt 2>err.txt || fail "status $?: $(cat err.txt)"
grep -q '^CPU: hottest functions by self$' full.txt || fail "no functions with --full"

echo "  a column that does not exist is refused with those that do"
"$pkbpf" --sort nothing -d 1 2>err.txt
[ $? = 2 ] && grep -q "invalid value 'nothing' for --sort: expected active, %CPU, user" err.txt || fail "$(cat err.txt)"
kill "$target"
wait "$target" 2>/dev/null
conclude
