#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Connections that a client gives up, that end by a reset before they are read, and that a thread with a name of its own
accepts. Prints the ports of the three, and the number of those that were given up."""
import ctypes
import os
import socket
import struct
import threading

libc = ctypes.CDLL(None)


def listen(backlog):
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(backlog)
    return listener, listener.getsockname()[1]


full, full_port = listen(0)
kept, given_up = [], 0
for _ in range(4):
    client = socket.socket()
    client.settimeout(0.2)
    try:
        client.connect(full.getsockname())
        kept.append(client)
    except TimeoutError:
        given_up += 1
        client.close()

reset, reset_port = listen(8)
for _ in range(5):
    client = socket.create_connection(reset.getsockname())
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    server, _ = reset.accept()
    client.close()
    try:
        server.recv(1)
    except ConnectionResetError:
        pass
    server.close()

named, named_port = listen(8)


def answer():
    libc.prctl(15, b"a-thread", 0, 0, 0)
    connection, _ = named.accept()
    while connection.recv(10):
        connection.sendall(b"y")


if not os.fork():
    libc.prctl(15, b"a-process", 0, 0, 0)
    thread = threading.Thread(target=answer)
    thread.start()
    thread.join()
    os._exit(0)
with socket.create_connection(named.getsockname()) as client:
    for _ in range(20):
        client.sendall(b"x")
        client.recv(10)
os.wait()
print(full_port, reset_port, named_port, given_up)
