#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# alone: it loads the machine with builds, a database and a browser
# Lanes of stock programs in headless Chromium: a build with gcc, PostgreSQL under pgbench, a thread pool of Python and a Go program.
# At moments of several threads the picture says what the single events say: state, begin, end, stack, CPU sample.
# usage: test_lanes_programs.sh PKBPF WORKLOAD_FOLDER [PICTURES]
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
# shellcheck source=programs.sh
. "$here/programs.sh"
for program in chromium chromedriver python3; do
	command -v $program >/dev/null || skip "there is no $program"
done
pictures=${3:-$work}
cleanup() { programs_stop; }
kinds=(--by thread -e "cpu,offcpu,locks" -F 199 --trace --trace-min 1ns)

# compare NAME: the page of a program with its events
compare() { checker "$here/lanes_programs_check.py" "$work/$1.html" "$work/$1.events.txt" "$pictures/lanes-$1"; }

begin "a build with gcc"
mkdir build
for ((i = 0; i < 6; i++)); do
	{
		printf '#include <%s>\n' stdio.h stdlib.h string.h
		for ((j = 0; j < 40; j++)); do
			echo "int f${i}_$j(const char *text, int n) { int sum = 0; for (int i = 0; i < n; i++) for (int k = 0; text[k]; k++) sum = sum * 31 + (text[k] ^ i) % (k + $j + 1); return sum + (int)strlen(text); }"
		done
	} >"build/part$i.c"
done
printf 'all: %s\n%%.o: %%.c\n\tgcc -O2 -c $< -o $@\n' "$(printf 'part%d.o ' 0 1 2 3 4 5)" >build/Makefile
if command -v make >/dev/null && command -v gcc >/dev/null; then
	record "${kinds[@]}" -o gcc.html -o gcc.events.txt -- make -C build -j 2 && compare gcc
else
	not_checked "there is no make or no gcc"
fi

begin "PostgreSQL under pgbench"
programs_folder=$work
mkdir postgres
record_pids() { (cd "$work" && record "${kinds[@]}" -d 2 -p "$1" -o postgres.html -o postgres.events.txt); }
if (cd postgres && program_postgres 5); then
	compare postgres
elif [ -e postgres.html ]; then
	fail "the server was not profiled"
else
	not_checked "there is no PostgreSQL, or it does not start"
fi

begin "a thread pool of Python"
cat >pool.py <<-'P'
	import concurrent.futures
	import hashlib
	import threading
	import time

	lock = threading.Lock()

	def work(number):
	    if number % 3 == 0:
	        time.sleep(0.004)
	    with lock:
	        total = sum(i * i for i in range(3000))
	    return hashlib.sha256(bytes(300000)).hexdigest(), total

	with concurrent.futures.ThreadPoolExecutor(6) as pool:
	    assert len(list(pool.map(work, range(600)))) == 600
P
record "${kinds[@]}" -o python.html -o python.events.txt -- "$(distribution_python || command -v python3)" pool.py && compare python

begin "a Go program"
cat >work.go <<-'G'
	package main

	import (
		"crypto/sha256"
		"fmt"
		"os"
		"time"
	)

	func main() {
		jobs, done := make(chan int), make(chan int)
		for w := 0; w < 4; w++ {
			go func() {
				for job := range jobs {
					if job%4 == 0 {
						time.Sleep(3 * time.Millisecond)
					}
					data, _ := os.ReadFile("/proc/self/status")
					for i := 0; i < 200; i++ {
						sum := sha256.Sum256(data)
						data = append(data, sum[0])
					}
					done <- len(data)
				}
			}()
		}
		go func() {
			for job := 0; job < 600; job++ {
				jobs <- job
			}
		}()
		all := 0
		for job := 0; job < 600; job++ {
			all += <-done
		}
		fmt.Println(all > 0)
	}
G
if command -v go >/dev/null && GO111MODULE=off GOCACHE=$work/cache HOME=$work GOFLAGS='' go build -o work_go work.go >go.log 2>&1; then
	record "${kinds[@]}" -o go.html -o go.events.txt -- ./work_go && compare go
else
	not_checked "there is no Go compiler that works: $(head -n 1 go.log 2>/dev/null)"
fi
conclude
