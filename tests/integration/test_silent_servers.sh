#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# Programs on a file system whose server does not answer, or answers to its user alone: pkbpf begins and ends in time, hears
# signals, says what is missing, and keeps what it has read before.
# usage: test_silent_servers.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
[ -c /dev/fuse ] || skip "needs /dev/fuse"
chmod 755 "$work"
server=""
target=""
# Who waits for the server can be ended once it is gone.
unserve() {
	[ -z "$server" ] || kill -KILL "$server"
	[ -z "$target" ] || kill -KILL "$target"
	wait "$server" "$target" 2>/dev/null
	umount -l "$work/mount" 2>/dev/null
	server=""
	target=""
}
cleanup() { unserve; }
mkdir mount

cat >program.c <<'C'
volatile unsigned int sum;
__attribute__((noinline)) void leaf(void)
{
	for (int i = 0; i < 100000; i++)
		sum = sum * 1664525U + (unsigned int)i;
}
__attribute__((noinline)) void middle(void)
{
	leaf();
	sum++;
}
int main(void)
{
	for (;;)
		middle();
}
C
gcc -O2 -fomit-frame-pointer program.c -o program || exit 1

# serve [UID]: the program runs from its mount
serve() {
	rm -f served # of the server before
	"$workloads/serve_file" mount program "$@" >served &
	server=$!
	for _ in {1..100}; do
		grep -qs mounted served && break
		kill -0 "$server" 2>/dev/null || { server=""; skip "no FUSE file system can be mounted"; }
		sleep 0.05
	done
	if [ $# = 0 ]; then
		mount/file &
	else
		setpriv "--reuid=$1" --clear-groups mount/file &
	fi
	target=$!
	runs "$target" file || give_up "the program did not start from the mount"
}

# in_time NAME SECONDS ARGUMENT…: it must end by itself within so many seconds of its time, as it does on a busy machine
most=15
in_time() {
	local name=$1 seconds=$2 begin=$EPOCHREALTIME status took
	shift 2
	timeout -s KILL 60 "$pkbpf" -v -e cpu -F 499 -d "$seconds" -o "$name.folded" "$@" 2>"$name.err"
	status=$?
	took=$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
	echo "$name: status $status after $took s: $(grep -c . "$name.folded") stacks"
	if [ "$status" != 0 ] || awk -v took="$took" -v most=$((seconds + most)) 'BEGIN { exit !(took > most) }'; then
		fail "$name: pkbpf ended with status $status after $took s instead of $seconds: $(cat "$name.err")"
	fi
}

# check NAME whole|unopened
check() {
	checker - "$@" <<'P'
import sys
import checks
import folded

name, kind = sys.argv[1:]
stacks = [(folded.user_frames(f)[1:], c) for f, c in folded.read(name + ".folded") if f[0] == "file"]
whole, total = folded.share(stacks, lambda f: f[:1] == ["_start"] and "main" in f and "middle" in f)
unopened, _ = folded.share(stacks, lambda f: f[:1] == ["[truncated: its file cannot be opened]"])
print(f"{name}: {total} samples, {100 * whole:.1f} % whole, {100 * unopened:.1f} % of a file that cannot be opened")
if total < 10:
    checks.fail(f"{name}: only {total} samples")
if (whole if kind == "whole" else unopened) < 0.98 - 1 / total:
    checks.fail(f"{name}: not all stacks are {kind}")
P
}

# warned NAME: once, which server it is
warned() {
	[ "$(grep -c "file system at $work/mount (fuse.serve_file) does not respond" "$1.err")" = 1 ] ||
		fail "$1: no warning, or more than one, of the server: $(cat "$1.err")"
}

# hears SIGNAL: before its time is over
hears() {
	local profiler status
	rm -f hears.folded hears.err
	"$pkbpf" -v -e cpu -F 499 -d 200 -p "$target" -o hears.folded 2>hears.err &
	profiler=$!
	wait_until 60 profiling hears.err && uses "$target" 200
	kill -"$1" $profiler
	has_ended() { ! kill -0 $profiler; }
	wait_until $most has_ended || kill -KILL $profiler
	wait $profiler
	status=$?
	[ $status = 0 ] && [ -s hears.folded ] ||
		fail "pkbpf did not end at once for SIG$1: status $status: $(cat hears.err)"
}

serve
in_time answers 1 -p "$target"
check answers whole
(wait_until 60 profiling meanwhile.err && uses "$target" 300; kill -USR1 "$server") &
in_time meanwhile 3 -p "$target"
check meanwhile whole
# Its requests are taken and not answered: who waits cannot even be killed.
in_time silent 1 -p "$target"
check silent unopened
warned silent
in_time silent_host 3
check silent_host unopened
warned silent_host
hears INT
hears TERM
"$pkbpf" doctor -p "$target" >doctor.txt 2>&1 &
doctor=$!
doctor_has_ended() { ! kill -0 "$doctor"; }
wait_until 60 doctor_has_ended
kill -KILL "$doctor" 2>/dev/null && fail "doctor waits for the server"
unserve

# Requests are not even taken.
serve
kill -STOP "$server"
in_time stopped 1 -p "$target"
check stopped unopened
warned stopped
unserve

# Not for us, for ever: nothing is waited for, nothing copied.
serve 65534
in_time refused 1 -p "$target"
check refused unopened
unserve

# Anybody may mount many: how many processes are left behind, which cannot be killed, is bounded, and so are warnings.
servers=() targets=()
end_many() {
	[ ${#servers[@]} = 0 ] || kill -KILL "${servers[@]}" "${targets[@]}"
	wait "${servers[@]}" "${targets[@]}" 2>/dev/null
	umount -l "$work"/many{1..24} 2>/dev/null
	servers=() targets=()
}
cleanup() { end_many; }
for i in {1..24}; do
	mkdir "many$i"
	"$workloads/serve_file" "many$i" program >"served$i" &
	servers+=($!)
done
for i in {1..24}; do
	wait_until 60 grep -q mounted "served$i"
	"many$i/file" &
	targets+=($!)
done
sleep 1
kill -USR1 "${servers[@]}"
"$pkbpf" -e cpu -F 199 -d 4 -o many.folded 2>many.err &
profiler=$!
most=0
while kill -0 "$profiler" 2>/dev/null; do
	left=$(ps -o stat= --ppid "$profiler" | grep -c "^D")
	[ "$left" -gt "$most" ] && most=$left
	sleep 0.2
done
wait "$profiler" || fail "many: pkbpf ended with status $?: $(cat many.err)"
warnings=$(grep -c "does not respond" many.err)
echo "24 silent servers: $most processes waited for them at once, $warnings warnings"
[ "$most" -ge 8 ] && [ "$most" -le 16 ] && [ "$warnings" -le 9 ] ||
	fail "many: 8 to 16 processes were to be left behind, with at most 9 warnings: $(cat many.err)"
end_many # nobody looks for reports in these mounts
conclude
