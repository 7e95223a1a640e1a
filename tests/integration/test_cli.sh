#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The contract of the command line with people and scripts: exit statuses, messages, streams, files and signals.
# usage: test_cli.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

chmod 755 "$work" # others than root write into a folder of their own below it
cleanup() {
	[ -n "$spinner" ] && kill "$spinner" 2>/dev/null
	mountpoint -q "$work/small" && umount "$work/small"
	[ -n "${cgroup:-}" ] && rmdir "$cgroup" 2>/dev/null
}
# shellcheck source=cli_checks.sh
. "$here/cli_checks.sh"

pid_of_nobody() {
	local pid=4194000
	while [ -e /proc/$pid ]; do
		pid=$((pid - 1))
	done
	echo $pid
}

# ---- words only ----

begin "--help names every option and goes to stdout"
run 0 --help all
for option in --pid --children --tid --cgroup --comm --events --frequency --duration --user --kernel --unwind \
	--output --format --top --per-thread --pid-frame --no-inline --lines --quiet --verbose --progress --color \
	--version; do
	says out " $option"
done
says out "folded"
says out "doctor"
[ ! -s err ] || fail "something on stderr"

begin "--version: number and commit, build, licences"
run 0 --version
[ "$(head -n 1 out)" = "pkbpf $("$here/../../tools/version")" ] || fail "it is $("$here/../../tools/version"), not $(head -n 1 out)"
grep -q "^build: .* on \($(uname -m)\|arm64\)" out && grep -q '^licence: BSD-2-Clause' out || fail "no build, or no licence: $(cat out)"

begin "wrong usage is one sentence"
run 2 --frequncy 99
says err "pkbpf: unknown option --frequncy; did you mean --frequency?"
[ "$(wc -l <err)" = 1 ] || fail "more than one line"
run 2 docter
says err "pkbpf: unknown command docter; did you mean doctor?"
run 2 -o profile.xyz
says err "unknown format of profile.xyz"
run 2 -e cpu --fail-if 'lost>0' --fail-if 'nginx:offcpu.total>1s' -- touch started
says err "cannot check --fail-if nginx:offcpu.total>1s: its events are not recorded; add offcpu to --events"
run 2 -o profile.folded --fail-if 'blockio.p99>10ms' -- touch started
says err "add blockio to --events"
run 2 --by thread --fail-if 'offcpu.p99>10ms' -- touch started
says err "no wait-time distributions by thread; use another --by"
for option in --wakers --wait-states --kernel-threads; do
	run 2 -e cpu,faults $option -- touch started
	says err "$option requires offcpu in --events"
done
run 2 --comm a --comm b -d 1
says err "--comm a and --comm b are mutually exclusive"
for figure in memory.rss memory.rss_peak; do
	run 2 --by thread --fail-if "*:$figure>1G" -- touch started
	says err "no RSS by thread; use another --by"
done
run 0 --by thread -e cpu -f json --fail-if 'memory.rss_peak>1G' -- true
says out '"rss_peak_bytes"' # of the sum, which is of processes
[ ! -e started ] || fail "the command was started"

begin "doctor has a line for each capability"
run 0 doctor
[ "$(grep -cE '^(ok|missing|without) ' out)" -ge 5 ] || fail "fewer lines than capabilities"

begin "help to a full disk fails"
"$pkbpf" --help >/dev/full 2>err
[ $? = 1 ] || fail "exit status"
says err "cannot write to standard output: No space left on device"

# ---- targets ----

begin "a pid that does not exist"
nobody=$(pid_of_nobody)
run 1 -e cpu -p "$nobody" -d 1 -o x.folded
says err "pkbpf: cannot profile pid $nobody: no such process"
[ ! -e x.folded ] || fail "an output was written"
no_temporaries .

begin "a tid and a cgroup that do not exist"
run 1 -e cpu -t "$nobody" -d 1
says err "pkbpf: cannot profile tid $nobody: no such thread"
run 1 -e cpu -G no/such.slice -d 1
says err "pkbpf: cannot profile cgroup no/such.slice"

begin "somebody who is not root is told what to do"
mkdir -p bin && cp "$pkbpf" bin/pkbpf && chmod 755 bin bin/pkbpf
setpriv --reuid nobody --regid nogroup --clear-groups "$work/bin/pkbpf" -e cpu -d 1 >out 2>err
[ $? = 5 ] || fail "exit status"
says err "sudo"
setpriv --reuid nobody --regid nogroup --clear-groups "$work/bin/pkbpf" doctor >out 2>err
[ $? = 5 ] || fail "exit status of doctor"
says out "missing"
# Only the permission is missing: nothing may be said of what this kernel or machine lacks.
says out "cannot create a BPF ring buffer"
grep -qE 'too old|no BPF ring buffer|no hardware cycle counter' out && fail "a refusal is taken for something that is not there"

begin "a process that sleeps gives status 4 and the reason"
sleep 30 &
sleeper=$!
run 4 -e cpu -p $sleeper -d 300ms -f folded
says err "pkbpf: no samples: pid $sleeper"
[ ! -s out ] || fail "something was printed"

begin "a process that ends during the run ends it"
begin_seconds=$SECONDS
(wait_until 60 profiling err; kill $sleeper) &
run 4 -v -e cpu -p $sleeper -F 1 -d 100 -f folded
[ $((SECONDS - begin_seconds)) -lt 100 ] || fail "it went on without a target"
says err "exited"
wait

begin "a command alone, without those that it starts"
run 0 -q -e cpu -F 499 --no-children -o alone.folded -- bash -c '"$0" 0.3; for ((i = 0; i < 100000; i++)); do :; done' "$workloads/spin"
grep -q '^bash;' alone.folded || fail "the command is not there"
! grep -q '^spin;' alone.folded || fail "its child is"

begin "with --children it goes on while descendants live, and ends with the last"
bash -c '"$1" 60 & until [ -e go ]; do sleep 0.05; done' bash "$workloads/spin" &
parent=$!
until child=$(pgrep -P $parent -x spin); do sleep 0.05; done
"$pkbpf" -v -e cpu -F 499 -p $parent --children -f folded >out 2>err &
profiler=$!
until grep -q "profiling since" err; do sleep 0.05; done
: >go
wait $parent
uses "$child" 300
kill -0 $profiler 2>/dev/null || fail "it ended with the process named"
kill "$child"
wait $profiler || fail "exit status $?"
grep -q '^spin;.*spin_here' out || fail "the descendant's stacks are not there"

# ---- outputs ----

start_spinner

begin "folded stacks of a process name its functions"
run 0 -e cpu -p "$spinner" -F 199 -d 1 -f folded
is_folded out
grep -qE '^spin;.*spin_here' out || fail "spin_here is not there"

begin "the text report comes without options"
run 0 -e cpu -p "$spinner" -d 500ms
says out "spin_here"

begin "a thread, a name and a cgroup choose the same process"
run 0 -e cpu -t "$spinner" -d 500ms -f folded
grep -qE '^spin;.*spin_here' out || fail "not by its thread"
run 0 -e cpu --comm spin -d 500ms -f folded
! grep -qv '^spin;' out || fail "somebody with another name"
grep -q spin_here out || fail "not by its name"
cgroup_root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
if [ -n "$cgroup_root" ]; then
	cgroup=$cgroup_root/pkbpf-cli-$$
	mkdir "$cgroup" && echo "$spinner" >"$cgroup/cgroup.procs"
	run 0 -e cpu -G "$cgroup" -d 500ms -f folded
	! grep -qv '^spin;' out || fail "somebody outside the cgroup"
	grep -q spin_here out || fail "not by the path of its cgroup"
	run 0 -e cpu -G "pkbpf-cli-$$" -d 500ms -f folded
	grep -q spin_here out || fail "not by the path below the root"
	echo "$spinner" >"$cgroup_root/cgroup.procs"
	rmdir "$cgroup"

	begin "a cgroup that is removed ends the run"
	mkdir "$cgroup"
	bash -c 'echo $$ >"$0/cgroup.procs"; exec "$1" 600' "$cgroup" "$workloads/spin" &
	brief=$!
	runs $brief spin
	begin_seconds=$SECONDS
	(wait_until 60 profiling err && uses $brief 300; kill $brief; until rmdir "$cgroup" 2>/dev/null; do sleep 0.1; done) &
	run 0 -v -e cpu -G "$cgroup" -d 100 -f folded
	[ $((SECONDS - begin_seconds)) -lt 100 ] || fail "it went on without the cgroup"
	grep -q spin_here out || fail "nothing of what was in it"
	wait $brief 2>/dev/null
	cgroup=
else
	fail "no cgroup2 file system is mounted"
fi

begin "quiet prints nothing but the data"
run 0 -e cpu -q -p "$spinner" -d 300ms -o q.folded
[ ! -s err ] && [ ! -s out ] || fail "it talked"
is_folded q.folded

begin "an output that cannot be written is found before profiling"
run 1 -v -e cpu -p "$spinner" -d 1 -o "$work/missing/x.folded"
! profiling err || fail "it profiled first"
says err "cannot write $work/missing/x.folded"

begin "two outputs at once"
run 0 -e cpu -p "$spinner" -d 500ms -o a.folded -f text -o a.report
is_folded a.folded
says a.report "spin_here"
no_temporaries .

begin "what processes have used is read only for who shows it"
reads_resources() {
	grep -q "account of resources: " err && grep -q "map 'resource_.*created successfully" err
}
run 0 -vv -e cpu -p "$spinner" -d 300ms -o a.folded
! grep -q "account of resources\|map 'resource_.*created" err || fail "it was read for a flame graph"
run 0 -vv -e cpu -p "$spinner" -d 300ms -o a.folded -o a.json
reads_resources || fail "it was not read for a report"
run 3 -vv -e cpu -p "$spinner" -d 500ms -o a.folded --fail-if 'cpu.total>1ms'
reads_resources || fail "it was not read for a limit"
says err "cpu.total is"
run 0 -vv -e cpu -p "$spinner" -d 300ms
reads_resources || fail "it was not read for the terminal"

begin "a full disk fails, and the other outputs are written"
run 1 -e cpu -p "$spinner" -d 500ms -f folded -o /dev/full -o b.folded
says err "cannot write /dev/full: No space left on device"
is_folded b.folded
mkdir small
if mount -t tmpfs -o size=4k none small; then
	echo old >small/x.folded
	rm -f small/fill
	dd if=/dev/zero of=small/fill bs=4k count=1 2>/dev/null
	run 1 -e cpu -p "$spinner" -d 500ms -o small/x.folded -o c.folded
	says err "small/x.folded: No space left on device"
	is_folded c.folded
	no_temporaries small
	umount small
else
	fail "cannot mount a small tmpfs"
fi

begin "a limit on the size of files is an error, and no death by a signal"
status=$(
	ulimit -f 16
	"$pkbpf" -q -e cpu -p "$spinner" -d 300ms -o limited.json 2>err
	echo $?
)
[ "$status" = 1 ] || fail "exit status $status"
says err "File too large"
no_temporaries .

begin "a small stack is enough"
status=$(
	ulimit -s 64
	"$pkbpf" -q -d 500ms -o all.json 2>err
	echo $?
)
[ "$status" = 0 ] || fail "exit status $status"

begin "files belong to the user behind sudo"
mkdir -p theirs && chown nobody:nogroup theirs
SUDO_UID=65534 SUDO_GID=65534 record_use "$spinner" 100 -e cpu -F 499 -o theirs/x.folded
[ "$(stat -c %u:%g theirs/x.folded)" = 65534:65534 ] || fail "they belong to $(stat -c %u:%g theirs/x.folded)"

begin "a closed stdout is found before profiling"
"$pkbpf" -v -e cpu -p "$spinner" -d 1 -f folded >&- 2>err
[ $? = 1 ] || fail "exit status"
! profiling err || fail "it profiled first"
says err "standard output"

begin "a closed stdout does not keep files from being written"
"$pkbpf" -e cpu -v -F 499 -p "$spinner" -d 250 -o d.folded >&- 2>err &
job=$!
wait_until 60 profiling err && uses "$spinner" 100 || fail "it never started"
kill -INT $job
wait $job || fail "exit status"
is_folded d.folded

begin "a reader that goes away is no reason to complain"
{ "$pkbpf" -e cpu -p "$spinner" -d 500ms -f folded -o - -o e.folded 2>err; echo $? >status; } | head -c 0
grep -qx 0 status || fail "exit status $(cat status)"
! grep -qi "pipe" err || fail "it complained"
is_folded e.folded

# ---- signals ----

# Background jobs of a script ignore SIGINT; the program must hear it all the same.
for signal in INT TERM; do
	begin "SIG$signal stops, writes everything and exits 0"
	rm -f f.folded
	"$pkbpf" -e cpu -v -p "$spinner" -o f.folded 2>err &
	job=$!
	wait_until 60 profiling err && uses "$spinner" 300 || fail "it never started"
	kill -$signal $job
	wait $job
	[ $? = 0 ] || fail "exit status"
	is_folded f.folded
done

begin "samples that the kernel leaves out because of its limit are told"
# The limit is the machine's, and other tests profile meanwhile: only this pkbpf sees it change.
limit=/proc/sys/kernel/perf_event_max_sample_rate
cp $limit rate
rm -f f.folded
# shellcheck disable=SC2016 # expanded by that shell
unshare -m sh -c 'mount --bind rate "$0" && exec "$@"' $limit "$pkbpf" -e cpu -v -p "$spinner" -o f.folded 2>err &
job=$!
wait_until 60 profiling err && uses "$spinner" 300 || fail "it never started"
echo 50 >rate
kill -INT $job
wait $job
says err "pkbpf: warning: CPU samples are missing: the kernel has lowered its limit to 50 Hz"
is_folded f.folded

# writes_to_pipe PID: a thread of it waits for room in a pipe, where the kernel tells
writes_to_pipe() { grep -qsE '^(anon_)?pipe_write$' /proc/"$1"/task/*/wchan; }

begin "a second SIGINT aborts at once and leaves nothing half-written"
rm -f g.folded
mkfifo slow
"$pkbpf" -e cpu -v -p "$spinner" -f folded -o slow -f folded -o g.folded 2>err &
job=$!
exec 9<>slow # the FIFO has a reader, who reads nothing
wait_until 60 profiling err && uses "$spinner" 100 || fail "it never started"
dd if=/dev/zero bs=4096 count=64 2>/dev/null | timeout 1 dd of=slow bs=4096 2>/dev/null # it is full
kill -INT $job
wait_until 10 writes_to_pipe $job
kill -0 $job 2>/dev/null || fail "it did not wait for the reader of its output"
sleep 0.5 # one that comes within 0.1 s of the first is the same request
kill -INT $job
wait_until 60 ended $job || { fail "it goes on" && kill -KILL $job; }
wait $job
[ $? = 130 ] || fail "exit status"
exec 9>&-
[ ! -e g.folded ] || fail "an output appeared"
no_temporaries .

begin "a reader of stdout that goes ends the recording"
timeout 250 "$pkbpf" -q -e cpu --every 2 2>/dev/null | head -n 1 >head.txt
[ "${PIPESTATUS[0]}" != 124 ] || fail "it recorded on for nobody"
timeout 250 "$pkbpf" -q -e cpu -d 1000 -o - -f folded 2>/dev/null | true
[ "${PIPESTATUS[0]}" != 124 ] || fail "it recorded for nobody"

# ---- on a terminal ----

# on_terminal INPUT COMMAND…: the command on a terminal of its own; INPUT is typed when it profiles
on_terminal() {
	local input=$1
	shift
	: >terminal
	{
		[ -z "$input" ] || wait_until 60 grep -q 'profiling: [1-9]' terminal
		printf '%b' "$input"
		wait_until 60 test -e left
	} | { SHELL=/bin/bash TERM=xterm timeout 60 script -qefc "$*" /dev/null >terminal; : >left; }
	rm left
}

if command -v script >/dev/null; then
	begin "the progress line shows on a terminal and is cleared at the end"
	on_terminal '' "'$pkbpf' -e cpu -p $spinner -d 2500ms -o k.folded"
	grep -qF 'starting (Ctrl-C to stop)' terminal || fail "nothing tells of the start"
	# Beside load a second may be missed.
	grep -qE 'profiling: [12] s of 2 s, [0-9]+ samples, ' terminal || fail "no progress line"
	tr '\r' '\n' <terminal | grep -A1 'profiling: [12] s' | tail -1 | grep -q $'^\033\[K' || fail "it was not cleared"

	begin "no progress line on a dumb terminal, with --progress never, with --quiet"
	on_terminal '' "TERM=dumb '$pkbpf' -e cpu -p $spinner -d 1500ms -o k.folded"
	! grep -q 'profiling:' terminal || fail "a dumb terminal got one"
	on_terminal '' "'$pkbpf' -e cpu --progress never -p $spinner -d 1500ms -o k.folded"
	! grep -q 'profiling:' terminal || fail "--progress never"
	on_terminal '' "'$pkbpf' -e cpu -q -p $spinner -d 1500ms -o k.folded"
	! grep -q 'profiling:' terminal || fail "--quiet"

	begin "Ctrl-C on a terminal ends the run and writes everything"
	rm -f k.folded
	on_terminal '\003' "'$pkbpf' -e cpu -p $spinner -o k.folded; echo status \$?"
	grep -q 'status 0' terminal || fail "no status 0: $(tail -1 terminal)"
	is_folded k.folded

	begin "Ctrl-C reaches the command, whose status is passed on"
	on_terminal '\003' "'$pkbpf' -e cpu -o k.folded -- '$workloads/spin' 60; echo status \$?"
	grep -q 'status 130' terminal || fail "no status 130: $(tail -1 terminal)"
	is_folded k.folded
else
	not_checked "what is printed on a terminal: no script(1)"
fi

stop_spinner

conclude
