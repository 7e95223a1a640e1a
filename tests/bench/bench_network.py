#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What -e network of the whole host costs: 1-byte ping-pongs over loopback, and redis-benchmark, with and without it in
turns. Per operation: the rate, and the CPU time of both ends (which other work on the machine hardly changes).

usage: bench_network.py PKBPF [TURNS]
"""
import os
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

PING_PONG = r"""
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct sockaddr_in to = {.sin_family = AF_INET};
	socklen_t size = sizeof(to);
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd, one = 1;
	char byte = 'x';

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (argc < 2 || bind(listener, (void *)&to, size) || listen(listener, 1))
		return 1;
	getsockname(listener, (void *)&to, &size);
	if (!fork()) {
		fd = accept(listener, 0, 0);
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		while (recv(fd, &byte, 1, 0) == 1)
			send(fd, &byte, 1, 0);
		_exit(0);
	}
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(fd, (void *)&to, size))
		return 1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	for (int i = atoi(argv[1]); i; i--) {
		send(fd, &byte, 1, 0);
		recv(fd, &byte, 1, 0);
	}
	close(fd);
	wait(0);
	return 0;
}
"""
OPERATIONS = 60000


def children_cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cpu_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(command, server=None):
    """Operations per second, and microseconds of CPU time for each."""
    before, start = children_cpu() + (cpu_of(server) if server else 0), time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    seconds = time.monotonic() - start
    cpu = children_cpu() + (cpu_of(server) if server else 0) - before
    return OPERATIONS / seconds, cpu / OPERATIONS * 1e6


def compare(name, pkbpf, turns, run, folder):
    ratios, costs, rates = [], [], []
    run()
    for turn in range(turns):
        results = {}
        for watched in (True, False) if turn % 2 else (False, True):
            if watched:
                profiler = subprocess.Popen([pkbpf, "-q", "-e", "network", "-o", os.path.join(folder, "report.json")])
                time.sleep(1.5)
            results[watched] = run()
            if watched:
                profiler.send_signal(signal.SIGINT)
                profiler.wait()
        rates.append(results[False][0])
        ratios.append(results[True][0] / results[False][0])
        costs.append(results[True][1] / results[False][1])
    print(f"{name:10} {statistics.median(rates):10.0f}/s without; with: {statistics.median(ratios):.3f} of that rate "
          f"({min(ratios):.3f} to {max(ratios):.3f}), {statistics.median(costs):.3f} of the CPU time "
          f"({min(costs):.3f} to {max(costs):.3f})")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main():
    pkbpf, turns = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 7
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "ping_pong")
        subprocess.run(["gcc", "-O2", "-x", "c", "-o", program, "-"], input=PING_PONG, text=True, check=True)
        compare("ping-pong", pkbpf, turns, lambda: measure([program, str(OPERATIONS)]), folder)
        if not shutil.which("redis-server"):
            return
        port = str(free_port())
        with subprocess.Popen(["redis-server", "--port", port, "--save", ""], stdout=subprocess.DEVNULL) as server:
            time.sleep(0.5)
            command = ["redis-benchmark", "-p", port, "-q", "-n", str(OPERATIONS), "-c", "20", "-t", "get"]
            compare("redis GET", pkbpf, turns, lambda: measure(command, server.pid), folder)
            server.terminate()


main()
