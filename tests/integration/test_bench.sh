#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# alone: it compares times
# pkbpf bench: the order of its seed, counts, formats, exit statuses, baselines, a command twice as slow. Nothing here
# depends on how busy the machine is.
# usage: test_bench.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
# shellcheck source=cli_checks.sh
. "$here/cli_checks.sh"

begin "a command that takes longer, in all formats"
run 3 bench --seed 7 --runs 8 --fail-if-slower 5% -o b.json -o b.csv -o b.md -o b.xml -o b.hyperfine.json -o b.txt \
	--save-baseline base.json 'sleep 0.1' 'sleep 0.8'
grep -q -- "--fail-if-slower: wall of sleep 0.8: slower" err || fail "$(cat err)"
grep -q "2 against 1: slower" b.txt || fail "$(cat b.txt)"
checker - "$here/../../user/bench/bench.schema.json" <<'P'
import csv, json, sys, xml.etree.ElementTree as tree
from checks import check, end, not_checked
document = json.load(open("b.json"))
try:
    import jsonschema
    jsonschema.validate(document, json.load(open(sys.argv[1])))
except ImportError:
    not_checked("the schema: no jsonschema")
runs = document["runs"]
check(len(runs) == 18, f"8 runs and a warm-up of each: {len(runs)}")
for first in range(0, 18, 2):
    check({r["variant"] for r in runs[first : first + 2]} == {0, 1}, f"round {first // 2} has both")
check(len({(runs[i]["variant"], runs[i + 1]["variant"]) for i in range(0, 18, 2)}) == 2, "rounds differ in order")
wall = document["comparisons"][0]["figures"]["wall_ns"]
check(wall["verdict"] == "slower" and wall["probability"] < 0.01, f"eight times as long: {wall}")
check("sleep" in document["comparisons"][0]["text"], f"it sleeps longer: {document['comparisons'][0]}")
check(document["has_account"], "there is an account of waits")
for r in runs:
    f = r["figures"]
    check(f["processes"] == 1 and f["minor_faults"] > 50, f"one process: {f}")
    # The time may be over before it is off its CPU.
    check(f["sleep_ns"] + f["runqueue_ns"] >= 95e6, f"it slept: {f}")
# One thread: its parts are its life, which begins a little before the program does, without what the host takes.
parts = [sum(r["figures"][k + "_ns"] for k in ("cpu", "runqueue", "sleep", "disk", "uninterruptible", "stopped")) / r["figures"]["wall_ns"]
         for r in runs]
check(0.9 < sorted(parts)[9] < 1.02, f"parts add up to wall time: {sorted(parts)}")
rows = list(csv.DictReader(open("b.csv")))
check([int(r["variant"]) - 1 for r in rows] == [r["variant"] for r in runs], "CSV has the same order")
suite = tree.parse("b.xml").getroot()
check(suite.get("failures") == "1" and suite.find("testcase/failure") is not None, "junit has a failure")
results = json.load(open("b.hyperfine.json"))["results"]
check([len(r["times"]) for r in results] == [8, 8], "hyperfine's layout has 8 times each")
check(open("b.md").readline().count("**slower") == 1, "Markdown begins with the verdict")
end()
P

begin "the seed determines the order"
for file in again other; do
	seed=7
	[ $file = other ] && seed=8
	run 0 bench --seed $seed --runs 8 --bare -o $file.json true false -i
done
order() {
	python3 -c 'import json, sys; print([r["variant"] for r in json.load(open(sys.argv[1]))["runs"]])' "$1"
}
[ "$(order b.json)" = "$(order again.json)" ] || fail "the same seed gave another order"
[ "$(order b.json)" != "$(order other.json)" ] || fail "another seed gave the same order"

begin "a baseline"
sed 's/"command": "sleep 0.1"/"command": "sleep 1"/' base.json >faster.json
run 3 bench --bare --runs 4 --baseline faster.json --fail-if-slower 50% 'sleep 1' 'sleep 0.01'
grep -q "faster.json does not have 'sleep 0.01'" err || fail "what has no base is not reported: $(cat err)"
run 0 bench --bare --runs 6 --baseline base.json --fail-if-slower 200% -- sleep 0.1
sed 's/"value": "[^"]*"/"value": "another"/' base.json >foreign.json
run 4 bench --bare --baseline foreign.json -- sleep 0.1
grep -q "another machine" err || fail "$(cat err)"
run 1 bench --bare --baseline b.csv -- true
run 4 bench --bare --baseline base.json --strict-environment --drop-caches -- sleep 0.1
grep -q "page_cache: kept, now dropped" err || fail "$(cat err)"
run 2 bench --bare --strict-environment -- true

begin "caches are cold before each run"
head -c 4M /dev/zero >data
sync data
if "$pkbpf" bench -q --bare --runs 2 --warmup 0 --drop-caches -o cold.json -- cat data 2>err >/dev/null; then
	faults() { grep -o '"major_faults": [0-9]*' "$1" | awk '{ sum += $2 } END { print sum + 0 }'; }
	run 0 bench --bare --runs 2 --warmup 1 -o warm.json -- cat data
	# Pages of the program itself are read again, where files are on a disk.
	[ "$(stat -f -c %T /bin/cat)" = overlayfs ] || [ "$(faults cold.json)" -gt "$(faults warm.json)" ] ||
		fail "no page was read again: $(faults cold.json), $(faults warm.json)"
else
	grep -q "drop_caches" err || fail "$(cat err)"
	not_checked "$(cat err)"
fi

begin "a matrix, and commands around the runs"
run 0 bench --bare --runs 2 --warmup 0 --matrix t=0.01,0.02 --matrix n=1,2 --setup 'echo s{t} >>log' --prepare 'echo p >>log' \
	--conclude 'echo c >>log' -o m.json -- sleep '{t}' '0.00{n}'
[ "$(sort log | uniq -c | xargs)" = "8 c 8 p 2 s0.01 2 s0.02" ] || fail "the log has $(sort log | uniq -c | xargs)"
checker - <<'P'
import json
from checks import check, end
commands = [v["command"] for v in json.load(open("m.json"))["variants"]]
check(commands == [f"sleep {t} 0.00{n}" for t in ("0.01", "0.02") for n in (1, 2)], f"all combinations: {commands}")
end()
P

begin "the function that makes the difference is named"
run 0 bench --runs 2 --warmup 0 --explain --prepare 'echo p >>around' --conclude 'echo c >>around' -o e.txt -o e.svg \
	"$workloads/slowed 30 60" "$workloads/slowed 90 60"
# Also around the runs that are profiled.
[ "$(grep -c p around)" -gt 4 ] && [ "$(grep -c p around)" = "$(grep -c c around)" ] || fail "around the runs: $(sort around | uniq -c | xargs)"
grep -qE "^ self +parse_request .*\+[0-9.]+ % " e.txt || fail "parse_request is not reported: $(cat e.txt)"
! grep -qE "^ self +look_up " e.txt || fail "look_up is reported, which is the same: $(cat e.txt)"
grep -q "<svg" e.svg || fail "no flame graph"

begin "a region that programs mark is compared call by call"
run 0 bench -i --runs 2 --unit region:compute -o u.json "$workloads/regions nest 6" "$workloads/regions nest 12"
checker - <<'P'
import json
from checks import check, end
document = json.load(open("u.json"))
calls = {(r["variant"], r["figures"].get("units")) for r in document["runs"] if not r["is_warmup"]}
check(calls == {(0, 6), (1, 12)}, f"calls of each variant: {calls}")
check(all(r["figures"]["unit_ns"] >= 2e6 for r in document["runs"] if not r["is_warmup"]), "each computes for 2 ms")
check(document["comparisons"][0]["decided_by"] == "unit", "the region decides")
end()
P

begin "what goes wrong"
run 127 bench --bare -- no_such_command
echo text >not_executable
run 126 bench --bare -- ./not_executable
run 1 bench --bare -- false
run 0 bench --bare -i --runs 2 -- false
run 1 bench --bare --timeout 100ms -- sleep 60
run 2 bench
run 2 bench --matrix x=1,2 -- true
run 2 bench -f junit true true
run 2 bench -f svg true true
run 2 bench --unit function:x -- true
run 2 bench --fail-if-slower 5% -- true
run 2 bench --runs 5 --precision 2% -- true
run 0 bench --runs 2 -o left.json "sh -c 'sleep 3 & exit 0'"
grep -q '"left_behind": 1' left.json || fail "a process left behind was not seen"

begin "limits"
run 3 bench --bare --runs 6 --fail-if 'wall>10ms' --fail-if 'wall.max<1h' -o l.xml -- sleep 0.02
[ "$(grep -c "<failure" l.xml)" = 2 ] || fail "$(cat l.xml)"
run 0 bench --bare --runs 6 --fail-if 'wall>1m' --fail-if 'peak_rss.max>10G' -- sleep 0.02
run 4 bench --bare --runs 6 --fail-if 'wall.p99>1s' -- sleep 0.02
run 2 bench --fail-if 'wall.p50>1s' -- true
run 2 bench --fail-if 'wall>fast' -- true

begin "stopping keeps the runs there are"
: >count
"$pkbpf" bench --runs 1000 --prepare 'echo >>count' -o stopped.json -- sleep 0.05 2>err &
bench=$!
has_runs() { [ "$(wc -l <count)" -ge 4 ]; }
wait_until 60 has_runs || fail "it does not begin: $(cat err)"
kill -INT $bench
wait $bench
grep -q '"interrupted": true' stopped.json || fail "$(cat err)"

begin "an outlier that was stopped is explained"
: >count
# The fourth one stops itself, until somebody sees it.
cat >stops.sh <<'END'
echo $$ >victim
[ "$(wc -l <count)" != 4 ] || kill -STOP $$
exec sleep 0.1
END
is_stopped() { grep -q '^State:.*T' "/proc/$(cat victim)/status"; }
(wait_until 60 is_stopped && sleep 2 && kill -CONT "$(cat victim)") 2>/dev/null &
run 0 bench --runs 7 --warmup 0 --prepare 'echo >>count' -o o.json -- sh stops.sh
wait
checker - <<'P'
import json
from checks import check, end
document = json.load(open("o.json"))
slowest = max(range(7), key=lambda i: document["runs"][i]["figures"]["wall_ns"])
named = [o for o in document["outliers"] if o["run"] == slowest]
check(named and named[0]["causes"][0]["figure"] == "stopped", f"run {slowest} was stopped: {document['outliers']}")
end()
P

begin "without root, and bare"
run 0 bench --bare --runs 3 -o bare.json -- sleep 0.02
grep -q '"has_account": false' bare.json || fail "bare has an account"
chmod 777 . && cp "$pkbpf" ./pkbpf
if runuser -u nobody -- ./pkbpf bench --runs 3 -o nobody.json -- sleep 0.02 2>err; then
	grep -q '"without_account"' nobody.json || fail "it does not say what is missing"
	grep -q '"runqueue_ns"' nobody.json || fail "the run queue of one thread is not known"
else
	fail "bench needs root: $(cat err)"
fi
conclude
