#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The hottest lines of a program that has debug information, and their text.
# usage: test_by_line.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

cat >hot.c <<'END'
static volatile double sum;

static void burn(void)
{
	for (int i = 1; i < 100000; i++)
		sum += 1.0 / i; /* hot */
}

int main(void)
{
	for (;;)
		burn();
}
END
touch -d '1 hour ago' hot.c
chmod a+r hot.c
cc -g -O1 -fno-inline "$PWD/hot.c" -o hot
./hot >hot.out 2>&1 &
target=$!

echo "  a table with text, live and from a recording"
COLUMNS=120 "$pkbpf" -q -p $target -e cpu -d 1 --by-line -o - -o hot.pkbpf -o hot.json >lines.txt 2>err.txt ||
	fail "status $?: $(cat err.txt)"
grep -qE '^ *[0-9.]+% +[0-9]+ +[0-9.]+% hot.c:[56] +burn +(for \(int|sum \+= 1.0 / i; /\* hot \*/$)' lines.txt ||
	fail "no hot line: $(cat lines.txt)"
COLUMNS=120 "$pkbpf" report -q hot.pkbpf --by-line >again.txt 2>err.txt || fail "status $?: $(cat err.txt)"
cmp lines.txt again.txt || fail "the recording differs: $(diff lines.txt again.txt)"
python3 - <<'END' || fail "no lines in JSON"
import json
lines = json.load(open("hot.json"))["hottest_lines"]["cpu"]
hot = [line for line in lines if line["file"].endswith("/hot.c") and line["line"] in (5, 6)]
assert sum(line["self_percent"] for line in hot) > 90, lines
assert any("sum += 1.0 / i" in line.get("text", "") or "for (int" in line.get("text", "") for line in hot), hot
END

echo "  what was written since is not shown"
echo "/* other text */" >hot.c
"$pkbpf" report -q hot.pkbpf --by-line >changed.txt 2>err.txt || fail "status $?: $(cat err.txt)"
grep -q 'hot.c:[56]' changed.txt || fail "no line: $(cat changed.txt)"
! grep -qE 'other|sum \+=' changed.txt || fail "text of another file: $(cat changed.txt)"
kill "$target"
wait "$target" 2>/dev/null
conclude
