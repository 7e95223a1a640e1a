#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Regions in programs of many kinds, which do what they did before: languages, threads, exceptions, running ones, short ones.
# usage: test_region_programs.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
evidence=(said)

marker=$here/../../include/python
target=
cleanup() {
	[ -n "$target" ] && kill "$target" 2>/dev/null
}

# same_output NAME COMMAND…: as without pkbpf, with its exit status; its regions are in NAME.json
same_output() {
	local name=$1 expected status
	shift
	"$@" >alone 2>&1
	expected=$?
	"$pkbpf" -q -e offcpu --regions -o "$name.json" -o "$name.pkbpf" -- "$@" >watched 2>said
	status=$?
	[ $status = $expected ] || fail "$name: status $status, alone $expected: $(tail -n 3 said)"
	diff <(grep -v '^wall' alone) <(grep -v '^wall' watched) >difference || fail "$name says something else: $(head -n 5 difference)"
}

begin "resident memory when regions begin and end"
# The kernel adds pages to its sum in batches of a CPU, which moves with the thread.
"$pkbpf" -q --regions -o memory.json -o memory.pkbpf -- "$workloads/regions" memory 20 >said 2>&1
"$pkbpf" report -q memory.pkbpf -f text -o /dev/null --fail-if 'region[grow].rss_growth>70M' >said 2>&1
status=$?
[ $status = 3 ] || fail "status $status: $(tail -n 3 said)"
checker "$here/regions_check.py" memory memory.json 20

begin "garbage collection, imports and names of threads of Python, when they are asked for"
# A shim would become the interpreter unseen.
python=$(python3 -c 'import sys; print(sys.executable)')
"$pkbpf" -q --regions --by thread -o asked.json -- "$python" "$here/regions_asked.py" "$marker" asked >said 2>&1 || fail "status $?: $(cat said)"
"$pkbpf" -q --regions --by thread -o unasked.json -- "$python" "$here/regions_asked.py" "$marker" >said 2>&1 || fail "status $?: $(cat said)"
checker - <<-'CHECK'
	import json
	from checks import check
	def read(path):
	    with open(path, encoding="utf-8") as file:
	        report = json.load(file)
	    return {region["name"]: region["count"] for region in report.get("regions_by_name", [])}, {row["comm"] for row in report["rows"]}
	regions, names = read("asked.json")
	# The end of the interpreter collects, too.
	check(7 <= regions.get("gc generation 2", 0) <= 9, f"seven collections: {regions}")
	check(regions.get("import wave") == 1, "a module is imported once")
	check({"early", "loader-1", "a-long-n~ker-12", "aaaaaaa~bbbbb"} <= names, f"threads have their names: {names}")
	regions, names = read("unasked.json")
	check(not regions, f"no regions without being asked: {regions}")
	check("loader-1" not in names, f"no names without being asked: {names}")
CHECK

begin "the slowest ones, also in a recording"
"$pkbpf" -q -e offcpu --slow-region 4ms --top 5 -o slow.json -o slow.pkbpf -o slow.txt -- "$workloads/regions" nest 20 >said 2>&1
checker "$here/regions_check.py" slow slow.json 4 main step
"$pkbpf" report -q --top 5 slow.pkbpf -o slow2.json >said 2>&1 || fail "status $?: $(cat said)"
checker "$here/regions_check.py" slow slow2.json 4 main step
grep -q "^ *1 .*step .* ms" slow.txt || fail "the report does not have them: $(cat slow.txt)"

begin "stacks begin with the regions they are in"
"$pkbpf" -q -e cpu,offcpu -F 499 --by region -o frames.folded -o frames.pb.gz -o frames.json -- "$workloads/regions" nest 40 >said 2>&1
checker "$here/regions_check.py" rows frames.json
for pair in 'cpu:;[[]step];[[]compute];.*main:1' 'offcpu:;[[]step];[[]wait];.*main.*sleep:118000'; do
	IFS=: read -r kind pattern least <<<"$pair"
	[ "$(total "$pattern" "frames.$kind.folded")" -ge "$least" ] || fail "$kind: too little of $pattern"
done
[ "$(total ';[[]wait];.*compute' frames.cpu.folded)" = 0 ] || fail "computing in the wrong region"
# The innermost one is a label: a number of samples of each region, as in the folded stacks.
if command -v protoc >/dev/null; then
	gzip -dc frames.cpu.pb.gz >frames.pb
	protoc --proto_path="$here" --decode=shape.Profile profile_shape.proto <frames.pb >shown
	checker - <<-'CHECK'
	import re
	from checks import check
	shown = open("shown").read()
	strings = re.findall(r'^string_table: "(.*)"$', shown, re.M)
	samples = re.findall(r"^sample \{\n(.*?)^\}", shown, re.M | re.S)
	labels = {}
	for sample in samples:
	    for label in re.findall(r"^  label \{\n(.*?)^  \}", sample, re.M | re.S):
	        key, text = (re.search(rf"^    {name}: (\d+)", label, re.M) for name in ("key", "str"))
	        if key and text and strings[int(key[1])] == "region":
	            number = int(re.search(r"^  value: (\d+)", sample, re.M)[1])
	            labels[strings[int(text[1])]] = labels.get(strings[int(text[1])], 0) + number
	folded = {}
	for line in open("frames.cpu.folded"):
	    regions = re.findall(r";\[(\w+)\](?=;)", line)
	    if regions:
	        folded[regions[-1]] = folded.get(regions[-1], 0) + int(line.split()[-1])
	check(labels and labels == folded, f"pprof has {labels}, folded stacks have {folded}")
	CHECK
else
	not_checked "labels of pprof: protoc is not here"
fi

begin "200 threads"
same_output storm "$workloads/regions" storm 200 100
checker "$here/regions_check.py" counts storm.json outer=20000 middle=20000 inner=20000

begin "longjmp, ends of threads, fork, coroutines, signals and depth"
same_output odd "$workloads/regions" odd 50
checker "$here/regions_check.py" counts odd.json around_jump=50 jumped=0+200 around_deep_jump=50 deep_jumped=0+1550 ends_inside=0+5 forks=3 in_child=3 coroutine=98 \
	handler=50 interrupted=50 deep=32 afterwards=50

begin "C++ exceptions"
if g++ -O2 -pthread -I"$here/../../include" -o exceptions "$here/region_exceptions.cpp" 2>said; then
	same_output exceptions ./exceptions
	checker "$here/regions_check.py" counts exceptions.json try=4000 thrower=16000
else
	not_checked "no g++: $(head -n 1 said)"
fi

begin "Python: with, decorators, exceptions, asyncio, threads"
# Behind a shim of shells it is seen when it runs already.
same_output python "$(python3 -c 'import sys; print(sys.executable)')" "$here/regions.py" "$marker"
checker "$here/regions_check.py" counts python.json step=300 load=300 predict=300 raises=300 request=50 answer=50

begin "processes that run already, again and again"
python3 "$here/regions.py" "$marker" 600 >ready &
target=$!
wait_until 60 grep -q ready ready || fail "it does not begin"
for ((i = 0; i < 3; i++)); do
	record -p "$target" -d 1 -e offcpu --regions -o "live$i.json" &&
		checker "$here/regions_check.py" seen "live$i.json" step load predict raises
done
kill -0 "$target" || fail "the process has ended"

begin "a program that ends before it is seen, and one whose file was copied up in its overlay"
cp "$workloads/regions" brief
"$pkbpf" --progress never -e offcpu --regions -o brief.json -- sh -c './brief nest 1; ./brief nest 1' >/dev/null 2>said
grep -q '/brief was mapped during the recording: .* were missed' said || fail "no word of a program that was seen too late"
overlay=$(mktemp -d /dev/shm/pkbpf.XXXXXX)
mkdir "$overlay"/{lower,upper,work,merged} && cp "$workloads/regions" "$overlay/lower/copied"
if mount -t overlay none -o "lowerdir=$overlay/lower,upperdir=$overlay/upper,workdir=$overlay/work" "$overlay/merged" 2>said; then
	"$overlay/merged/copied" nest 40000 >/dev/null &
	upper=$!
	runs $upper copied
	"$pkbpf" -d 0.1 -p $upper -e offcpu --regions -o lower.json --progress never 2>said
	! grep copied said || fail "a word about a file that is as it was"
	touch "$overlay/merged/copied"
	"$pkbpf" -d 0.1 -p $upper -e offcpu --regions -o upper.json --progress never 2>said
	grep -q "/copied, in an overlay, has changed since process $upper started" said || fail "no word about a file that was copied up"
	kill $upper
	wait $upper 2>/dev/null
	umount "$overlay/merged"
else
	not_checked "no overlay: $(head -n 1 said)"
fi
rm -rf "$overlay"

begin "nothing without --regions"
record -d 1 -p "$target" -e offcpu -o off.json && ! grep -q '"regions"' off.json || fail "regions without --regions"
conclude
