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

echo "  tables of CSV have the same lines and functions"
"$pkbpf" report -q hot.pkbpf -o hot.lines.csv -o hot.functions.csv -o hot.folded >said 2>&1 || fail "status $?: $(cat said)"
checker - "$(total . hot.folded)" <<'END'
import csv, json, sys
from checks import check
def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, strict=True))
with open("hot.json", encoding="utf-8") as file:
    lines = json.load(file)["hottest_lines"]["cpu"]
table = read("hot.lines.csv")
same = [(line["file"], str(line["line"]), str(line["self"]), str(line["total"]), line.get("text", "")) for line in lines]
check([(row["file"], row["line"], row["self"], row["total"], row["text"]) for row in table[:len(same)]] == same,
      f"{len(same)} lines as in JSON")
functions = read("hot.functions.csv")
check(sum(int(row["self"]) for row in functions) == int(sys.argv[1]), f"functions have {sys.argv[1]} samples, as folded stacks")
check(functions[0]["function"] == "burn" and functions[0]["module"] == "hot", f"the first one: {functions[0]}")
END
"$pkbpf" -q -e cpu -o live.lines.csv -p $target -d 0.5 >said 2>&1 || fail "status $?: $(cat said)"
grep -q '^cpu,.*/hot.c,[56],burn,count,' live.lines.csv || fail "lines are not looked up for a file of lines: $(head -n 3 live.lines.csv)"

echo "  a table of lines without any says why"
"$pkbpf" -e cpu -o bare.pkbpf -p $target -d 0.3 >said 2>&1 || fail "status $?: $(cat said)"
"$pkbpf" report bare.pkbpf -o bare.lines.csv -o bare.functions.csv >said 2>&1 || fail "status $?: $(cat said)"
[ "$(wc -l <bare.lines.csv)" = 1 ] || fail "lines without --lines: $(head -n 3 bare.lines.csv)"
[ "$(grep -c '^pkbpf: bare.lines.csv: No source line is known' said)" = 1 ] || fail "nothing says why there are no lines: $(cat said)"

echo "  what was written since is not shown"
echo "/* other text */" >hot.c
"$pkbpf" report -q hot.pkbpf --by-line >changed.txt 2>err.txt || fail "status $?: $(cat err.txt)"
grep -q 'hot.c:[56]' changed.txt || fail "no line: $(cat changed.txt)"
! grep -qE 'other|sum \+=' changed.txt || fail "text of another file: $(cat changed.txt)"
kill "$target"
wait "$target" 2>/dev/null

# A program that says that its code came from this file, and runs for some seconds.
python=$(for each in /usr/bin/python3 /usr/local/bin/python3; do [ -x $each ] && echo $each && break; done)
[ "$(id -u)" = 0 ] && [ "$python" ] && command -v setpriv unshare >/dev/null || {
	not_checked "sources of other users and other roots"
	conclude
}
cat >claims.py <<'END'
import sys, time
code = compile("\nf = lambda end: all(time.process_time() < end for _ in iter(int, 1))\n", sys.argv[1], "exec")
names = {"time": time}
exec(code, names)
names["f"](float(sys.argv[2]))
END
chmod 755 "$work"
mkdir -m 700 closed
mkdir -m 755 open
for folder in closed open; do
	printf 'one\nline of %s\n' $folder >$folder/file.py
	chmod 644 $folder/file.py
	touch -d '1 day ago' $folder/file.py
done

echo "  a file in a folder that the process may not search is not shown"
for folder in open closed; do
	setpriv --reuid 61234 --regid 61234 --clear-groups "$python" claims.py "$work/$folder/file.py" 600 &
	target=$!
	uses $target 200 || fail "the program does not start"
	"$pkbpf" -q -e cpu -p $target -d 1 --by-line -o $folder.txt -o $folder.json </dev/null 2>err.txt || fail "status $?: $(cat err.txt)"
	kill "$target"
	wait "$target" 2>/dev/null
done
grep -q 'line of open' open.txt || fail "a file that it may read is not shown: $(cat open.txt)"
! grep -q 'line of closed' closed.txt closed.json || fail "a file is shown that it may not read"

echo "  of a process that has ended only files of the same root are shown"
"$pkbpf" -q -e cpu --by-line -o ended.txt -- "$python" claims.py "$work/open/file.py" 1 </dev/null 2>err.txt || fail "status $?: $(cat err.txt)"
grep -q 'line of open' ended.txt || fail "no line of a command that has ended: $(cat ended.txt)"
unshare -m bash -c "mount --make-rprivate / && mount -t tmpfs none open && printf 'one\nline of another\n' >open/file.py &&
	exec '$python' claims.py '$work/open/file.py' 600" &
target=$!
uses $target 200 || fail "the program does not start"
rm -f err.txt
"$pkbpf" -v -e cpu -p $target -d 100 --by-line -o other.txt </dev/null 2>err.txt &
profiler=$!
wait_until 60 profiling err.txt && uses $target 500 || fail "no profile: $(cat err.txt)"
kill $target
wait $profiler || fail "status $?: $(cat err.txt)"
grep -q 'file.py:2' other.txt || fail "the other root's process has no line: $(cat other.txt)"
! grep -q 'line of open' other.txt || fail "a file of our root is shown for that of another: $(cat other.txt)"
conclude
