#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A client and a server that count what they send each other: TCP over IPv4 and IPv6, UDP, UNIX sockets, connections that
are refused, a file sent with sendfile(), answers after a known delay.

usage: network_talk.py COUNTS
Writes its counts to the file COUNTS as JSON: by end and peer, and how long each delayed answer took, in ns.
"""
import json
import os
import selectors
import socket
import sys
import tempfile
import time

# One is by far the longest; the neighbours of the 95th percentile are not.
DELAYS_MS = [5] * 32 + [40] * 8 + [80]
counts = {"client": {}, "server": {}}


def entry(end, peer):
    return counts[end].setdefault(peer, {"sent": 0, "sent_bytes": 0, "received": 0, "received_bytes": 0, "connects": 0,
                                         "accepts": 0, "response_ns": []})


def sent(end, peer, number):
    entry(end, peer)["sent"] += 1
    entry(end, peer)["sent_bytes"] += number


def received(end, peer, data):
    entry(end, peer)["received"] += bool(data) or peer == "udp"
    entry(end, peer)["received_bytes"] += len(data)
    return data


def serve(listeners, datagrams, done):
    """Echoes; a message "wait N" is answered N ms later."""
    loop = selectors.DefaultSelector()
    for name, listener in listeners.items():
        loop.register(listener, selectors.EVENT_READ, ("accept", name))
    loop.register(datagrams, selectors.EVENT_READ, ("datagram", "udp"))
    loop.register(done, selectors.EVENT_READ, ("done", ""))
    while True:
        for key, _ in loop.select():
            what, name = key.data
            if what == "done":
                return
            if what == "accept":
                connection, _ = key.fileobj.accept()
                entry("server", name)["accepts"] += 1
                loop.register(connection, selectors.EVENT_READ, ("stream", name))
            elif what == "datagram":
                data, address = datagrams.recvfrom(65536)
                received("server", name, data)
                sent("server", name, datagrams.sendto(data, address))
            else:
                data = received("server", name, key.fileobj.recv(65536))
                if not data:
                    loop.unregister(key.fileobj)
                    key.fileobj.close()
                    continue
                if data.startswith(b"wait "):
                    time.sleep(int(data[5:]) / 1000)
                if not data.startswith(b"file"):
                    sent("server", name, key.fileobj.send(data))


def ask(peer, connection, data, is_timed=False):
    sent("client", peer, connection.send(data))
    start = time.monotonic_ns()
    left = len(data)
    while left:
        answer = received("client", peer, connection.recv(65536))
        if is_timed and left == len(data):
            entry("client", peer)["response_ns"].append(time.monotonic_ns() - start)
        left -= len(answer)


def connect(peer, family, address):
    connection = socket.socket(family, socket.SOCK_STREAM)
    connection.connect(address)
    entry("client", peer)["connects"] += 1
    return connection


def talk(addresses, path):
    for peer, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6), ("unix", socket.AF_UNIX)):
        for _ in range(3):
            connection = connect(peer, family, path if peer == "unix" else addresses[peer])
            for size in (1, 100, 1000):
                ask(peer, connection, b"x" * size)
            connection.close()
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.connect(addresses["udp"])
    for size in (1, 500, 0, 9000):
        sent("client", "udp", datagrams.send(b"y" * size))
        received("client", "udp", datagrams.recv(65536))
    connection = connect("slow", socket.AF_INET, addresses["slow"])
    for delay in DELAYS_MS:
        ask("slow", connection, b"wait %d" % delay, True)
    connection.close()
    connection = connect("file", socket.AF_INET, addresses["file"])
    with tempfile.TemporaryFile() as file:
        file.write(b"file" * 5000)
        file.flush()
        left, offset = 20000, 0
        while left:
            number = os.sendfile(connection.fileno(), file.fileno(), offset, left)
            entry("client", "file")["sent_bytes"] += number
            left -= number
            offset += number
    connection.shutdown(socket.SHUT_WR)
    connection.recv(1)
    connection.close()
    for _ in range(7):
        try:
            socket.create_connection(("127.0.0.1", addresses["nobody"]))
        except ConnectionRefusedError:
            pass


def listen(family, address):
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.bind(address)
    listener.listen()
    return listener


def main():
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "talk.sock")
    listeners = {name: listen(socket.AF_INET, ("127.0.0.1", 0)) for name in ("tcp", "slow", "file")}
    listeners["tcp6"] = listen(socket.AF_INET6, ("::1", 0))
    listeners["unix"] = listen(socket.AF_UNIX, path)
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.bind(("127.0.0.1", 0))
    nobody = listen(socket.AF_INET, ("127.0.0.1", 0))
    addresses = {name: listener.getsockname()[:2] for name, listener in listeners.items() if name != "unix"}
    addresses["udp"] = datagrams.getsockname()
    addresses["nobody"] = nobody.getsockname()[1]
    nobody.close()
    done, finish = os.pipe()
    answer, tell = os.pipe()
    server = os.fork()
    if server == 0:
        os.close(finish)
        serve(listeners, datagrams, done)
        os.write(tell, json.dumps(counts["server"]).encode())
        os._exit(0)
    time.sleep(0.05)
    talk(addresses, path)
    os.close(finish)
    os.close(tell)
    counts["server"] = json.loads(os.read(answer, 1 << 20))
    os.waitpid(server, 0)
    ports = {name: address[1] if name != "nobody" else address for name, address in addresses.items()}
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump({"pids": {"client": os.getpid(), "server": server}, "ports": ports, "path": path, "counts": counts}, file)
    os.unlink(path)
    os.rmdir(folder)


main()
