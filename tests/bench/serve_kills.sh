#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Kills both processes of `pkbpf serve` at random moments, again and again: each start has to succeed, and no more than 15 s of
# the history may be lost by a kill. Then the store on a file system that is full, read-only, and with segments that were cut.
# usage: serve_kills.sh PKBPF [KILLS] (needs root)
set -u
pkbpf=$(readlink -f "$1")
kills=${2:-100}
work=$(mktemp -d /tmp/pkbpf-kills-XXXXXX)
server=
# shellcheck disable=SC2329 # by the trap
cleanup() {
	kill -9 $server 2>/dev/null
	umount "$work/small" 2>/dev/null
	rm -rf "$work"
}
trap cleanup EXIT
cd "$work" || exit 1
failures=0
fail() {
	echo "FAILED: $*"
	failures=$((failures + 1))
}

# start STORE: leaves $url; false: it did not start.
start() {
	"$pkbpf" serve --listen 127.0.0.1:0 --store "$1" -s 1s -e cpu 2>said &
	server=$!
	for _ in $(seq 300); do
		url=$(grep -o 'http://[0-9.:]*' said) && return
		kill -0 $server 2>/dev/null || break
		sleep 0.1
	done
	fail "no start: $(cat said)"
	return 1
}
windows() { curl -s "$url/api/v1/windows?from=-1h" | python3 -c 'import json, sys; w = json.load(sys.stdin)["windows"]; print(len(w), w[-1][1] if w else 0)'; }

before=0
longest=0
for i in $(seq "$kills"); do
	start store || break
	sleep "$(python3 -c 'import random; print(random.uniform(0, 2.5))')"
	at=$(date +%s)
	read -r count end <<<"$(windows)"
	[ "${count:-0}" -ge "$before" ] || fail "kill $i: $count windows, $before before"
	before=${count:-0}
	if [ $((RANDOM % 2)) = 0 ]; then kill -9 $server; else kill -9 "$(pgrep -P $server)"; fi
	wait $server 2>/dev/null
	if [ "${end%.*}" != 0 ] && [ $i -gt 3 ]; then
		lost=$((at - ${end%.*}))
		[ $lost -gt $longest ] && longest=$lost
	fi
done
for _ in $(seq 50); do pgrep -f "store $work" >/dev/null || break; sleep 0.1; done
echo "$kills kills: $before windows kept"
if start store; then
	sleep 3
	kill -INT $server
	wait $server || fail "the last end: $?"
fi
"$pkbpf" query windows --store store | tail -n 3
"$pkbpf" report store/slice/*.pkbpf -f folded -e cpu >stacks 2>err || fail "report of all segments: $(cat err)"

# damaged: each segment is cut at another place
for segment in store/*/*.pkbpf; do
	truncate -s $((RANDOM % ($(stat -c %s "$segment") + 1))) "$segment"
done
start store && kill -INT $server && wait $server

mkdir small
mount -t tmpfs -o size=4m none small
if start small; then
	head -c 16M /dev/zero >small/others 2>/dev/null
	sleep 4
	curl -s "$url/metrics" | grep -q '^pkbpf_store_failing 1' || fail "a full file system is not told"
	[ "$(curl -s -o out -w '%{http_code}' "$url/readyz")" = 503 ] && grep -q 'No space left' out || fail "it is ready: $(cat out)"
	rm small/others
	sleep 4
	curl -s "$url/metrics" | grep -q '^pkbpf_store_failing 0' || fail "it does not go on when there is room"
	kill -9 $server
	wait $server 2>/dev/null
	sleep 1
	head -c 16M /dev/zero >small/others 2>/dev/null
	start small && kill -INT $server && wait $server
	rm small/others
	mount -o remount,ro small
	if start small; then
		sleep 3
		curl -s "$url/metrics" | grep -q '^pkbpf_store_failing 1' || fail "a read-only file system is not told"
		kill -INT $server
		wait $server
	fi
fi
[ $failures = 0 ] && echo "all passed"
exit $((failures > 0))
