# SPDX-License-Identifier: BSD-2-Clause
"""Limited by others"""
import time
import urllib.request

from servers import nginx, postgres
from zoo import cpu_seconds, scenario

PEER = ("peer_bound",)


@scenario("peers", "fetch_price", "slow_backend", rules=PEER, short=True)
def slow_backend(zoo):
    zoo.plant("peers", "slow_backend", 7100)
    pid = zoo.plant("peers", "frontend", 7100).pid
    before = cpu_seconds(pid)
    yield ["-p", pid]
    zoo.prove(cpu_seconds(pid) - before < 1, "it uses little CPU time")


@scenario("peers", "nginx", "slow_backend|7110", rules=PEER)
def nginx_slow_backend(zoo):
    zoo.script("python3", "slow_backend.py", """
import http.server, socketserver, time
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        time.sleep(0.1)
        self.send_response(200); self.send_header("Content-Length", "3"); self.end_headers(); self.wfile.write(b"ok\\n")
    def log_message(self, *a): pass
class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
Server(("127.0.0.1", 7110), Handler).serve_forever()
""")
    nginx(zoo, 7111, "location / { proxy_pass http://127.0.0.1:7110; proxy_http_version 1.1; }")
    zoo.script("python3", "load.py", """
import threading, urllib.request
def client():
    while True:
        urllib.request.urlopen("http://127.0.0.1:7111/").read()
for _ in range(4): threading.Thread(target=client).start()
""")
    started = time.monotonic()
    urllib.request.urlopen("http://127.0.0.1:7111/").read()
    zoo.prove(time.monotonic() - started > 0.09, "an answer takes 100 ms")
    yield ["--comm", "nginx"]


@scenario("peers", "connect_with_retry", "sleep|retr", rules=("sleep_bound",))
def reconnect_loop(zoo):
    pid = zoo.plant("peers", "reconnect", 7199).pid
    fails = lambda: [line.split() for line in open(f"/proc/{pid}/net/snmp") if line.startswith("Tcp:")]
    before = fails()
    yield ["-p", pid]
    after = fails()
    column = before[0].index("AttemptFails")
    zoo.prove(int(after[1][column]) - int(before[1][column]) > 20, "/proc/PID/net/snmp: AttemptFails")


@scenario("peers", "send_chunk", "slow_client", rules=PEER)
def slow_client(zoo):
    pid = zoo.plant("peers", "sender", 7101).pid
    zoo.plant("peers", "slow_client", 7101)
    time.sleep(0.5)
    yield ["-p", pid]
    zoo.prove(cpu_seconds(pid) < 1, "it sends little")


@scenario("peers", "acquire_connection", rules=("lock_bound", "peer_bound"))
def pool_exhausted(zoo):
    zoo.plant("peers", "slow_backend", 7102, 20)
    pid = zoo.plant("peers", "pool_exhausted", 7102).pid
    yield ["-p", pid]
    zoo.prove(cpu_seconds(pid) < 1, "it waits")


@scenario("peers", "fetch_row", "slow_query|7103|slow_backend", rules=PEER)
def python_slow_backend(zoo):
    zoo.plant("peers", "slow_backend", 7103)
    pid = zoo.script("python3", "app.py", """
import socket
s = socket.create_connection(("127.0.0.1", 7103))
def fetch_row():
    s.sendall(b"row?")
    return s.recv(100)
while True:
    fetch_row()
""").pid
    yield ["-p", pid]
    zoo.prove(cpu_seconds(pid) < 1, "it waits")


@scenario("peers", "ask_with_timeout", "slow_backend|time-?out", rules=PEER + ("sleep_bound", "timeout_bound"))
def timeouts(zoo):
    zoo.plant("peers", "slow_backend", 7104, 500)
    pid = zoo.plant("peers", "timeouts", 7104).pid
    yield ["-p", pid]
    zoo.prove(cpu_seconds(pid) < 1, "it waits")


@scenario("peers", "pipe", rules=PEER)
def pipe_full(zoo):
    pid = zoo.start(["bash", "-c", "yes | while read -r line; do sleep 0.02; done"]).pid
    time.sleep(0.5)
    yield ["--comm", "yes"]
    zoo.prove(cpu_seconds(pid) < 3, "it waits")


@scenario("peers", "sleep|retr", "python3|reconnect", rules=("sleep_bound",))
def python_reconnect(zoo):
    pid = zoo.script("/usr/bin/python3", "worker.py", """
import socket, time
def open_session():
    while True:
        try:
            return socket.create_connection(("127.0.0.1", 7198))
        except OSError:
            time.sleep(0.05)
open_session()
""").pid
    fails = lambda: [line.split() for line in open(f"/proc/{pid}/net/snmp") if line.startswith("Tcp:")]
    before = fails()
    yield ["-p", pid]
    column = before[0].index("AttemptFails")
    zoo.prove(int(fails()[1][column]) - int(before[1][column]) > 20, "/proc/PID/net/snmp: AttemptFails")


@scenario("peers", "slow_backend|7105", rules=PEER)
def node_slow_backend(zoo):
    zoo.need("node")
    zoo.plant("peers", "slow_backend", 7105)
    open(f"{zoo.work}/shop.js", "w").write("""
const socket = require("net").connect(7105, "127.0.0.1");
socket.on("connect", () => socket.write("price?\\n"));
socket.on("data", () => socket.write("price?\\n"));
""")
    pid = zoo.start(["node", f"{zoo.work}/shop.js"]).pid
    time.sleep(1)
    yield ["-p", pid]
    zoo.prove(cpu_seconds(pid) < 1, "it waits")


@scenario("peers", "postgres", rules=PEER, seconds=5)
def client_of_postgres(zoo):
    database = postgres(zoo)
    open(f"{zoo.work}/slow.sql", "w").write("SELECT pg_sleep(0.05);\n")
    database.bench("-c", 1, "-T", 60, "-f", f"{zoo.work}/slow.sql")
    time.sleep(1)
    yield ["--comm", "pgbench"]
    zoo.prove(database.sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == "1", "pg_stat_activity: it sleeps")
