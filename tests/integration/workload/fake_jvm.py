# SPDX-License-Identifier: BSD-2-Clause
"""A process that looks like HotSpot to those who attach: it maps libjvm.so, and begins to listen at SIGQUIT.

usage: fake_jvm.py FOLDER answer|refuse|deaf

What it was asked is in FOLDER/asked. deaf: does not handle SIGQUIT.
"""
import mmap
import os
import signal
import socket
import sys
import threading
import time

folder, manner = sys.argv[1:]
pid = os.getpid()
name = f"/tmp/.java_pid{pid}"
library = os.open(folder + "/libjvm.so", os.O_RDWR | os.O_CREAT)
os.truncate(library, 4096)
held = mmap.mmap(library, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)
server = None


def listen(*ignored):
    global server
    attach = f"/proc/self/cwd/.attach_pid{pid}"
    if server or not os.path.exists(attach) or os.stat(attach).st_uid != os.geteuid():
        return
    server = socket.socket(socket.AF_UNIX)
    server.bind(name)
    server.listen()


signal.signal(signal.SIGTERM, lambda *ignored: sys.exit(0))
if manner != "deaf":
    signal.signal(signal.SIGQUIT, listen)


def be_alive():
    while True:
        time.sleep(0.005)


threading.Thread(target=be_alive, daemon=True).start()
print("ready", flush=True)
try:
    while True:
        if not server:
            signal.pause()
            continue
        client, _ = server.accept()
        asked = b""
        while asked.count(b"\0") < 5:
            asked += client.recv(256)
        with open(folder + "/asked", "ab") as file:
            file.write(asked.replace(b"\0", b"|") + b"\n")
        if manner == "answer":
            with open(f"/tmp/perf-{pid}.map", "w") as file:
                file.write("1000 100 method\n")
            client.sendall(b"0\nwritten")
        else:
            client.sendall(b"1\njava.lang.IllegalArgumentException: Unknown diagnostic command\x1b[0m")
        client.close()
finally:
    if server:
        os.unlink(name)
