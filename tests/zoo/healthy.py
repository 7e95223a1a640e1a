# SPDX-License-Identifier: BSD-2-Clause
"""Nothing is wrong"""
import time

from servers import go, java, nginx, postgres, redis
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


@healthy()
def java_queue(zoo):
    """producer and consumers are threads of one kind"""
    yield ["-p", java(zoo, "Pipeline", """
public class Pipeline {
    static final java.util.concurrent.LinkedBlockingQueue<Integer> jobs = new java.util.concurrent.LinkedBlockingQueue<>();
    static void consume() throws Exception { long x = jobs.take(); for (int j = 0; j < 200000; j++) x = x * 31 + j; if (x == 1) System.out.println(x); }
    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < 4; i++)
            new Thread(() -> { try { for (;;) consume(); } catch (Exception e) { } }).start();
        new Thread(() -> { try { for (int i = 0; ; i++) { jobs.put(i); Thread.sleep(5); } } catch (Exception e) { } }).start();
    }
}
""").pid]


@healthy()
def python_queue(zoo):
    yield ["-p", zoo.script("python3", "pipeline.py", """
import queue, threading, time
jobs = queue.Queue()
def consume():
    while True:
        sum(range(jobs.get()))
def produce():
    while True:
        jobs.put(20000)
        time.sleep(0.005)
for _ in range(4):
    threading.Thread(target=consume).start()
threading.Thread(target=produce).start()
""").pid]


@healthy()
def redis_busy(zoo):
    """all of a core, as intended"""
    port = redis(zoo)
    zoo.need("redis-benchmark")
    zoo.start(["redis-benchmark", "-p", port, "-q", "-l", "-t", "get", "-P", "16", "-c", "20"])
    time.sleep(0.5)
    yield ["--comm", "redis-server"]


@healthy()
def node_server(zoo):
    zoo.need("node")
    open(f"{zoo.work}/server.js", "w").write("""
require("http").createServer((request, response) => { let x = 0; for (let i = 0; i < 100000; i++) x += i; response.end(String(x)); }).listen(7160);
""")
    pid = zoo.start(["node", f"{zoo.work}/server.js"]).pid
    time.sleep(1)
    zoo.script("python3", "load.py", """
import time, urllib.request
while True:
    urllib.request.urlopen("http://127.0.0.1:7160/").read()
    time.sleep(0.005)
""")
    yield ["-p", pid]


@healthy()
def paced_client(zoo):
    zoo.plant("peers", "fast_backend", 7106, 0)
    yield ["-p", zoo.plant("peers", "paced_client", 7106).pid]


@healthy()
def shell_loop(zoo):
    yield ["-p", zoo.script("bash", "watch.sh", "while :; do read -r load rest </proc/loadavg; sleep 1; done\n").pid]


@healthy()
def go_service(zoo):
    """goroutines that wait for ticks and channels"""
    yield ["-p", go(zoo, "service", """
package main
import "time"
func work(jobs chan int) { for n := range jobs { x := 0; for i := 0; i < n; i++ { x = x*31 + i } ; if x == 1 { println(x) } } }
func main() {
	jobs := make(chan int)
	for i := 0; i < 4; i++ { go work(jobs) }
	for { jobs <- 200000; time.Sleep(5 * time.Millisecond) }
}
""").pid]
