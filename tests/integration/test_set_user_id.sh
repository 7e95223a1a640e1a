#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# A program that runs as another user than who started it: the kernel announces its exit as it begins.
# usage: test_set_user_id.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
others=
cleanup() { [ -z "$others" ] || kill "$others" 2>/dev/null; }
chmod 755 .
cat >set_user_id.c <<'C'
#include <time.h>
volatile unsigned int sum;
__attribute__((noinline)) void work(void)
{
	for (unsigned int i = 0; i < 1000; i++)
		sum += i;
}
int main(void)
{
	while (clock() < CLOCKS_PER_SEC)
		work();
	return 0;
}
C
gcc -O2 set_user_id.c -o set_user_id && chown nobody set_user_id && chmod 4755 set_user_id || exit 1
if findmnt -nT . -o OPTIONS | grep -qw nosuid; then
	skip "/tmp is mounted nosuid"
fi

# What others do tells that time has passed since the announcement.
while :; do
	/bin/true
done &
others=$!
record -e cpu -F 999 -o stacks.folded -o report.json -- ./set_user_id || exit 1
checker - <<'P'
import checks
import folded

named = total = 0
for frames, count in folded.read("stacks.folded"):
    total += count
    named += count if "main" in frames and "set_user_id" == frames[0] else 0
rows = [row for row in checks.read_report("report.json")["rows"] if row["comm"] == "set_user_id"]
checks.check(total >= 100 and named >= 0.97 * total and len(rows) == 1,
             f"{named} of {total} samples below main(), in {len(rows)} row")
P
conclude
