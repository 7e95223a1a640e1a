#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Regions between USDT probes: exact counts, programs that go on as before, PostgreSQL's and a JVM's own figures.
# usage: test_usdt.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
evidence=(said)

started=()
cleanup() {
	[ ${#started[@]} = 0 ] || kill "${started[@]}" 2>/dev/null
	wait
}

begin "pairs of a program, in its children, and across threads"
"$workloads/probes" 40 >alone
"$pkbpf" --progress never -e offcpu --region 'step=usdt:app:step__start..step__done' --region 'odd=usdt:app:odd__start..odd__done' \
	--region 'try=usdt:app:try__start..try__done' --region 'job=usdt:app:job__start..job__done@0' -o probes.json -- \
	"$workloads/probes" 40 >watched 2>said || fail "status $?"
diff alone watched || fail "the program says something else"
checker "$here/regions_check.py" counts probes.json step=80 try=20+20 job=40
grep -q '"name":"odd"' probes.json && fail "probes on nops of five bytes"
grep -q '2 USDT probes .* not watched' said || fail "nothing is said about refused probes: $(cat said)"

# semaphore PID: what the kernel has counted
semaphore() {
	python3 - "$1" "$workloads/probes" <<-'END'
		import re, struct, subprocess, sys
		pid, path = sys.argv[1:]
		symbols = subprocess.run(["nm", path], capture_output=True, text=True).stdout
		address = int(re.search(r"(\w+) . app_semaphore", symbols)[1], 16)
		base = next(int(line.split("-")[0], 16) for line in open(f"/proc/{pid}/maps") if path in line)
		with open(f"/proc/{pid}/mem", "rb") as memory:
		    memory.seek(base + address)
		    print(struct.unpack("H", memory.read(2))[0])
	END
}

begin "semaphores are raised, and put back also when pkbpf is killed"
"$workloads/probes" &
started+=($!)
"$pkbpf" -v -e offcpu --region 'step=usdt:app:step__start..step__done' -p "${started[0]}" -d 60 >said 2>&1 &
profiler=$!
wait_until 60 profiling said || fail "it does not begin"
grep -q "watching the regions of .*probes" said || fail "its probes come after the beginning"
raised=$(semaphore "${started[0]}")
kill -KILL $profiler
wait $profiler 2>/dev/null
restored() { [ "$(semaphore "${started[0]}")" = 0 ]; }
[ "$raised" -ge 2 ] || fail "the semaphore is $raised while it is watched"
wait_until 60 restored || fail "the semaphore is $(semaphore "${started[0]}") afterwards"
kill "${started[0]}"

postgres_says() { "${run[@]}" psql -h "$PWD" -Atqc "$1" postgres; }

begin "PostgreSQL: as many queries as it has counted, and as long"
bin=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
if [ -x "$bin/initdb" ] && readelf -n "$bin/postgres" 2>/dev/null | grep -q query__start; then
	run=(setpriv --reuid=postgres --regid=postgres --clear-groups env "HOME=$PWD")
	chown postgres . && chmod 711 .
	"${run[@]}" "$bin/initdb" -D data -A trust --no-sync >said 2>&1 || fail initdb
	"${run[@]}" "$bin/postgres" -D data -k "$PWD" -c listen_addresses= -c fsync=off \
		-c shared_preload_libraries=pg_stat_statements >server 2>&1 &
	started+=($!)
	wait_until 60 "${run[@]}" "$bin/pg_isready" -q -h "$PWD" || fail "no server: $(tail -n 3 server)"
	postgres_says 'create extension pg_stat_statements' >said 2>&1
	"$pkbpf" -v -e offcpu --regions -p "${started[-1]}" -o postgres.json >said 2>&1 &
	profiler=$!
	wait_until 60 profiling said || fail "it does not begin"
	postgres_says 'select pg_stat_statements_reset()' >/dev/null
	for ((i = 0; i < 20; i++)); do
		echo "select sum(i), pg_sleep(0.02) from generate_series(1, 20000) i;"
		echo "select 1/0;"
	done >queries.sql
	"${run[@]}" psql -h "$PWD" -qf queries.sql postgres >/dev/null 2>&1
	figures=$(postgres_says "select sum(calls), sum(total_exec_time) from pg_stat_statements where query like '%generate_series%'")
	kill -INT $profiler
	wait $profiler || fail "status $?"
	checker - "$figures" <<-'END'
		import json, sys
		from checks import check
		calls, time_ms = sys.argv[1].split("|")
		names = {region["name"]: region for region in json.load(open("postgres.json"))["regions_by_name"]}
		execute, query = names["query-execute"], names["query"]
		# The two that ask the server for its figures count as well.
		check(query["count"] == int(calls) + 2, f"{query['count']} queries, PostgreSQL counts {calls} and 2")
		check(query["not_left"] == 20, f"{query['not_left']} of 20 queries failed")
		ratio = execute["wall_ns"] / 1e6 / float(time_ms)
		check(0.95 < ratio < 1.05, f"{ratio:.3f} of PostgreSQL's own time")
	END
	kill "${started[-1]}"
else
	not_checked "no PostgreSQL with probes"
fi

begin "JVM: as many collections as its log has"
jvm=$(ls /usr/lib/jvm/*/lib/server/libjvm.so 2>/dev/null | head -n 1)
if [ -n "$jvm" ] && readelf -n "$jvm" 2>/dev/null | grep -q gc__begin; then
	cat >Gc.java <<-'END'
		public class Gc {
		    public static void main(String[] arguments) {
		        for (int i = 0; i < 12; i++)
		            System.gc();
		    }
		}
	END
	java=$(dirname "$jvm")/../../bin/java
	"$pkbpf" -q -e offcpu --regions -o jvm.json -- "$java" -XX:+UseSerialGC -Xlog:gc:file=gc.log Gc.java >said 2>&1 || fail "status $?"
	collections=$(grep -cE 'GC\([0-9]+\) Pause' gc.log)
	checker "$here/regions_check.py" counts jvm.json "gc=$collections"
else
	not_checked "no JVM with probes"
fi
conclude
