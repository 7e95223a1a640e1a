#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""How soon `pkbpf serve` names the function of a server under load that became 10 % slower, and whether it stays quiet while
nothing changes. The rule compares with an hour before; when the quiet time is less than that, with as long before.
usage: bench_regression.py PKBPF [QUIET_MINUTES] [PERCENT]      (needs root; 6 + QUIET_MINUTES minutes, 125 by default)"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

PKBPF = os.path.realpath(sys.argv[1])
QUIET_S = 60 * float(sys.argv[2]) if len(sys.argv) > 2 else 60 * 125
PERCENT = int(sys.argv[3]) if len(sys.argv) > 3 else 10
OVER_S = 120
BASE = "hour" if QUIET_S > 3600 + OVER_S else "before"

# Requests at a fixed rate, so that CPU time per second is CPU time per request.
SERVER = r"""
#include <signal.h>
#include <stdint.h>
#include <time.h>
static volatile sig_atomic_t slower;
static volatile uint64_t sink;
static void note(int number) { (void)number; slower = 1; }
static __attribute__((noinline)) void turn(uint64_t rounds) { for (uint64_t i = 0; i < rounds; i++) sink = sink * 6364136223846793005ULL + i; }
static __attribute__((noinline)) void parse_request(uint64_t unit) { for (uint64_t i = 0; i < 2 * unit; i++) sink = sink * 6364136223846793005ULL + i; }
static __attribute__((noinline)) void find_row(uint64_t unit) { for (uint64_t i = 0; i < 5 * unit + (slower ? 5 * unit * PERCENT / 100 : 0); i++) sink = sink * 6364136223846793005ULL + i; }
static __attribute__((noinline)) void write_answer(uint64_t unit) { for (uint64_t i = 0; i < 3 * unit; i++) sink = sink * 6364136223846793005ULL + i; }
int main(void)
{
	struct timespec next, begin, end;
	uint64_t unit = 1000000, ns;
	signal(SIGUSR1, note);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	turn(50000000);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	ns = (uint64_t)(end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec;
	unit = 150000 * 50000000ULL / ns;	/* of ten of them: 1.5 ms */
	clock_gettime(CLOCK_MONOTONIC, &next);
	for (;;) {
		parse_request(unit);
		find_row(unit);
		write_answer(unit);
		next.tv_nsec += 5000000;	/* 200 requests a second */
		if (next.tv_nsec >= 1000000000) { next.tv_nsec -= 1000000000; next.tv_sec++; }
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, 0);
	}
}
"""


def told(folder):
    try:
        with open(f"{folder}/told") as lines:
            return [json.loads(line) for line in lines if line.strip()]
    except FileNotFoundError:
        return []


def of_server(folder):
    return [message for message in told(folder) if message["status"] == "firing"]


def main():
    with tempfile.TemporaryDirectory(prefix="pkbpf-regression-") as folder:
        os.chmod(folder, 0o755)
        with open(f"{folder}/server.c", "w") as source:
            source.write(SERVER)
        subprocess.run(["gcc", "-O1", "-g", f"-DPERCENT={PERCENT}", "-o", f"{folder}/rowserver", f"{folder}/server.c"], check=True)
        with open(f"{folder}/hook", "w") as hook:
            hook.write(f"#!/bin/sh\ncat >>{folder}/told\n")
        os.chmod(f"{folder}/hook", 0o755)
        with open(f"{folder}/serve.conf", "w") as config:
            config.write(
                f"listen = 127.0.0.1:0\nstore = {folder}/store\nevents = cpu\nfrequency = 199\ncomm = rowserver\ninterval = 5s\nmax-cpu = off\ndefault-alerts = no\n"
                f"[alert slower]\nwhen = cpu.function[*].self > +5%\nover = {OVER_S}s\nfor = 50s\nbase = {BASE}\nclear-for = 1h\nnotify = hook\n"
                f"[notify hook]\ncommand = {folder}/hook\n"
            )
        server = subprocess.Popen([f"{folder}/rowserver"])
        serve = subprocess.Popen([PKBPF, "serve", "--config", f"{folder}/serve.conf"], stderr=open(f"{folder}/said", "w"))
        try:
            time.sleep(QUIET_S)
            false_alarms = [message["text"] for message in of_server(folder)]
            before = len(false_alarms)
            os.kill(server.pid, signal.SIGUSR1)
            began = time.time()
            while time.time() - began < 330 and len(of_server(folder)) == before:
                time.sleep(1)
            after = of_server(folder)[before:]
            took = time.time() - began
        finally:
            serve.send_signal(signal.SIGINT)
            serve.wait()
            server.kill()
        print(f"quiet for {QUIET_S / 60:.1f} minutes: {before} false alarms {false_alarms}")
        if not after:
            print(f"find_row +{PERCENT} %: not named within {took:.0f} s")
            sys.exit(1)
        print(f"find_row +{PERCENT} %: named after {took:.0f} s: {[message['text'] for message in after]}\n{after[0]['url']}")
        sys.exit(not any(message["who"] == "find_row" for message in after) or before > 0)


main()
