#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# alone: it opens connections as fast as the machine can
# Connections that open and close as fast as the machine can, idle ones, ports that wrap, and more addresses than there is room
# for: all are counted, what has no room is counted too, and memory stays within its bound.
# usage: test_connections.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
command -v python3 >/dev/null || skip "no python3 here"
grep -q sock_send_length /sys/kernel/btf/vmlinux || skip "this kernel has no tracepoint sock_send_length"
"$workloads/connections" 1 1 1 >/dev/null 2>&1
[ $? != 77 ] || skip "no network namespace can be made"

begin "short, idle and refused connections"
"$pkbpf" -q -e network -o report.json -- "$workloads/connections" 500 3000 9000 >counts 2>said ||
	give_up "status $?: $(cat said counts)"
checker - report.json counts <<'PYTHON'
import sys
import checks

report = checks.read_report(sys.argv[1])
opened, accepted, refused, rate = map(int, open(sys.argv[2], encoding="ascii").read().split())
network = report["total"]["network"]
print(f"{rate} connections a second, {opened} in all, {refused} refused")
checks.check(opened > 3000 and refused == 9000, "the program did what it should")
checks.check(network["connects"] == opened, f"{network['connects']} connections opened of {opened}")
checks.check(network["accepts"] == accepted, f"{network['accepts']} accepted of {accepted}")
checks.check(network["failures"] == refused, f"{network['failures']} failures of {refused}")
full = sum(counter["count"] for counter in report["counters"] if counter["name"] == "NETWORK_PEERS_FULL")
told = len([peer for peer in report["peers"] if peer["failures"] and peer["peer"] != "others"])
checks.check(told + full >= refused and full, f"{told} addresses have a row, {full} are counted among others")
others = sum(failure["count"] for peer in report["peers"] if peer["peer"] == "others" for failure in peer["failures"])
checks.check(told + others == refused, f"others have {others} failures")
checks.check(report["samples"]["lost_other"] == 0, "nothing is lost")
cost = report["cost"]
used = (cost["max_resident_bytes"] + cost["bpf_map_bytes"]) >> 20
checks.check(used <= 256, f"{used} MiB of memory")
PYTHON

begin "connections that were given up or reset, and a server's thread with a name"
"$pkbpf" -q -e network -o ends.json -- python3 "$here/network_ends.py" >counts 2>said || give_up "status $?: $(cat said counts)"
checker - ends.json counts <<'PYTHON'
import sys
import checks

peers = checks.read_report(sys.argv[1])["peers"]
full, reset, named, given_up = map(int, open(sys.argv[2], encoding="ascii").read().split())
failures = {f["errno"]: f["count"] for p in peers if p.get("port") == full and p["role"] == "client" for f in p["failures"]}
checks.check(given_up and failures == {0: given_up}, f"{given_up} connections were given up: {failures}")
servers = [(p["port"], p["accepted"]) for p in peers if p["role"] == "server" and p["accepted"] == 5]
checks.check(servers == [(reset, 5)], f"5 connections were accepted at port {reset}: {servers}")
names = {p["peer_comm"] for p in peers if p["role"] == "client" and p.get("port") == named}
checks.check(names == {"a-process"}, f"the server is {names}")
PYTHON
conclude
