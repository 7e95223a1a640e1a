#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# alone: it compares clocks
# Regions that programs mark: exact counts, and parts that add up to times by the clocks of the program.
# usage: test_regions.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
evidence=(said)

begin "nested regions are counted, and their parts add up to the wall time"
"$pkbpf" -q -e offcpu --regions -o nest.json -o nest.pkbpf -- "$workloads/regions" nest 40 >watched 2>said
status=$?
# The program's own.
[ $status = 5 ] || fail "status $status: $(cat said)"
checker "$here/regions_check.py" nest nest.json 40 "$(sed -n 's/^wall //p' watched)"

begin "each part is as long as by the program's own clocks"
# A hypervisor may take a CPU away between a wake-up and the switch that it asks for. The kernel counts that as time in the run
# queue, from the moment of the wake-up. What is wrong in pkbpf is wrong each time.
same_clocks() {
	local stolen
	stolen=$(stolen_us)
	"$pkbpf" -q -e offcpu --regions -o clocks.json -- "$workloads/regions" clocks 60 >watched 2>said
	PYTHONPATH=$here python3 "$here/regions_check.py" clocks clocks.json "$(cat watched) stolen $((($(stolen_us) - stolen) * 1000))"
}
same_clocks || same_clocks || same_clocks || fail "three times"

begin "conditions on regions"
for expression in 'region[wait].p99>1ms=3' 'region[wait].count<40=0' 'region[compute].throughput<100k/s=3' 'region[none].p99>1s=1' \
	'?region[none].p99>1s=0'; do
	"$pkbpf" report -q nest.pkbpf -f text -o /dev/null --fail-if "${expression%=*}" >said 2>&1
	status=$?
	[ $status = "${expression##*=}" ] || fail "$expression: status $status"
done

begin "a recording has the same regions"
"$pkbpf" report -q nest.pkbpf -o again.json >said 2>&1 || fail "status $?: $(cat said)"
checker "$here/regions_check.py" equal nest.json again.json

begin "a table of CSV has them as JSON has"
"$pkbpf" report -q nest.pkbpf -o nest.regions.csv >said 2>&1 || fail "status $?: $(cat said)"
checker - <<-'CHECK'
	import csv, json
	from checks import check
	with open("nest.json", encoding="utf-8") as file:
	    regions = json.load(file)["regions"]
	with open("nest.regions.csv", newline="", encoding="utf-8") as file:
	    rows = list(csv.DictReader(file, strict=True))
	keys = ("count", "wall_ns", "self_ns", "on_cpu_ns", "sleep_ns", "p50_ns", "p99_ns", "max_ns", "depth", "pid")
	check(len(rows) == len(regions) > 2, f"{len(rows)} records, {len(regions)} regions")
	for row, region in zip(rows, regions):
	    check(row["region"] == region["name"] and all(int(row[key]) == region[key] for key in keys) and
	          row["parent"] == str(region.get("parent", "")), f"{row['region']} is the same")
CHECK

begin "more processes than the table has room for"
# shellcheck disable=SC2016 # the inner shell expands
"$pkbpf" -q -e offcpu --regions -o many.json -- bash -c 'for ((i = 0; i < 900; i++)); do "$0" storm 1 1; sleep 0.003; done >/dev/null' \
	"$workloads/regions" >said 2>&1 || fail "status $?"
# The first ones have ended before their file is looked at.
checker "$here/regions_check.py" many many.json 800 outer middle inner

conclude
