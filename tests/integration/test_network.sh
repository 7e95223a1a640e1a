#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# alone: it compares waits of two processes
# Messages, bytes, connections and times to answer of each peer, against a client and a server that count them themselves.
# usage: test_network.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
schema=$here/../../user/export/json/report.schema.json
command -v python3 >/dev/null || skip "no python3 here"
grep -q sock_send_length /sys/kernel/btf/vmlinux || skip "this kernel has no tracepoint sock_send_length"

begin "what a client and a server count of each other"
# The interpreter itself: what finds it may be a shell, with pipes of its own.
python=$(python3 -c 'import sys; print(sys.executable)')
record -e network,offcpu -o report.json -o report.pkbpf -o report.folded -o report.pb.gz -- "$python" "$here/network_talk.py" "$work/counts.json" &&
	checker "$here/network_check.py" counts.json report.json
command -v jsonschema >/dev/null && { jsonschema -i report.json "$schema" >said 2>&1 || fail "the schema: $(head -c 400 said)"; }

begin "stacks of messages and of waits end in their peer"
checker "$here/network_stacks.py" counts.json report.json report.network.folded report.offcpu.folded
slow=$(python3 -c 'import json; print(json.load(open("counts.json"))["ports"]["slow"])')
gzip -dc report.offcpu.pb.gz | grep -aq "tcp 127.0.0.1:$slow" || fail "the pprof file does not name the peer"

begin "the same from its recording"
"$pkbpf" report -q report.pkbpf -o again.json >said 2>&1 || fail "pkbpf report: $(cat said)"
checker "$here/network_check.py" counts.json again.json

begin "people read of it"
"$pkbpf" report report.pkbpf --full --top 20 >text 2>&1
grep -q 'Network: messages by process and peer' text || fail "no peers: $(cat text)"
grep -q 'Connection refused 7' text || fail "no refused connections: $(cat text)"

begin "hosts by their names, if asked for"
host=$(getent hosts 127.0.0.1 | awk '{ print $2; exit }')
"$pkbpf" report -q report.pkbpf --resolve -f text -o named -o hosts.json >said 2>&1 || fail "pkbpf report --resolve: $(cat said)"
if [ -n "$host" ]; then
	grep -q "tcp $host:" named || fail "no peer called $host: $(cat named)"
	grep -q "\"host\": *\"$host\"" hosts.json || fail "JSON has no host"
	! grep -q "$host:" text || fail "names without being asked for"
fi

begin "a slow backend, and connections that nobody accepts, are findings"
grep -q 'its connections to a peer fail: Connection refused' text || fail "not told: $(cat text)"
"$pkbpf" report -q report.pkbpf -f json --fail-if 'network.response_p99>30ms' >/dev/null 2>said
[ $? = 3 ] || fail "--fail-if network.response_p99 does not hold: $(cat said)"

begin "alone, and not unless it is named"
record -e network -o alone.json -- python3 -c 'import socket; a, b = socket.socketpair(); a.send(b"x"); b.recv(1)'
record -d 1 -o plain.json
[ "$(python3 -c 'import json; print("network" in json.load(open("plain.json"))["events"])')" = False ] ||
	fail "the network is recorded without being asked for"

conclude
