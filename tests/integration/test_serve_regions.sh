#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Regions in `pkbpf serve`: counts and violations as the programs count them, objectives, series, metrics, and the budget of probes.
# usage: test_serve_regions.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

server=
programs=()
# The whole host is watched: nobody else marks these.
predict=predict$$ step=step$$
cleanup() { kill -9 $server "${programs[@]}" 2>/dev/null; }

cat >serve.conf <<END
regions = yes
regions-cost = 100%	# all of it is watched
interval = 1s
max-cpu = off
default-alerts = no
[objective predict-p99]
when = region[$predict].p99 < 100ms
[objective predict-share]
when = region[$predict].over(100ms) <= 1%
[objective step-p99]
when = region[$step].p99 < 100ms
[objective step-share]
when = region[$step].over(100ms) <= 1%
END

begin "what can have no data is refused, with what to add"
# refused TEXT SENTENCE: a configuration of this text
refused() {
	printf '%s\n' "$1" >bad.conf
	"$pkbpf" serve --config bad.conf --check-config 2>err
	[ $? = 2 ] && grep -q -- "$2" err || fail "$1: $(cat err)"
}
refused $'[objective a]\nwhen = region[predict].p99 < 100ms' 'objective a.: regions are not recorded; add --regions'
refused $'[alert a]\nwhen = region[predict].p99 > 100ms' 'alert a.: regions are not recorded; add --regions'
refused $'regions = yes\n[objective a]\nwhen = region[predict].sleep < 1s' 'add offcpu to --events'
refused $'regions = yes\nevents = cpu\n[objective a]\nwhen = blockio.p99 < 1s' 'add blockio to --events'
refused $'events = cpu,calls' 'cannot record calls'
refused $'regions = yes\nregion = a=function:x..y' 'no regions between functions'
refused $'regions = yes\n[objective a]\nwhen = region[a].over(1s) < 1%\n[objective b]\nwhen = region[a].over(2s) < 1%' 'two limits'
refused $'regions-cost = 1%' 'requires --regions'
"$pkbpf" serve --config serve.conf --check-config 2>err || fail "a good one: $(cat err)"

# start_server STORE OPTION…: leaves $url
start_server() {
	rm -f said # of the server before, with its port
	"$pkbpf" serve --config serve.conf --store "$@" --listen 127.0.0.1:0 -v 2>said &
	server=$!
	wait_until 60 grep -q 'http://' said || give_up "it does not answer: $(cat said)"
	url=$(grep -o 'http://[][0-9.:]*' said | head -1)
}

stop_server() {
	kill $server
	wait $server 2>/dev/null || fail "it ends with an error: $(tail -3 said)"
	server=
}

# start_program NAME COMMAND…: its lines go to NAME.told; write to NAME.in
start_program() {
	local name=$1
	shift
	mkfifo "$name.in"
	: >"$name.told"
	"$@" <"$name.in" >>"$name.told" &
	programs+=($!)
	eval "exec {${name}_in}>$name.in"
}

# tell NAME LINE: and waits until it is done
tell() {
	local in=${1}_in lines
	lines=$(wc -l <"$1.told")
	echo "$2" >&"${!in}"
	wait_until 120 has_lines "$1.told" $((lines + 1)) || give_up "$1 does not end: $2"
}
has_lines() { [ "$(wc -l <"$1")" -ge "$2" ]; }

start_program predict "$workloads/requests" "$predict"
PYTHONPATH=$here/../../include/python start_program step python3 "$here/serve_requests.py" "$step"

begin "counts are the programs' own, and an objective that is kept is met"
start_server kept

wait_until 60 grep -q 'watching the regions of .*requests' said || fail "the program is not watched: $(cat said)"
wait_until 60 grep -q 'watching the regions of .*python' said || fail "Python is not watched: $(cat said)"
tell predict "2000 100"
tell step "500 100"
metrics_have() { curl -s "$url/metrics" | grep -q "$1"; }
begin "metrics have them"
wait_until 60 metrics_have "^pkbpf_regions_total{region=\"$predict\"} 2000\$" || fail "no count: $(curl -s "$url/metrics" | grep pkbpf_region)"
metrics_have "pkbpf_region_violations_total{region=\"$predict\"}" || fail "no violations"
begin "series are answered for regions alone by region"
curl -s "$url/api/v1/series?figure=cpu.share&by=region" | grep -q 'belong together' || fail "cpu.share by region"
curl -s "$url/api/v1/series?by=name" | grep -q 'not possible with series' || fail "series by name"
curl -s "$url/api/v1/report?by=region" | grep -q 'no samples by region' || fail "a report by region"
# The two may have ended in slices of their own.
series_have_both() {
	curl -s "$url/api/v1/series?figure=region%5B*%5D.p99&by=region" >series.json
	grep -q "\"name\":\"$predict\"" series.json && grep -q "\"name\":\"$step\"" series.json
}
wait_until 60 series_have_both || fail "$(cat series.json)"
begin "lanes have the region that a process left, with its name escaped"
hostile="</script>\"$step"
start_program hostile "$workloads/requests" "$hostile"
wait_until 60 grep -q "watching the regions of .*requests" said || fail "the program is not watched: $(cat said)"
tell hostile "300 100"
lanes_have() {
	curl -s "$url/api/v1/lanes?by=$1&top=100&comm=requests&from=-5m" >lanes.json
	python3 "$here/serve_lanes_check.py" lanes.json "$1" "$hostile" 300 2>why
}
for by in process comm name container; do
	wait_until 60 lanes_have $by || fail "by $by: $(cat why)"
	! grep -q '</script' lanes.json || fail "the name is not escaped"
done
curl -s "$url/api/v1/lanes?by=thread&top=100&comm=requests&from=-5m" | grep -q '"regions":' && fail "threads have regions"
# shellcheck disable=SC2154 # coproc assigns it
exec {hostile_in}>&-
stop_server
# looks STORE NAME TOLD…
looks() {
	local store=$1 name=$2
	shift 2
	"$pkbpf" query report --store "$store" -f json -o report.json 2>err || fail "no report: $(cat err)"
	"$pkbpf" query objectives --store "$store" --config serve.conf -f json -o objectives.json 2>err || fail "no objectives: $(cat err)"
	python3 "$here/serve_regions_check.py" report.json objectives.json "$name" "${!name}" "$@" || fail "$name of $store"
}
looks kept predict predict.told
looks kept step step.told
"$pkbpf" query series --store kept --figure "region[$predict].p99" | grep -q 'ms\|us' || fail "no series"
"$pkbpf" query series --store kept --by thread 2>err
[ $? = 2 ] && grep -q 'not possible with series' err || fail "series by thread: $(cat err)"
"$pkbpf" query series --store kept --figure cpu.share --by region 2>err
[ $? = 2 ] && grep -q 'requires a figure of regions' err || fail "cpu.share by region: $(cat err)"

begin "an objective that is broken is missed, by as many as were planted"
: >predict.told
: >step.told
start_server broken
wait_until 60 grep -q 'watching the regions of .*requests' said || fail "the program is not watched: $(cat said)"
wait_until 60 grep -q 'watching the regions of .*python' said || fail "Python is not watched: $(cat said)"
tell predict "500 100"
tell predict "20 120000"
tell step "500 100"
stop_server
looks broken predict predict.told
looks broken step step.told

begin "probes that cost too much are on in some slices, and windows say so"
: >predict.told
start_server budget --regions-cost 0.01%
wait_until 60 grep -q 'watching the regions of .*requests' said || fail "the program is not watched: $(cat said)"
after=0
for _ in $(seq 100); do
	tell predict "200000 0"
	grep -q 'watched in 1 of' said && ((++after > 20)) && break
done
grep -q 'regions of .*requests are watched in 1 of' said || fail "nobody said so: $(cat said)"
stop_server
"$pkbpf" query report --store budget -f json -o report.json 2>err || fail "no report: $(cat err)"
"$pkbpf" query series --store budget --figure "region[$predict].count" -f json -o series.json 2>err || fail "no series: $(cat err)"
python3 "$here/serve_regions_check.py" budget series.json report.json "$predict" predict.told || fail "budget"
"$pkbpf" query report --store budget --full | grep -q 'was watched for' || fail "the report does not say what was watched"
"$pkbpf" query series --store budget --figure "region[$predict].count" | grep -q 'watched .* of ' || fail "the series does not say what was watched"

begin "a window without regions is said not to be watched"
sed -i '/^regions/d; /^\[objective/,$d' serve.conf
start_server none
wait_until 60 metrics_have '^pkbpf_slices_total [1-9]' || fail "no window"
stop_server
"$pkbpf" query series --store none --figure "region[$predict].p99" | grep -q 'not watched' || fail "it is not said"

conclude
