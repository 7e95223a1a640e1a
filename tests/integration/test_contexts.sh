#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Thread contexts of OpenTelemetry: labels at samples and waits, requests one by one, lies, and what stays in the program.
# usage: test_contexts.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
evidence=(said)

contexts=$workloads/contexts
# found OPTION… -- COMMAND…: the contexts of the command begin when it has been found; its stdout is in truth
found() {
	rm -f go
	: >said
	CONTEXTS_GO=$PWD/go "$pkbpf" -v "$@" >truth 2>said &
	local pid=$! status
	wait_until 60 grep -q "publishes thread contexts" said
	: >go
	wait $pid
	status=$?
	[ $status = 0 ] || fail "pkbpf $*: status $status: $(tail -n 20 said)"
	return $status
}

# labelled NAME COMMAND…: samples by label, of which each names the function that ran
labelled() {
	local name=$1
	shift
	found -e cpu -F 999 --by label:route -o "$name.folded" -- "$@" || return
	checker "$here/contexts_check.py" labels "$name.folded"
}

begin "labels at samples, 100,000 contexts a second: variable of the program"
labelled program "$contexts" spin 0.3

begin "labels at samples: variables of libraries"
source=$here/workload/contexts.c
if cc --version >/dev/null 2>&1; then
	cc -shared -fPIC -O1 "$here/context_library.c" -o libvariable.so || fail "no library"
	cc -O1 -DLOADED "$source" -o loaded -pthread -ldl && labelled loaded ./loaded spin 0.2 ./libvariable.so
	cc -O1 -DLINKED "$source" -o linked -pthread -L. -lvariable -Wl,-rpath,"$PWD" && labelled linked ./linked spin 0.2
	if [ "$(uname -m)" = x86_64 ] &&
		cc -shared -fPIC -O1 -mtls-dialect=gnu2 "$here/context_library.c" -o libdescriptor.so 2>said; then
		labelled described ./loaded spin 0.2 ./libdescriptor.so
	fi
else
	not_checked "no C compiler"
fi
if musl-gcc --version >/dev/null 2>&1; then
	musl-gcc -shared -fPIC -O1 "$here/context_library.c" -o libmusl.so &&
		musl-gcc -O1 -DLOADED "$source" -o musl -pthread && labelled musl ./musl spin 0.2 ./libmusl.so
else
	not_checked "no musl-gcc"
fi

begin "requests: all but the first are found, and their parts add up to their time"
found -e cpu,offcpu --label route --slow-request 1us --top 500 -o requests.json -o requests.md -o requests.html -o requests.pkbpf \
	-- "$contexts" requests 120
checker "$here/contexts_check.py" requests requests.json truth
grep -q '^| `r[0-3]` | `8877665544332211[0-9a-f]*` | `contexts` |.* sleeps on its own timer in `' requests.md || fail "no row of a request in the comment"
grep -q 'function showRequests' requests.html || fail "the page has no section of requests"

begin "a recording has the same requests, and only labels of the list"
"$pkbpf" report -q requests.pkbpf -o again.json -o again.txt >said 2>&1 || fail "status $?"
checker "$here/contexts_check.py" equal requests.json again.json
grep -q "^ #1 trace 8877665544332211" again.txt || fail "no ids in the text"
grep -l never-seen requests.json requests.pkbpf again.txt && fail "a label that was not asked for"

begin "a request that does not end is listed with its time so far"
found -e cpu,offcpu --label route --slow-request 100ms -d 1.2s -o open.json -o open.txt -- "$contexts" hang 2
checker "$here/contexts_check.py" still_open open.json
grep -q "not ended: .* sleeps on its own timer" open.txt || fail "the text does not say it"

begin "numbers of sets are given back by processes that end"
for ((i = 1; i <= 18; i++)); do
	printf '"%s" sets 256 >/dev/null &\n' "$contexts"
	((i % 9)) || echo wait
done >many.sh
CONTEXTS_WAIT=500 "$pkbpf" -q -e offcpu --label route -o many.json -- bash many.sh >said 2>&1 || fail "status $?"
checker "$here/contexts_check.py" given_back many.json

begin "rows of waits by label, as text, CSV and pprof, and with hashed values"
found -e cpu,offcpu --by label:route -o rows.json -o rows.csv -o rows.txt -o rows.pb.gz -o rows.folded -- "$contexts" requests 24
checker "$here/contexts_check.py" rows rows.json rows.csv rows.offcpu.folded
found -e cpu,offcpu --by label:route --hash-label route -o hashed.json -- "$contexts" requests 12
checker "$here/contexts_check.py" hashed hashed.json

begin "more sets of values than there are numbers: the rest is [other]"
found -e cpu,offcpu --by label:route -o sets.json -- "$contexts" sets 400
checker "$here/contexts_check.py" sets sets.json 400

begin "lies change rows of their own alone"
for kind in long cycle unmapped kernel invalid escape; do
	"$contexts" lies 20 "$kind" >/dev/null 2>&1 &
	liars+=($!)
done
rm -f go
: >said
CONTEXTS_GO=$PWD/go "$contexts" requests 60 >truth &
honest=$!
"$pkbpf" -v -e cpu,offcpu --by label:route -d 3s --comm contexts -o lies.json -o lies.txt >said 2>&1 &
wait_until 60 grep -q "process $honest publishes thread contexts" said
: >go
wait $!
status=$?
kill "${liars[@]}" 2>/dev/null
[ $status = 0 ] || fail "status $status"
checker "$here/contexts_check.py" lies lies.json lies.txt

begin "what cannot be is refused with a reason"
refused() {
	local expected=$1
	shift
	"$pkbpf" "$@" >said 2>&1 && fail "$*: accepted"
	grep -q "$expected" said || fail "$*: says something else"
}
refused "requires a key" --by label -d 1s
refused "requires the events of offcpu" -e cpu --slow-request 1ms -d 1s
refused "mutually exclusive" --by label:x --region-frames -d 1s
refused "top has no rows by label" top --by label:x
refused "has one label" report --by label:x requests.pkbpf
refused "slow-request" serve --slow-request 1ms

conclude
