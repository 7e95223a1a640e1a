#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# Clients that mean no good ask `pkbpf serve`: each gets its answer, and the capture loses nothing.
# usage: test_hostile_clients.sh PKBPF WORKLOAD_FOLDER [CONNECTIONS]
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

server=
cleanup() { kill -9 $server 2>/dev/null; }

"$pkbpf" serve --store store -s 1s --max-cpu off -e cpu --listen 127.0.0.1:0 2>said &
server=$!
for _ in $(seq 600); do
	url=$(grep -o 'http://[0-9.:]*' said) && break
	kill -0 $server 2>/dev/null || give_up "it ended: $(cat said)"
	sleep 0.1
done
for _ in $(seq 600); do
	[ "$(curl -s --max-time 10 "$url/readyz")" = ready ] && break
	sleep 0.1
done

begin "100 hostile clients"
python3 "$here/hostile_clients.py" "${url##*:}" "$(pgrep -P $server -x pkbpf-front)" "${3:-1000}" >out 2>&1 || fail "$(cat out)"
kill -0 $server || fail "it ended: $(cat said)"

conclude
