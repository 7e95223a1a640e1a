#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Clients of `pkbpf serve` that mean no good: each gets the answer that is documented, and none keeps the history from growing.
usage: hostile_clients.py PORT FRONT_PID CONNECTIONS"""

import json
import re
import resource
import socket
import sys
import threading
import time
import urllib.request

PORT, FRONT, CONNECTIONS = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
HOST = f"127.0.0.1:{PORT}"
FRONT_MOST_KB = 160 << 10
INACTIVE_S = 10
failures = []


def fail(text):
    failures.append(text)
    print("FAILED:", text)


def talk(request, timeout=20):
    """The status of the answer to raw bytes; 0: closed without one, -1: no answer in time."""
    try:
        with socket.create_connection(("127.0.0.1", PORT), timeout=timeout) as connection:
            connection.settimeout(timeout)
            try:
                connection.sendall(request)
            except OSError:
                pass  # it was refused before all of it was sent
            answer = b""
            while b"\r\n" not in answer:
                try:
                    piece = connection.recv(4096)
                except ConnectionError:
                    return 0
                if not piece:
                    return 0
                answer += piece
            return int(answer.split()[1])
    except socket.timeout:
        return -1


def get(path, host=HOST, method="GET", more=""):
    return f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n{more}Connection: close\r\n\r\n".encode("latin-1")


# What is sent, and the statuses that are an answer to it.
REQUESTS = [
    ("a good one", get("/healthz"), {200}),
    ("another name", get("/metrics", "attacker.example"), {421}),
    ("another port", get("/metrics", f"127.0.0.1:{PORT + 1}"), {421}),
    ("a name that begins like ours", get("/metrics", "localhost.attacker.example"), {421}),
    ("another name for a path that is not there", get("/nothing", "attacker.example"), {421}),
    ("no name", b"GET /metrics HTTP/1.1\r\n\r\n", {400, 421}),
    ("a name of 60 KB", get("/metrics", "a" * 60000), {0, 400, 413, 414, 421, 431}),
    ("another site", get("/metrics", more="Origin: http://attacker.example\r\n"), {403}),
    ("no site", get("/metrics", more="Origin: null\r\n"), {403}),
    ("our name by another scheme", get("/metrics", more=f"Origin: https://{HOST}\r\n"), {403}),
    ("cross-site", get("/metrics", more="Sec-Fetch-Site: cross-site\r\n"), {403}),
    *((method, get("/api/v1/report", method=method), {405}) for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "X")),
    *(
        (path, get(path), {400, 404})
        for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//metrics", "/metrics/", "/metrics%00", "/api/v1/../../metrics",
                     "/history.js/..", "/\\..\\x", "/debug/pprof/heap", "/%ff%fe", "/.git/config", "http://attacker.example/metrics")
    ),
    *(
        (question, get("/api/v1/" + question), {400})
        for question in ("report?from=yesterdayish", "report?form=json", "series?step=-1s", "series?figure=%27%3B--", "profile?pid=-1", "profile?pid=99999999999999999999",
                         "profile?top=0", "report?by=x", "profile?kind=%00", "series?figure=" + "a" * 100, "windows?level=../slice", "diff?base=tomorrow", "report?from=5&to=4&x",
                         "report?" + "&".join(f"top={i}" for i in range(1, 40)), "profile?format=../../x", "series?step=1ns&from=-30d")
    ),
    ("a wait of a year", get("/debug/pprof/profile?seconds=31536000"), {400}),
    ("a process that is not there", get("/api/v1/profile?pid=4194303"), {404}),
    ("a path of 100 KB", get("/" + "a" * 100000), {0, 400, 413, 414, 431}),
    ("a header of 100 KB", get("/metrics", more="X: " + "a" * 100000 + "\r\n"), {0, 400, 413, 431}),
    ("5,000 headers", get("/metrics", more="".join(f"X{i}: y\r\n" for i in range(5000))), {0, 400, 413, 431}),
    ("a body of 1 MB", get("/metrics", method="POST", more="Content-Length: 1000000\r\n") + b"x" * 1000000, {0, 405, 413}),
    ("a body of -1 bytes", get("/metrics", more="Content-Length: -1\r\n"), {0, 400, 413}),
    ("a body without an end", get("/metrics", method="POST", more="Transfer-Encoding: chunked\r\n") + b"ffffffffffffffff\r\n", {0, 400, 405, 413}),
    ("no HTTP", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(256)) + b"\r\n\r\n", {0, 400, 505}),
    ("an old HTTP", b"GET /metrics\r\n\r\n", {0, 200, 400, 421, 505}),
    ("a header without an end", b"GET /metrics HTTP/1.1\r\nHost", {0, 400, 408}),
]


def windows():
    with urllib.request.urlopen(f"http://{HOST}/api/v1/windows?from=-2m", timeout=60) as answer:
        return json.load(answer)


def metric(name):
    with urllib.request.urlopen(f"http://{HOST}/metrics", timeout=60) as answer:
        found = re.search(rf"^{name} (\S+)$", answer.read().decode(), re.M)
        return float(found.group(1)) if found else None


def resident_kb():
    with open(f"/proc/{FRONT}/status") as status:
        return int(re.search(r"VmHWM:\s+(\d+)", status.read()).group(1))


def try_request(name, request, expected):
    for _ in range(3):
        status = talk(request)
        # Beside others there may be no room for a while.
        if status in expected or status not in (-1, 0, 503):
            break
        time.sleep(1)
    if status not in expected:
        fail(f"{name}: {status}, expected {sorted(expected)}")


def hold_slowly(stop):
    """Sends a byte now and then, for as long as it may."""
    try:
        with socket.create_connection(("127.0.0.1", PORT), timeout=5) as connection:
            for byte in get("/metrics"):
                connection.sendall(bytes([byte]))
                if stop.wait(0.5):
                    return
    except OSError:
        pass


def ask_and_not_read(stop):
    try:
        with socket.create_connection(("127.0.0.1", PORT), timeout=5) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
            connection.sendall(get("/api/v1/profile?format=html&from=-1m") * 4)
            stop.wait(10)
    except OSError:
        pass


def hold(count, sent, sources):
    """Connections that never ask for anything."""
    held = []
    for i in range(count):
        connection = socket.socket()
        connection.settimeout(5)
        try:
            connection.bind((f"127.0.0.{1 + i % sources}", 0))
            connection.connect(("127.0.0.1", PORT))
            connection.sendall(sent)
        except OSError:
            pass  # it had to make room already
        held.append(connection)
    return held


def try_beside(name, held):
    """Whatever others hold, a new client is answered before they end by themselves. While they come it may be told to ask again."""
    for path in ("/healthz", "/metrics"):
        for _ in range(10):
            began, status = time.monotonic(), 0
            while status == 0 and time.monotonic() - began < INACTIVE_S / 2:
                status = talk(get(path))
            if status != 200 or time.monotonic() - began > INACTIVE_S / 2:
                fail(f"{path} beside {name}: {status} after {time.monotonic() - began:.1f} s")
    for connection in held:
        connection.close()


def storm(count):
    for i in range(count):
        try:
            with socket.create_connection(("127.0.0.1", PORT), timeout=5) as connection:
                if i % 3 == 0:
                    connection.sendall(get("/healthz"))
                elif i % 3 == 1:
                    connection.sendall(b"GET /met")
        except OSError:
            pass


def main():
    began = time.time()
    threads = [threading.Thread(target=try_request, args=request) for request in REQUESTS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    idle = min(10 * CONNECTIONS, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 100)
    try_beside("300 half requests of one address", hold(300, b"GET /x HTTP/1.1\r\nX: ", 1))
    try_beside("300 half requests of 100 addresses", hold(300, b"GET /x HTTP/1.1\r\nX: ", 100))
    try_beside(f"{idle} idle connections", hold(idle, b"", 1))
    stop = threading.Event()
    holders = [threading.Thread(target=hold_slowly, args=(stop,)) for _ in range(60)] + [threading.Thread(target=ask_and_not_read, args=(stop,)) for _ in range(10)]
    for thread in holders:
        thread.start()
    storms = [threading.Thread(target=storm, args=(CONNECTIONS // 8,)) for _ in range(8)]
    for thread in storms:
        thread.start()
    for thread in storms:
        thread.join()
    time.sleep(1)
    stop.set()
    for thread in holders:
        thread.join()
    ended = time.time()
    for _ in range(200):
        answer = windows()
        if answer["windows"] and answer["windows"][-1][1] >= ended:
            break
        time.sleep(0.1)
    else:
        fail("the history does not grow any more")
    for gap in answer["gaps"]:
        if gap["to"] > began:
            fail(f"a gap: {gap}")
    if metric("pkbpf_slices_dropped_total") not in (0, None):
        fail("slices were dropped")
    if resident_kb() > FRONT_MOST_KB:
        fail(f"the front takes {resident_kb()} KiB")
    print(f"{len(REQUESTS)} requests, {len(holders)} slow clients, {CONNECTIONS} connections in {ended - began:.1f} s; front {resident_kb()} KiB at most")
    sys.exit(bool(failures))


main()
