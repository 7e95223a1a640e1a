#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pkbpf diff of recordings of a program, and of the same one with a slower function: what is the same is not reported, the
# slower function is, in all formats; conditions, pprof files, baselines.
# usage: test_diff.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
# shellcheck source=cli_checks.sh
. "$here/cli_checks.sh"

grew='cpu.function[parse_request].self>+20%'

begin "two runs of one program, and a slower one"
for run in base same; do
	record -e cpu -F 1999 --slice 100ms -o $run.pkbpf -- "$workloads/slowed" 100 300
done
record -e cpu -F 1999 --slice 100ms -o slow.pkbpf -- "$workloads/slowed" 200 300
run 0 diff base.pkbpf same.pkbpf --fail-if "$grew" --fail-if 'cpu.function[look_up].self>+20%'
[ "$(wc -l <out)" -le 40 ] || fail "more than 40 lines"
run 3 diff base.pkbpf slow.pkbpf --fail-if "$grew" --fail-if 'cpu.function[look_up].self>+50%'
grep -qE "^ self +parse_request .*\+[0-9.]+ % " out || fail "parse_request is not reported: $(cat out)"
grep -q "parse_request self" err || fail "the reason is missing"

begin "memory by place of allocation: what grew, what did not, and no news in single samples"
# A shim would be another process with memory of its own.
python=$(python3 -c 'import sys; print(sys.executable)')
cat >hold.py <<-'PROGRAM'
	import sys
	def cache(count): return list(map(bytearray, [1 << 20] * count))
	def table(count): return list(map(bytearray, [200000] * count))
	kept = cache(int(sys.argv[1])), table(60)
PROGRAM
for count in 20 60; do
	# A process that ends later has places in a later slice.
	# shellcheck disable=SC2016 # the inner shell expands
	"$pkbpf" -q --alloc -e alloc,live --slice 200ms -o "hold$count.pkbpf" -- \
		sh -c '"$0" hold.py "$1"; "$0" -c "import time; x = [bytearray(3000) for _ in range(500)]; time.sleep(0.5)"' "$python" "$count" >said 2>&1 \
		|| fail "status $?: $(cat said)"
done
"$pkbpf" diff -q hold20.pkbpf hold60.pkbpf -o hold.json -o hold.txt --fail-if 'live.place[cache (hold.py)]>+100%' \
	--fail-if 'live.place[table (hold.py)]>+20%' >said 2>&1
status=$?
[ $status = 3 ] || fail "status $status: $(cat said)"
checker - <<-'CHECK'
	import json
	from checks import check
	with open("hold.json", encoding="utf-8") as file:
	    report = json.load(file)
	places = {row["name"]: row for row in report["rows"] if row["level"] == "place"}
	cache, table = places["cache (hold.py)"], places["table (hold.py)"]
	check(cache["verdict"] == "grew" and 1.8 < cache["ratio"] < 2.2, f"three times as much: {cache['ratio']:+.2f}")
	check(cache["ratio_low"] < cache["ratio"] < cache["ratio_high"], "with an interval")
	check(table["verdict"] == "same", f"{table['verdict']}: {table['change']:+.0f} bytes")
	news = [name for name, row in places.items() if row["verdict"] in ("appeared", "vanished")]
	check(not news, f"nothing else is news: {news}")
	check([c["outcome"] for c in report["conditions"]] == ["failed", "passed"], "conditions on places")
	check(not [row for row in report["rows"] if row["kind"] == "live" and row["level"].startswith("function")], "no live functions beside them")
CHECK
grep -q 'at peak *cache (hold.py)' hold.txt || fail "the text does not have it: $(cat hold.txt)"

begin "what cannot be checked is refused"
run 1 diff base.pkbpf slow.pkbpf --fail-if 'cpu.function[parse_requests].self>+20%'
grep -q "did you mean parse_request?" err || fail "$(cat err)"
run 2 diff base.pkbpf --fail-if "$grew"
run 2 diff base.pkbpf slow.pkbpf --fail-if 'cpu.function[parse_request]>+20%'
run 2 diff base.pkbpf slow.pkbpf -f junit
run 0 report -q base.pkbpf -o base.json -o base.pb.gz
run 0 report -q slow.pkbpf -o slow.json
run 0 diff base.json slow.json
grep -qE "^ process +slowed .*\+[0-9]+" out || fail "the process is not compared: $(cat out)"
run 0 diff base.json slow.pkbpf
head -c 300 base.json >cut.json
run 1 diff cut.json slow.json
grep -q "cut.json is no JSON, or cut off" err || fail "$(cat err)"
echo '{"tool":{"name":"other"}}' >other.json
run 1 diff other.json slow.json
grep -q "other.json is no report of pkbpf" err || fail "$(cat err)"

begin "formats"
run 3 diff base.pkbpf slow.pkbpf --fail-if "$grew" -o d.json -o d.md -o d.xml -o d.folded -o d.svg -o d.html -o d.txt
run 3 diff base.pkbpf slow.pkbpf --fail-if "$grew" -o again.json
cmp d.json again.json || fail "another result for the same files"
grep -qE '^slowed;.*;parse_request [0-9]+ [0-9]+$' d.folded || fail "folded: $(head -3 d.folded)"
# shellcheck disable=SC2016 # the marks of code in Markdown
grep -q '| self | `parse_request` |' d.md || fail "markdown: $(cat d.md)"
checker - d.json "$here/../../user/diff/diff.schema.json" <<'P'
import json, sys, xml.etree.ElementTree as tree
from checks import check, end, not_checked
document = json.load(open(sys.argv[1]))
try:
    import jsonschema
    jsonschema.validate(document, json.load(open(sys.argv[2])))
except ImportError:
    not_checked("the schema: no jsonschema")
row = next(r for r in document["rows"] if r["level"] == "function_self" and r["name"] == "parse_request")
check(row["verdict"] == "grew", f"parse_request grew: {row['verdict']}")
# One interval in twenty of 95 % misses what is true.
check(row["ratio_low"] < 1.2 and row["ratio_high"] > 0.8, f"twice the work is not near {row['ratio_low']} to {row['ratio_high']}")
suite = tree.parse("d.xml").getroot()
check(suite.get("failures") == "1" and suite.find("testcase/failure") is not None, "junit has a failure")
frames = [e.get("class") for e in tree.parse("d.svg").iter("{http://www.w3.org/2000/svg}svg")]
check(any(c and c.startswith("up") for c in frames), f"svg: a frame of {len(frames)} grew")
end()
P

begin "the page shows the sides beside each other, with one zoom"
if command -v chromium >/dev/null && command -v chromedriver >/dev/null; then
	checker "$here/diff_browser_check.py" "$work/d.html" parse_request
else
	not_checked "chromium is not here"
fi

begin "pprof files and baselines"
run 0 diff base.pb.gz base.pb.gz
grep -q "Noise is not known" out || fail "noise of one value is judged: $(cat out)"
run 0 diff --save-baseline runs base.pkbpf
run 0 diff --save-baseline runs same.pkbpf
grep -q "runs holds 2 runs" err || fail "$(cat err)"
run 0 diff --baseline runs same.pkbpf
grep -q "of 2 runs" out || fail "$(cat out)"
head -c 300 runs >cut_off
run 1 diff --baseline cut_off same.pkbpf

begin "regions: a slower one, in recordings, reports and baselines"
cat >steps.c <<'END'
#include <pkbpf/pkbpf.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **arguments)
{
	for (int i = 0; i < 200; i++) {
		PKBPF_REGION("step");
		usleep((unsigned int)atoi(arguments[1]));
	}
	return 0;
}
END
cc -O1 -I"$here/../../include" steps.c -o steps
for run in 1 2; do
	record -e offcpu --regions --slice 100ms -o steps$run.pkbpf -o steps$run.json -- ./steps 3000
	record -e offcpu --regions --slice 100ms -o slower$run.pkbpf -o slower$run.json -- ./steps 20000
done
# Of two runs a side, a busy machine's scatter may leave nothing to tell: verdicts are those of one.
run 3 diff steps1.pkbpf slower1.pkbpf \
	--fail-if 'region[step].mean>+50%' --fail-if 'region[step].p50>+50%'
[ "$(grep -c '^pkbpf: --fail-if .*: failed$' err)" = 2 ] || fail "not both fail: $(cat err)"
run 0 diff steps1.pkbpf slower1.pkbpf --base steps2.pkbpf --new slower2.pkbpf -o regions.json --fail-if 'region[step].count>+1%'
run 0 diff --save-baseline regions steps1.pkbpf
run 0 diff --save-baseline regions steps2.pkbpf
run 0 diff --baseline regions slower1.pkbpf --fail-if 'region[step].count>+1%' -o kept.json
grep -q '"region_p99"' kept.json || fail "a baseline has no distributions"
run 1 diff steps1.json slower1.json --fail-if 'region[step].mean>+50%'
grep -q "cannot be judged" err || fail "one value a side is judged: $(cat err)"
checker - regions.json steps1.json steps2.json "$here/../../user/diff/diff.schema.json" <<'P'
import json, sys
from checks import check, close, end, not_checked
document, *reports = [json.load(open(path)) for path in sys.argv[1:4]]
try:
    import jsonschema
    jsonschema.validate(document, json.load(open(sys.argv[4])))
except ImportError:
    not_checked("the schema: no jsonschema")
rows = {row["level"]: row for row in document["rows"] if row["level"].startswith("region_")}
regions = [report["regions_by_name"][0] for report in reports]
check(rows["region_count"]["base"]["value"] == 200 and rows["region_count"]["verdict"] == "same", "200 calls a run")
mean = sum(region["wall_ns"] for region in regions) / 400
check(close(rows["region_mean"]["base"]["value"], mean, 0.01), f"the mean is that of the reports: {mean}")
low, high = sorted(region["p50_ns"] for region in regions)
check(low * 0.93 < rows["region_p50"]["base"]["value"] < high * 1.07, f"the median is between those of the runs: {low} {high}")
end()
P

conclude
