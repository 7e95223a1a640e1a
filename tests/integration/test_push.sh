#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What `pkbpf serve` sends: a textfile, OTLP metrics, profiles to Pyroscope, each window once, from a cursor in the store.
# usage: test_push.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

spinner=
server=
receiver=
cleanup() { kill -9 $spinner $server $receiver 2>/dev/null; }
until_true() { wait_until 60 "$@"; }
has() { grep -q "$2" "$1" 2>/dev/null; }

python3 "$here/push_server.py" . &
receiver=$!
until_true [ -s port ] || give_up "the stand-in does not listen"
cat >serve.conf <<END
listen = 127.0.0.1:0
store = store
interval = 1s
max-cpu = off
# The folder of the textfile is root's: so is the process that answers.
[push text]
textfile = $PWD/pkbpf.prom
[push nowhere]
textfile = $PWD/missing/pkbpf.prom
[push otel]
otlp = http://127.0.0.1:$(cat port)/v1/metrics
[push pyro]
pyroscope = http://127.0.0.1:$(cat port)
header = X-Scope-OrgID: tenant
[push profiles]
otlp-profiles = http://127.0.0.1:$(cat port)/v1development/profiles
[push otel-protobuf]
otlp = http://127.0.0.1:$(cat port)/v1/metrics?protobuf
encoding = protobuf
[push profiles-protobuf]
otlp-profiles = http://127.0.0.1:$(cat port)/v1development/profiles?protobuf
encoding = protobuf
END
cp "$workloads/spin" pushspin
./pushspin 600 &
spinner=$!

# start; leaves $url
start() {
	rm -f said # of the server before, with its port
	"$pkbpf" serve --config serve.conf 2>said &
	server=$!
	until_true has said 'http://' || give_up "it does not answer: $(cat said)"
	url=$(grep -o 'http://[0-9.:]*' said)
}

begin "metrics are written and sent"
start
until_true has pkbpf.prom '^pkbpf_slices_total' || fail "no textfile: $(cat said)"
until_true has said 'missing/pkbpf.prom.*No such file or directory' || fail "nothing tells that a directory is missing: $(cat said)"
if command -v promtool >/dev/null; then
	promtool check metrics <pkbpf.prom >lint 2>&1 || fail "promtool: $(head -n 3 lint)"
fi
until_true has requests '^/v1/metrics .*pkbpf_slices_total.* gzip$' || fail "no OTLP: $(cat said requests)"
until_true has requests '^/v1/metrics?protobuf .*pkbpf_slices_total.* gzip$' || fail "no OTLP in protobuf: $(cat said requests)"
grep wrong: requests && fail "a wrong request"
curl -s "$url/metrics" | grep -q '^pkbpf_push_windows_total{target="otel",result="sent"} [1-9]' || fail "no metric of it"
sleep 2
kill -INT $server
wait $server || fail "it ended with $?"

begin "a minute that was not sent is sent later, once"
[ -s store/cursor/pyro ] || fail "no cursor"
# The end of the run closed its minute.
start
until_true has requests '^/push.v1.PusherService/Push tenant .*process_cpu/' || fail "no profile: $(cat said requests)"
until_true has requests '^/v1development/profiles .* spin_here=[1-9].* plain$' || fail "no OTLP profile: $(cat said requests)"
until_true has requests '^/v1development/profiles?protobuf .* spin_here=[1-9].* plain$' || fail "no OTLP profile in protobuf: $(cat said requests)"
windows=$(curl -s "$url/api/v1/windows?level=minute&from=-5m" | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["windows"]))')
sleep 2
kill -INT $server
wait $server || fail "it ended with $?"
count=$(grep -c '^/push.v1' requests)
[ "$count" -ge "$windows" ] && [ "$count" -le $((windows + 1)) ] || fail "$count requests for $windows minutes"
grep wrong: requests && fail "a wrong request"
if command -v go >/dev/null; then
	for profile in *.pb.gz; do
		go tool pprof -top -nodecount=200 "$profile" 2>err
	done >top
	has top 'spin_here' || fail "go tool pprof finds no spin_here: $(cat err)"
fi

begin "a server that is not there"
kill $receiver
wait $receiver 2>/dev/null
echo 1 >store/cursor/pyro
start
until_true has said 'push to pyro: will be tried again' || fail "no word: $(cat said)"
[ "$(cat store/cursor/pyro)" = 1 ] || fail "the cursor went on"
kill -INT $server
wait $server || fail "it ended with $?"

conclude
