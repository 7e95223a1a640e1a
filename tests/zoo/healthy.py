# SPDX-License-Identifier: BSD-2-Clause
"""Nothing is wrong"""
import time

from servers import java, nginx, postgres, redis
from zoo import healthy


@healthy(short=True)
def workers_idle(zoo):
    yield ["-p", zoo.plant("locks", "workers_idle").pid]


@healthy()
def workers_semaphore(zoo):
    yield ["-p", zoo.plant("locks", "workers_sem").pid]


@healthy()
def batch_job(zoo):
    yield ["-p", zoo.start(["bash", "-c", "exec -a batch gzip -9 -c </dev/zero >/dev/null"]).pid]


@healthy(seconds=6)
def sawtooth(zoo):
    pid = zoo.plant("memory", "sawtooth").pid
    time.sleep(4)
    yield ["-p", pid]


@healthy()
def nginx_static(zoo):
    nginx(zoo, 7121, f"location / {{ root {zoo.work}; }}")
    open(f"{zoo.work}/index.html", "w").write("hello\n" * 100)
    zoo.script("python3", "load.py", """
import time, urllib.request
while True:
    urllib.request.urlopen("http://127.0.0.1:7121/index.html").read()
    time.sleep(0.003)
""")
    yield ["--comm", "nginx"]


@healthy()
def redis_moderate(zoo):
    port = redis(zoo)
    zoo.script("python3", "load.py", f"""
import socket, time
s = socket.create_connection(("127.0.0.1", {port}))
while True:
    s.sendall(b"INCR n\\r\\n"); s.recv(100)
    time.sleep(0.002)
""")
    yield ["--comm", "redis-server"]


@healthy(seconds=5)
def postgres_selects(zoo):
    database = postgres(zoo)
    database.sql("CREATE TABLE account (id int PRIMARY KEY, n int); INSERT INTO account SELECT i, 0 FROM generate_series(1, 10000) i")
    open(f"{zoo.work}/read.sql", "w").write("\\\\set id random(1, 10000)\nSELECT n FROM account WHERE id = :id;\n")
    database.bench("-c", 2, "-T", 60, "-R", 200, "-f", f"{zoo.work}/read.sql")
    time.sleep(1)
    yield ["--comm", "postgres"]


@healthy()
def python_timer(zoo):
    yield ["-p", zoo.script("python3", "ticker.py", """
import time
def tick():
    sum(range(20000))
while True:
    tick()
    time.sleep(0.05)
""").pid]


@healthy()
def idle_shell(zoo):
    yield ["-p", zoo.start(["sleep", "60"]).pid]


@healthy()
def java_idle(zoo):
    yield ["-p", java(zoo, "Service", """
public class Service {
    public static void main(String[] arguments) throws Exception {
        var jobs = new java.util.concurrent.LinkedBlockingQueue<Integer>();
        for (int i = 0; i < 4; i++)
            new Thread(() -> { try { for (;;) { long x = jobs.take(); for (int j = 0; j < 200000; j++) x = x * 31 + j; if (x == 1) System.out.println(x); } }
                               catch (Exception e) { } }).start();
        for (int i = 0; ; i++) { jobs.put(i); Thread.sleep(10); }
    }
}
""").pid]


@healthy()
def compile_job(zoo):
    lines = "".join(f"int f{i}(int x) {{ return x * {i} + {i % 7}; }}\n" for i in range(20000))
    open(f"{zoo.work}/large.c", "w").write(lines)
    yield ["-p", zoo.start(["bash", "-c", f"while :; do gcc -O2 -c -o /dev/null {zoo.work}/large.c; done"]).pid]
