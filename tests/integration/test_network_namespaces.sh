#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# Two pairs of network namespaces, joined by veth, with the same addresses: their peers are told apart. In one without a route
# connections fail before a packet is sent: each is counted once.
# usage: test_network_namespaces.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
command -v python3 >/dev/null || skip "no python3 here"
command -v ip >/dev/null || skip "no ip(8) here"
grep -q sock_send_length /sys/kernel/btf/vmlinux || skip "this kernel has no tracepoint sock_send_length"

begin "peers of one address in two networks"
names=()
cleanup() { for name in "${names[@]}"; do ip netns del "$name" 2>/dev/null; done; }
for pair in 1 2; do
	client=pkbpf-$$-c$pair server=pkbpf-$$-s$pair
	names+=("$client" "$server")
	{ ip netns add "$client" && ip netns add "$server" && ip link add v$pair netns "$client" type veth peer name v$pair netns "$server" &&
		ip -n "$client" addr add 10.99.0.1/24 dev v$pair && ip -n "$server" addr add 10.99.0.2/24 dev v$pair &&
		ip -n "$client" link set v$pair up && ip -n "$server" link set v$pair up; } >said 2>&1 || skip "no veth pairs here: $(cat said)"
done
cat >talk.py <<'END'
import ctypes, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def enter(name):
    with open("/run/netns/" + name) as file:
        if libc.setns(file.fileno(), 0x40000000):
            sys.exit("setns: " + os.strerror(ctypes.get_errno()))
children, pids = [], open("pids", "w", buffering=1)
for pair, size in (("1", 100), ("2", 7)):
    listens = os.pipe()
    child = os.fork()
    if not child:
        enter(sys.argv[1] + "s" + pair)
        listener = socket.create_server(("10.99.0.2", 5000))
        os.write(listens[1], b"x")
        connection, _ = listener.accept()
        while data := connection.recv(4096):
            connection.sendall(data)
        os._exit(0)
    os.read(listens[0], 1)
    asker = os.fork()
    if not asker:
        enter(sys.argv[1] + "c" + pair)
        connection = socket.create_connection(("10.99.0.2", 5000))
        for _ in range(20):
            connection.sendall(b"x" * size)
            left = size
            while left:
                left -= len(connection.recv(left))
        os._exit(0)
    children += [child, asker]
    pids.write(f"{child} {asker} {size}\n")
for child in children:
    os.waitpid(child, 0)
END
record -e network -o report.json -- python3 talk.py "pkbpf-$$-"
cat >check.py <<'END'
import json, sys
peers = json.load(open("report.json"))["peers"]
for line in open("pids"):
    server, client, size = map(int, line.split())
    for pid, role in ((server, "server"), (client, "client")):
        rows = [row for row in peers if row.get("pid") == pid and row.get("port") == 5000]
        told = [(row["role"], row["sent_messages"], row["sent_bytes"], row["received_bytes"], row["connects"]["count"], row["accepted"])
                for row in rows]
        wanted = [(role, 20, 20 * size, 20 * size, int(role == "client"), int(role == "server"))]
        print("ok:" if told == wanted else "FAILED:", pid, role, told)
END
python3 check.py >checked || fail "$(cat checked)"
[ "$(grep -c ^ok: checked)" = 4 ] || fail "$(cat checked)"

begin "connections without a route"
cat >fail.py <<'END'
import socket, time
def fails(family, address, times, blocking=True, calls=1):
    for _ in range(times):
        with socket.socket(family, socket.SOCK_STREAM) as connection:
            connection.setblocking(blocking)
            for call in range(calls):
                if call:
                    time.sleep(0.02)
                try:
                    connection.connect(address)
                except OSError:
                    pass
time.sleep(0.3)
fails(socket.AF_INET, ("127.0.0.1", 1), 3)
fails(socket.AF_INET, ("127.0.0.1", 2), 4, False, 2)  # the second call tells what came of the first one
fails(socket.AF_INET, ("192.0.2.1", 80), 5, False)
fails(socket.AF_INET6, ("2001:db8::1", 80), 6)
fails(socket.AF_INET6, ("::ffff:192.0.2.2", 80), 7)
END
record -e network -o fail.json -- unshare -n sh -c 'ip link set lo up; exec python3 fail.py'
cat >fail_check.py <<'END'
import json
peers = json.load(open("fail.json"))["peers"]
found = {p["peer"].split(" (")[0]: [(f["errno"], f["count"]) for f in p["failures"]] for p in peers
         if p["failures"] and p["peer"].startswith("tcp ")}  # the C library asks its daemons, too
wanted = {"tcp 127.0.0.1:1": [(111, 3)], "tcp 127.0.0.1:2": [(111, 4)], "tcp 192.0.2.1:80": [(101, 5)],
          "tcp [2001:db8::1]:80": [(101, 6)], "tcp 192.0.2.2:80": [(101, 7)]}
print("ok:" if found == wanted else "FAILED:", found)
END
python3 fail_check.py >checked || fail "$(cat checked)"
grep -q ^ok: checked || fail "$(cat checked)"

conclude
