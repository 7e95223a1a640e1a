#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A pipeline, a parent that reads what its child writes, and connections of UNIX sockets that succeed and fail; or whether a
report has them.

usage: network_pipes.py FOLDER [REPORT]
"""
import json
import os
import socket
import subprocess
import sys
import time

from checks import check, read_report

MESSAGES, BYTES, DELAY, SPLICED = 300, 5000, 0.4, 7000


def write_all():
    for _ in range(MESSAGES):
        os.write(1, b"x" * BYTES)


def read_all():
    while os.read(0, 65536):
        pass


def connect(path, is_blocking=True):
    connection = socket.socket(socket.AF_UNIX)
    connection.setblocking(is_blocking)
    try:
        connection.connect(path)
    except OSError:
        connection.close()
    return connection


def sockets(path):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(1)
    connected = [connect(path) for _ in range(2)]
    for _ in range(3):
        connect(path, False)
    connected += [listener.accept()[0] for _ in range(2)]
    listener.close()
    for _ in range(5):
        connect(path)
    os.unlink(path)
    for _ in range(4):
        connect(path)


def splice():
    """Bytes that go from a connection into a pipe without a message that the kernel tells of."""
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as client:
        server = listener.accept()[0]
        client.sendall(b"x" * SPLICED)
        ends = os.pipe()
        moved = 0
        while moved < SPLICED:
            moved += os.splice(server.fileno(), ends[1], SPLICED - moved)
        for end in ends:
            os.close(end)
        server.close()


def talk(folder):
    writer = subprocess.Popen([sys.executable, __file__, folder, "write"], stdout=subprocess.PIPE)
    reader = subprocess.Popen([sys.executable, __file__, folder, "read"], stdin=writer.stdout)
    writer.stdout.close()
    writer.wait(), reader.wait()
    child = subprocess.Popen([sys.executable, __file__, folder, "late"], stdout=subprocess.PIPE)
    child.stdout.read()
    child.wait()
    sockets(folder + "/sock")
    splice()
    with open(folder + "/pids", "w", encoding="utf-8") as file:
        json.dump({"writer": writer.pid, "reader": reader.pid, "child": child.pid, "parent": os.getpid()}, file)


def row_of(report, pid, peer_pid):
    rows = [row for row in report["peers"] if row.get("pid") == pid and row["protocol"] == "pipe" and row.get("peer_pid") == peer_pid]
    check(len(rows) > 0, f"a pipe of {pid} to {peer_pid}")
    return max(rows, key=lambda row: row["sent_bytes"] + row["received_bytes"])


def judge(folder, report):
    with open(folder + "/pids", encoding="utf-8") as file:
        pids = json.load(file)
    row = row_of(report, pids["writer"], pids["reader"])
    check((row["sent_messages"], row["sent_bytes"], row["received_bytes"]) == (MESSAGES, MESSAGES * BYTES, 0), f"written: {row}")
    check(row["peer"].endswith(f"({pids['reader']})"), f"the other end has a name: {row['peer']}")
    row = row_of(report, pids["reader"], pids["writer"])
    check((row["received_bytes"], row["sent_bytes"]) == (MESSAGES * BYTES, 0), f"read: {row['received_bytes']}")
    row = row_of(report, pids["parent"], pids["child"])
    check(row["waits"]["total_ns"] >= DELAY * 0.9e9, f"the parent waited for its child: {row['waits']['total_ns']} ns")
    named = [row for row in report["peers"] if row.get("pid") == pids["parent"] and row.get("name") == folder + "/sock"]
    clients = [row for row in named if row["role"] == "client"]
    failures = sorted((failure["errno"], failure["count"]) for row in clients for failure in row["failures"])
    check([row["connects"]["count"] for row in clients] == [2], f"two connections: {named}")
    check(failures == [(2, 4), (11, 3), (111, 5)], f"nothing there, full, refused: {failures}")
    check([row["accepted"] for row in named if row["role"] == "server"] == [2], "and two accepted")


    counts = [counter["count"] for counter in report["counters"] if counter["name"] == "NETWORK_SPLICED"]
    check(counts == [SPLICED], f"what splice() takes from a socket is in no row, which is said: {counts}")


def main():
    what = sys.argv[2] if len(sys.argv) > 2 else "talk"
    if what == "write":
        write_all()
    elif what == "read":
        read_all()
    elif what == "late":
        time.sleep(DELAY)
        os.write(1, b"done")
    elif what == "talk":
        talk(sys.argv[1])
    else:
        judge(sys.argv[1], read_report(what))


main()
