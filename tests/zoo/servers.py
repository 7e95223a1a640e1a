# SPDX-License-Identifier: BSD-2-Clause
"""Servers of the distribution, in a folder of their own"""
import glob
import os
import subprocess
import time


class Postgres:
    def __init__(self, zoo, bin_, port):
        self.zoo, self.bin, self.port = zoo, bin_, port

    def as_postgres(self, *command):
        return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *map(str, command)]

    def sql(self, text):
        return subprocess.run(self.as_postgres("psql", "-qAtX", "-h", self.zoo.disk, "-p", self.port, "-d", "postgres", "-c", text),
                              check=True, capture_output=True, text=True).stdout.strip()

    def bench(self, *arguments):
        return self.zoo.start(self.as_postgres("pgbench", "-n", "-h", self.zoo.disk, "-p", self.port, *arguments, "postgres"), cwd=self.zoo.work)


def postgres(zoo, **settings):
    bins = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
    zoo.need(bins[-1] if bins else "postgres", "psql", "pgbench", "setpriv")
    database = Postgres(zoo, bins[-1], 7140)
    data = f"{zoo.disk}/data"
    subprocess.run(database.as_postgres(f"{bins[-1]}/initdb", "-D", data, "-A", "trust", "--no-sync"), check=True, stdout=subprocess.DEVNULL, cwd="/")
    options = {"unix_socket_directories": zoo.disk, "port": database.port, "listen_addresses": "", **settings}
    zoo.start(database.as_postgres(f"{bins[-1]}/postgres", "-D", data, *[f"--{key}={value}" for key, value in options.items()]))
    for _ in range(100):
        if subprocess.run(database.as_postgres("pg_isready", "-q", "-h", zoo.disk, "-p", database.port)).returncode == 0:
            return database
        time.sleep(0.1)
    raise RuntimeError("postgres does not start")


def nginx(zoo, port, location):
    zoo.need("nginx")
    open(f"{zoo.work}/nginx.conf", "w").write(f"""
worker_processes 2; daemon off; pid {zoo.work}/nginx.pid; error_log /dev/null;
user root;
events {{ worker_connections 256; }}
http {{ access_log off; server {{ listen 127.0.0.1:{port}; {location} }} }}
""")
    process = zoo.start(["nginx", "-p", zoo.work, "-c", f"{zoo.work}/nginx.conf"])
    time.sleep(0.5)
    zoo.prove(process.poll() is None, "nginx ended")
    return process


def redis(zoo, port=7150):
    zoo.need("redis-server")
    zoo.start(["redis-server", "--port", port, "--save", "", "--dir", zoo.work])
    time.sleep(0.5)
    return port


def java(zoo, name, text, *options):
    zoo.need("java", "javac")
    open(f"{zoo.work}/{name}.java", "w").write(text)
    subprocess.run(["javac", "-d", zoo.work, f"{zoo.work}/{name}.java"], check=True)
    process = zoo.start(["java", *options, "-cp", zoo.work, name])
    time.sleep(1.5)
    zoo.prove(process.poll() is None and os.path.exists(f"/proc/{process.pid}"), "java ended")
    return process


def go(zoo, name, text):
    zoo.need("go")
    open(f"{zoo.work}/{name}.go", "w").write(text)
    subprocess.run(["go", "build", "-o", f"{zoo.work}/{name}", f"{zoo.work}/{name}.go"], check=True, cwd=zoo.work,
                   env={**os.environ, "GOCACHE": "/tmp/zoo-go-cache", "GO111MODULE": "off"})
    process = zoo.start([f"{zoo.work}/{name}"])
    time.sleep(0.5)
    zoo.prove(process.poll() is None, f"{name} ended")
    return process
