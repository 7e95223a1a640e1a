#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# alone: its findings are about the host
# What the report says limits whom, on machines where it is known: too few CPUs, requests held back, nothing but peers.
# usage: test_findings.sh PKBPF WORKLOAD_FOLDER
work_below=/var/tmp # on a disk
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

# shellcheck source=programs.sh
. "$here/programs.sh"

# shellcheck disable=SC2034 # programs.sh works there
programs_folder=$work
cgroup=
# stop_all: what runs in the background, and has not been waited for; one that is stopped, too
stop_all() {
	local started
	programs_stop
	mapfile -t started < <(jobs -p)
	[ ${#started[@]} = 0 ] || kill -KILL "${started[@]}" 2>/dev/null
	wait 2>/dev/null
}
cleanup() {
	stop_all
	[ -z "$cgroup" ] || rmdir "$cgroup"
}

# found REPORT RULE PATTERN…: there is a finding of the rule whose text matches all of them
found() {
	python3 - "$@" <<'P'
import json, re, sys
report, rule, patterns = json.load(open(sys.argv[1])), sys.argv[2], sys.argv[3:]
texts = [f["text"] for f in report["findings"] if f["rule"] == rule]
if any(all(re.search(pattern, text) for pattern in patterns) for text in texts):
    sys.exit(0)
print(f"no finding {rule} with {patterns}; CPUs {report['host'].get('busy_percent')} % busy; there is:")
for f in report["findings"]:
    print(f"  {f['rule']}: {f['text']}")
sys.exit(1)
P
}

begin "a database, a web server, disk reads and a spinner for each CPU: everybody waits for CPUs"
all_together() {
	local burners=()
	cd "$work" || return 1
	for _ in $(seq "$(nproc)"); do
		(exec -a burner bash -c 'while :; do :; done') &
		burners+=($!)
	done
	"$pkbpf" -q -d 4 -o "$work/starved.json" --full -o "$work/starved.txt" 2>"$work/err.txt" || fail "profiling: $(cat "$work/err.txt")"
	kill "${burners[@]}"
	wait "${burners[@]}" 2>/dev/null
	return 0 # not the burners' status
}
record_pids() { # of the database, once its clients are there
	mkdir "$work/nginx" && cd "$work/nginx" || return 1
	record_pids() { all_together; }
	program_nginx 10
}
mkdir postgres
(
	trap 'exit 130' INT TERM HUP
	trap stop_all EXIT
	cd postgres || exit 1
	program_postgres 10
	status=$?
	[ $failures = 0 ] || exit 1
	exit $status
)
status=$?
case $status in
0)
	# What the hypervisor takes is no work of this machine's.
	stolen=$(python3 -c 'import json; h = json.load(open("starved.json"))["host"]; print(int(h.get("steal_ns", 0) * 10 > h["busy_ns"]))')
	[ "$stolen" = 0 ] || not_checked "CPU-starved: the hypervisor ran other guests"
	[ "$stolen" = 1 ] || found starved.json cpu_starved '^CPU-starved: .* \((9[0-9]|100) % busy\)' 'most of it used by ' 'run-queue wait p99 ' ||
		fail "CPU-starved"
	grep -q '^Findings$' starved.txt || fail "no findings in the text"
	;;
77) not_checked "CPU-starved: a server is not installed" ;;
*) fail "CPU-starved: status $status" ;;
esac

begin "direct reads, limited above the device to twenty per second"
limit_reads() { # cgroup version 2, or 1
	local number
	number=$(stat -c '%Hd:%Ld' "$work")
	for root in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/blkio; do
		cgroup=$root/pkbpf-findings
		[ -e "$root/cgroup.procs" ] || continue
		mkdir "$cgroup" 2>/dev/null || continue
		echo "$number riops=20" 2>/dev/null >"$cgroup/io.max" && return 0
		echo "$number 20" 2>/dev/null >"$cgroup/blkio.throttle.read_iops_device" && return 0
		rmdir "$cgroup"
	done
	cgroup=
	return 1
}
if limit_reads; then
	dd if=/dev/zero of=file bs=1M count=64 oflag=direct status=none
	cp "$(command -v dd)" limited # a name of its own
	(echo $BASHPID >"$cgroup/cgroup.procs" && exec ./limited if=file of=/dev/null bs=4k iflag=direct 2>/dev/null) &
	load=$!
	# shellcheck disable=SC2016
	wait_until 60 awk '$1 == "read_bytes:" { exit $2 < 80000 }' /proc/$load/io || fail "nothing is read"
	"$pkbpf" -q -d 3 -o held.json 2>err.txt || fail "profiling: $(cat err.txt)"
	kill $load
	wait $load 2>/dev/null
	# shellcheck disable=SC2016
	found held.json io_limit "^limited $load: waits for block I/O that a limit of its cgroup holds back" 'pkbpf-findings' 'in `.*read`' \
		'; ([5-9][0-9]|100) % of wall time ' || fail "held back"
else
	not_checked "requests held back: this machine's disk cannot be limited"
fi

begin "a spinner that may use a twentieth of a CPU, which it gets beside others, too"
[ -z "$cgroup" ] || rmdir "$cgroup"
if limit_cpu findings 5000; then
	(echo $BASHPID >"$cgroup/cgroup.procs" && exec -a throttled bash -c 'while :; do :; done') &
	load=$!
	wait_until 60 grep -q "^$load$" "$cgroup/cgroup.procs" || fail "nobody is limited"
	for targets in "-p $load" ""; do
		# shellcheck disable=SC2086 # two words or none
		"$pkbpf" -q $targets -d 3 -o throttled.json 2>err.txt || fail "profiling: $(cat err.txt)"
		found throttled.json cpu_limit '^/pkbpf-findings: is limited to 0.05 CPUs and was throttled in ([89][0-9]|100) % of its active periods of 100 ms' ||
			fail "limited CPU time ($targets)"
	done
	"$pkbpf" -q -p $$ --no-children -d 1 -o others.json 2>err.txt || fail "profiling: $(cat err.txt)"
	! found others.json cpu_limit '' >/dev/null || fail "a limit of others is nothing to this process"
	kill $load
	wait $load 2>/dev/null
else
	not_checked "limited CPU time: there is no cpu controller"
fi

begin "a program that wants more memory than its cgroup may have"
limit_memory() { # cgroup version 2, or 1
	for root in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/memory; do
		cgroup=$root/pkbpf-findings
		[ -e "$root/cgroup.procs" ] || continue
		mkdir "$cgroup" 2>/dev/null || continue
		echo 64M 2>/dev/null >"$cgroup/memory.max" && echo 0 2>/dev/null >"$cgroup/memory.swap.max" && return 0
		echo 64M 2>/dev/null >"$cgroup/memory.limit_in_bytes" && return 0
		rmdir "$cgroup"
	done
	cgroup=
	return 1
}
[ -z "$cgroup" ] || rmdir "$cgroup"
if limit_memory; then
	cat >hungry.py <<'P'
import os
import time
open("/proc/self/comm", "w").write("hungry")
while not os.path.exists("eat"):
    time.sleep(0.01)
kept = []
while True:
    kept.append(bytearray(1 << 20))
    time.sleep(0.002)
P
	(echo $BASHPID >"$cgroup/cgroup.procs" && exec python3 hungry.py) &
	load=$!
	wait_until 60 grep -q hungry /proc/$load/comm || fail "the program does not start"
	rm -f err.txt
	"$pkbpf" -v -p $load -d 20 -o oom.json --fail-if 'memory.oom_killed>0' 2>err.txt &
	profiler=$!
	wait_until 60 profiling err.txt
	touch eat
	wait $profiler
	[ $? = 3 ] || fail "a process was killed for want of memory: $(cat err.txt)"
	wait $load 2>/dev/null
	found oom.json out_of_memory "^hungry $load: was killed by the OOM killer, by the memory limit of .*/pkbpf-findings \\(64.0 MiB\\); peak RSS [5-9][0-9].[0-9] MiB" ||
		fail "out of memory"
else
	not_checked "want of memory: there is no memory controller"
fi

begin "a server whose clients ask now and then"
cat >server.py <<'P'
import os, socket, time
open("/proc/self/comm", "w").write("waiter")
asks, answers = socket.socketpair()
if os.fork() == 0:
    open("/proc/self/comm", "w").write("asker")
    while True:
        time.sleep(0.002)
        asks.send(b"?")
        asks.recv(1)
while True:
    answers.recv(1)
    sum(range(6000))
    answers.send(b"!")
P
in_background python3 server.py
server=$!
wait_until 60 pgrep -P $server || fail "the server does not start"
"$pkbpf" -q -p $server -d 3 -o peers.json 2>err.txt || fail "profiling: $(cat err.txt)"
programs_stop
found peers.json healthy "^waiter $server( \\(.*\\))?: nothing is known to limit it; .* waits for data from a peer" ||
	# Beside others it waits for the CPU more than for anybody.
	found peers.json queue_bound "^(waiter|asker) .*: waits for a CPU that others use" || fail "nothing but peers"

begin "threads that take one lock for most of what they do; and beside them one whose threads only wait to be told"
"$workloads/locks" contend >contend.out &
locks=$!
"$workloads/locks" idle >idle.out &
idle=$!
wait_until 60 test -s contend.out && wait_until 60 test -s idle.out || fail "the workloads do not start"
"$pkbpf" -q -d 3 -o locks.json --full -o locks.txt 2>err.txt || fail "profiling: $(cat err.txt)"
kill $locks $idle
wait $locks $idle 2>/dev/null
# Those of one name are told together.
# shellcheck disable=SC2016
found locks.json lock_bound "^locks ($locks|\\(2 processes\\)): waits for a mutex in " '`(.* > )?use_lock > (.*pthread_mutex_lock|__lll_lock_wait)`' \
	'; [0-9]+ % of wall time of [48] threads \(.* in [0-9,]+ waits\)' || fail "locks"
! found locks.json lock_bound "locks $idle" >/dev/null || fail "who has nothing to do waits for no lock"

begin "a process that did nothing, since it cannot: by itself, and among all others"
"$workloads/locks" deadlock >deadlock.out &
hung=$!
sleep 1000 &
stopped=$!
# Before it runs its program it would be this shell that is stopped, with its way to clean up.
wait_until 60 grep -q sleep /proc/$stopped/comm || fail "the program does not start"
kill -STOP $stopped
wait_until 60 test -s deadlock.out || fail "the workload does not start"
sleep 0.5
for targets in "-p $hung,$stopped" ""; do
	# shellcheck disable=SC2086 # two words or none
	"$pkbpf" -q $targets -d 2 -o hung.json --fail-if "$hung:offcpu.sleep>3s" 2>err.txt
	[ $? = 3 ] || fail "a limit on who did nothing ($targets): $(cat err.txt)"
	found hung.json deadlock "^locks $hung: deadlock of 2 threads, thread [0-9]+ waits in \`(.* > )?take_both" '; none of them has run for ' ||
		fail "a deadlock ($targets)"
	python3 - $stopped <<'P' || fail "who is stopped has no row ($targets)"
import json, sys
rows = json.load(open("hung.json"))["rows"]
sys.exit(not any(row.get("pid") == int(sys.argv[1]) and row["offcpu"]["stopped_ns"] > 1.9e9 for row in rows))
P
done
python3 -c 'import json; exit(json.load(open("hung.json"))["quiet_processes"] == 0)' || fail "nobody is left out"
kill $hung $stopped
kill -CONT $stopped
wait $hung $stopped 2>/dev/null

conclude
