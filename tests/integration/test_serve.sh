#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# `pkbpf serve`: history, metrics and profiles over HTTP, who may ask, and what is left after an end of any kind.
# usage: test_serve.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

spinner=
server=
frugal=
systemd=
cleanup() { kill -9 $spinner $server $frugal $systemd 2>/dev/null; }

"$workloads/spin" 600 &
spinner=$!

# start OPTION…: a server on a free port; leaves $url.
start() {
	rm -f said # of the server before, with its port
	"$pkbpf" serve --store store -s 1s --max-cpu off --listen 127.0.0.1:0 "$@" 2>said &
	server=$!
	for _ in $(seq 600); do
		url=$(grep -o 'http://[][0-9.:]*' said) && break
		kill -0 $server 2>/dev/null || give_up "it ended: $(cat said)"
		sleep 0.1
	done
	[ -n "$url" ] || give_up "it does not answer"
}

# One beside the others that may cost less than anything does, as a service; looked at in the end.
python3 -c '
import socket
manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
manager.bind("notify")
while True:
    print(manager.recv(99).decode(), flush=True)' >notified &
systemd=$!
wait_until 60 test -S notify
NOTIFY_SOCKET=$PWD/notify "$pkbpf" serve --store frugal -s 1s --max-cpu 0.01% --listen "$PWD/frugal.socket" 2>frugal.said &
frugal=$!

# ask PATH [CURL OPTION…]: the body to out, the status to $status.
ask() {
	local path=$1
	shift
	status=$(curl -s --max-time 60 -o out -w '%{http_code}' "$@" "$url$path")
}

# until_asked PATH PATTERN: asks until it is in the answer.
until_asked() {
	for _ in $(seq 600); do
		ask "$1"
		grep -q "$2" out && return
		sleep 0.1
	done
	fail "$1 never has $2: $(head -c 200 out)"
}

begin "it answers"
start
until_asked /readyz '^ready$'

begin "the process that answers has no rights"
front=$(pgrep -P $server -x pkbpf-front)
owner=$(awk '/^Uid:/ { print $2 }' /proc/$front/status)
if [ "$(id -u)" = 0 ]; then
	[ "$owner" != 0 ] || fail "it is root"
	find store ! -user "$owner" >others
	[ ! -s others ] || fail "files of the store belong to somebody else: $(cat others)"
	# A store of root's is given to it, but for what its links lead to.
	mkdir given given/slice
	: >kept_by_root
	: >given/slice/old
	ln -s "$PWD/kept_by_root" given/slice/link
	: >given.said
	"$pkbpf" serve --store given -e cpu -d 1s -s 1s --max-cpu off --listen "$PWD/given.socket" 2>given.said || fail "$(cat given.said)"
	[ "$(stat -c %u given)" != 0 ] && [ "$(stat -c %u given/slice/old)" != 0 ] || fail "the store is root's: $(ls -ln given given/slice)"
	[ "$(stat -c %u kept_by_root)" = 0 ] || fail "a link was followed"
	"$pkbpf" serve --store given --run-as nobody_of_this_name --listen 127.0.0.1:0 2>err
	grep -q 'there is no such user' err || fail "--run-as: $(cat err)"
fi
grep -qE '^CapEff:	0+$' /proc/$front/status || fail "it has capabilities"
grep -qE '^Seccomp:	2$' /proc/$front/status || not_checked "no seccomp here"

begin "it answers questions"
until_asked '/api/v1/series?by=comm' '"name":"spin"'
ask '/api/v1/profile?format=folded&kind=cpu&comm=spin&from=-1m'
[ "$status" = 200 ] && grep -q '^spin;.*spin_here [0-9]*$' out || fail "no stacks of the spinning program: $status"
ask '/api/v1/report?from=-1m'
python3 -c 'import json, sys; r = json.load(open("out")); sys.exit(not any(x.get("comm") == "spin" for x in r["rows"]))' ||
	fail "no row of the spinning program"
ask '/debug/pprof/profile?seconds=1'
[ "$status" = 200 ] && gzip -t <out || fail "no profile of the next second: $status"
ask '/api/v1/profile?pid=4194303&format=folded'
[ "$status" = 404 ] || fail "a process that is not there: $status"
ask '/debug/pprof/offcpu?seconds=60&past=1'
[ "$status" = 409 ] || fail "a kind that is not recorded: $status"
ask /
grep -q 'history.js' out || fail "no page"

begin "query gives the figures that HTTP gives"
# Whole slices in the past, which change no more.
ask '/api/v1/windows?from=-1m'
read -r from to <<<"$(python3 -c 'import json; w = json.load(open("out"))["windows"]; print(int(w[0][0]), int(w[-1][1]) - 1)')"
same() {
	"$pkbpf" query "$2" --store store --from "$from" --to "$to" -f json >said_by_query 2>err || fail "query $2: $(cat err)"
	ask "/api/v1/$1from=$from&to=$to"
	python3 -c 'import json, sys
a, b = (json.load(open(f)) for f in ("out", "said_by_query"))
keys = sys.argv[1].split(",")
sys.exit(any(not a.get(k) or a.get(k) != b.get(k) for k in keys))' "$3" || fail "$2 differs from HTTP"
}
same 'report?' report rows,total,samples
same 'series?figure=cpu.share&by=comm&' series windows,series
ask "/api/v1/profile?format=folded&kind=cpu&from=$from&to=$to"
"$pkbpf" query profile -e cpu --store store --from "$from" --to "$to" 2>err | cmp - out || fail "other stacks: $(cat err)"
until_asked '/api/v1/windows?from=-5m' '\(\[[0-9.]*,[0-9.]*\],\)\{9\}'
ask '/api/v1/diff?from=-4s&base=before&format=json'
[ "$status" = 200 ] && grep -q '"spin"' out || fail "no diff: $status $(head -c 200 out)"
ask '/api/v1/diff?from=-4s&base=lastweek'
[ "$status" = 404 ] || fail "a week ago: $status"
"$pkbpf" query diff --store store --from -4s 2>err | grep -q '^new .* in [0-9]* slices' || fail "query diff: $(cat err)"
"$pkbpf" query --store store --from -1m --fail-if 'spin:cpu.share>1%' >/dev/null 2>err
[ $? = 3 ] || fail "a condition: $(cat err)"
"$pkbpf" query repotr --store store 2>err
[ $? = 2 ] && grep -q 'did you mean report' err || fail "an unknown question: $(cat err)"

begin "metrics"
ask /metrics
grep -q '^pkbpf_cpu_user_seconds_total{container=".*"} [0-9.e+]*$' out || fail "no CPU time"
if command -v promtool >/dev/null; then
	promtool check metrics <out >lint 2>&1 || fail "promtool: $(head -n 3 lint)"
fi

begin "who may ask"
ask /metrics -H 'Host: attacker.example'
[ "$status" = 421 ] || fail "another name: $status"
ask /metrics -H 'Origin: http://attacker.example'
[ "$status" = 403 ] || fail "another site: $status"
ask /metrics -X POST
[ "$status" = 405 ] || fail "POST: $status"
ask /../etc/passwd --path-as-is
[ "$status" = 404 ] || fail "a path that is not in the table: $status"
ask '/api/v1/report?form=json'
[ "$status" = 400 ] && grep -q "'form'" out || fail "an unknown parameter: $status"
front=$(pgrep -P $server -x pkbpf-front)
grep -q '^CapEff:[[:space:]]*0*$' "/proc/$front/status" || fail "the front has capabilities"

begin "one writer"
"$pkbpf" serve --listen 127.0.0.1:0 --store store 2>err
[ $? = 1 ] && grep -q 'another process writes to the store' err || fail "a second one: $(cat err)"

begin "an end, and a start after it"
kill -INT $server
wait $server
[ $? = 0 ] || fail "it ended with $?"
! pgrep -f "serve --store store -s 1s --max-cpu off" >left || fail "left: $(cat left)"
"$pkbpf" report store/slice/*.pkbpf -f folded -e cpu 2>err | grep -q '^spin;.*spin_here' ||
	fail "the store is not readable by report: $(cat err)"
windows() { python3 -c 'import json; print(len(json.load(open("out"))["windows"]))'; }
echo 'a-token-that-nobody-guesses' >token
chmod 640 token
start --token-file token
ask /metrics
[ "$status" = 401 ] || fail "without the token: $status"
ask /metrics -H 'Authorization: Bearer a-token-that-nobody-guessed'
[ "$status" = 401 ] || fail "with another token: $status"
ask '/api/v1/windows?from=-10m' -H 'Authorization: Bearer a-token-that-nobody-guesses'
[ "$status" = 200 ] && [ "$(windows)" -ge 2 ] || fail "what was there before is gone"
kill $server
wait $server
start --token-file token --open-metrics
ask /metrics
[ "$status" = 200 ] && grep -q '^pkbpf_' out || fail "open metrics: $status"
for path in / /api/v1/report /debug/pprof/ /metrics/x; do
	ask "$path"
	[ "$status" = 401 ] || [ "$path/$status" = /metrics/x/404 ] || fail "$path beside open metrics: $status"
done
"$pkbpf" serve --store store --open-metrics 2>err
[ $? = 2 ] && grep -q "requires --token-file" err || fail "open metrics without a token: $(cat err)"

begin "a front that is killed, a collector that is killed"
kill -9 "$(pgrep -P $server -x pkbpf-front)"
wait $server
[ $? = 1 ] && grep -q 'the process that keeps the history ended' said || fail "no word about it: $(cat said)"
start
until_asked '/api/v1/windows?from=-2s' '\[\['
front=$(pgrep -P $server -x pkbpf-front)
kill -9 $server
for _ in $(seq 600); do kill -0 "$front" 2>/dev/null || break; sleep 0.1; done
kill -0 "$front" 2>/dev/null && fail "the front outlives the collector"
start
until_asked '/api/v1/windows?from=-2s' '\[\['
kill -INT $server
wait $server || fail "it ended with $?"

begin "other listeners"
"$pkbpf" serve --listen "$PWD/socket" --store store -s 1s --max-cpu off 2>said &
server=$!
for _ in $(seq 600); do [ "$(curl -s --unix-socket socket http://anything/healthz)" = alive ] && break; sleep 0.1; done
[ "$(stat -c %a socket)" = 660 ] || fail "the socket is for others, too"
[ "$(curl -s --unix-socket socket http://anything/healthz)" = alive ] || fail "no answer at the socket: $(cat said)"
kill -9 $server
wait $server 2>/dev/null
if [ -e /proc/net/if_inet6 ] && grep -q ' lo$' /proc/net/if_inet6; then
	start --listen '[::1]:0'
	url=$(grep -o 'http://\[::1\]:[0-9]*' said)
	ask /healthz -g
	[ "$status" = 200 ] || fail "no answer by IPv6: $status $(cat said)"
	ask /healthz -g -H 'Host: attacker.example'
	[ "$status" = 421 ] || fail "another name by IPv6: $status"
	kill -INT $server
	wait $server || fail "it ended with $?"
fi

begin "what costs too much is left out, step by step, and said"
for _ in $(seq 600); do grep -q '(step [2-9])' frugal.said && break; sleep 0.1; done
grep -q 'it leaves out .* (step 2)$' frugal.said || fail "nothing is left out: $(cat frugal.said)"
for _ in $(seq 600); do
	curl -s --unix-socket frugal.socket http://x/metrics | grep -q '^pkbpf_detail_step [1-9]' && break
	sleep 0.1
done
curl -s --unix-socket frugal.socket http://x/metrics | grep -q '^pkbpf_detail_step [1-9]' || fail "no step in the metrics"
curl -s --unix-socket frugal.socket 'http://x/api/v1/series?from=-5m' | python3 -c '
import json, sys
out = json.load(sys.stdin)["left_out"]
sys.exit(out[0] is not None or not any(o and "stacks of page faults" in o for o in out))' || fail "no step in the series"
"$pkbpf" query report --store frugal --from -5m -f json 2>err | grep -q '"left_out": *"' || fail "no step in the report: $(cat err)"
# Without a kind the capture begins anew: the service goes on, or systemd would kill it.
for _ in $(seq 600); do grep -q 'it leaves out all' frugal.said && break; sleep 0.1; done
grep -q 'it leaves out all' frugal.said || fail "no kind is left out: $(cat frugal.said)"
! grep -q STOPPING notified || fail "it says that it ends while it goes on: $(cat notified)"
kill -INT $frugal
wait $frugal || fail "it ended with $?"
[ "$(tail -n 1 notified)" = STOPPING=1 ] || fail "no word of the end: $(cat notified)"
[ "$(grep -c 'history, metrics and profiles:' frugal.said)" = 1 ] || fail "it says where it answers again: $(cat frugal.said)"

begin "wrong usage"
"$pkbpf" serve --max-cpu 0.001% 2>err
[ $? = 2 ] && grep -q 'expected 0.01% to 100%, or off' err || fail "too small a budget: $(cat err)"
"$pkbpf" serve --listen 0.0.0.0:0 --store store2 2>err
[ $? = 2 ] && grep -q 'requires --token-file' err || fail "open to other machines: $(cat err)"
"$pkbpf" serve --listen nowhere --store store2 2>err
[ $? = 2 ] || fail "no address: $(cat err)"

conclude
