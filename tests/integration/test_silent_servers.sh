#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs on a file system whose server does not answer, or answers to its user alone: pkbpf begins and ends in time, hears
# signals, says what is missing, and keeps what it has read before.
# usage: test_silent_servers.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
[ -c /dev/fuse ] || skip "needs /dev/fuse"
work=$(mktemp -d /tmp/pkbpf-servers-XXXXXX)
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
trap 'unserve; rm -rf "$work"' EXIT
cd "$work" || exit 1
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
	sleep 0.3
	kill -0 "$target" || { echo "FAILED: the program did not start from the mount"; exit 1; }
}

# record NAME SECONDS ARGUMENT…: it must end by itself within three seconds of its time
record() {
	local name=$1 seconds=$2 begin=$EPOCHREALTIME status took
	shift 2
	timeout -s KILL 60 "$pkbpf" -e cpu -F 499 -d "$seconds" -o "$name.folded" "$@" 2>"$name.err"
	status=$?
	took=$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
	echo "$name: status $status after $took s: $(grep -c . "$name.folded") stacks"
	if [ "$status" != 0 ] || awk -v took="$took" -v time="$seconds" 'BEGIN { exit !(took > time + 3) }'; then
		cat "$name.err"
		echo "FAILED: $name: pkbpf ended with status $status after $took s instead of $seconds"
		failures=$((failures + 1))
	fi
}

# check NAME whole|unopened
check() {
	PYTHONPATH=$here python3 - "$@" <<'P' || failures=$((failures + 1))
import sys
import folded

name, kind = sys.argv[1:]
stacks = [(folded.user_frames(f)[1:], c) for f, c in folded.read(name + ".folded") if f[0] == "file"]
whole, total = folded.share(stacks, lambda f: f[:1] == ["_start"] and "main" in f and "middle" in f)
unopened, _ = folded.share(stacks, lambda f: f[:1] == ["[truncated: its file cannot be opened]"])
print(f"{name}: {total} samples, {100 * whole:.1f} % whole, {100 * unopened:.1f} % of a file that cannot be opened")
if total < 100:
    folded.fail(f"{name}: only {total} samples")
if (whole if kind == "whole" else unopened) < 0.98:
    folded.fail(f"{name}: not all stacks are {kind}")
P
}

# warned NAME: once, which server it is
warned() {
	[ "$(grep -c "file system at $work/mount (fuse.serve_file) does not respond" "$1.err")" = 1 ] && return
	cat "$1.err"
	echo "FAILED: $1: no warning, or more than one, of the server"
	failures=$((failures + 1))
}

# hears SIGNAL: before its time is over
hears() {
	local status
	timeout -k 10 -s "$1" 2 "$pkbpf" -q -e cpu -d 60 -p "$target" -o "hears.folded" 2>hears.err
	status=$?
	[ "$status" = 124 ] && [ -s hears.folded ] && return
	cat hears.err
	echo "FAILED: pkbpf did not end at once for SIG$1: status $status"
	failures=$((failures + 1))
}

serve
record answers 1 -p "$target"
check answers whole
(sleep 1.5; kill -USR1 "$server") &
record meanwhile 3 -p "$target"
check meanwhile whole
# Its requests are taken and not answered: who waits cannot even be killed.
record silent 1 -p "$target"
check silent unopened
warned silent
record silent_host 1
check silent_host unopened
warned silent_host
hears INT
hears TERM
"$pkbpf" doctor -p "$target" >doctor.txt 2>&1 &
doctor=$!
for _ in {1..100}; do
	kill -0 "$doctor" 2>/dev/null || break
	sleep 0.1
done
kill -KILL "$doctor" 2>/dev/null && { echo "FAILED: doctor waits for the server"; failures=$((failures + 1)); }
unserve

# Requests are not even taken.
serve
kill -STOP "$server"
record stopped 1 -p "$target"
check stopped unopened
warned stopped
unserve

# Not for us, for ever: nothing is waited for, nothing copied.
serve 65534
record refused 1 -p "$target"
check refused unopened
unserve

# Anybody may mount many: how many processes are left behind, which cannot be killed, is bounded, and so are warnings.
servers=() targets=()
unserve_all() {
	kill -KILL "${servers[@]}" "${targets[@]}"
	wait "${servers[@]}" "${targets[@]}" 2>/dev/null
	umount -l "$work"/many{1..24}
}
trap 'unserve_all; rm -rf "$work"' EXIT
for i in {1..24}; do
	mkdir "many$i"
	"$workloads/serve_file" "many$i" program >"served$i" &
	servers+=($!)
done
for i in {1..24}; do
	for _ in {1..100}; do
		grep -qs mounted "served$i" && break
		sleep 0.05
	done
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
wait "$profiler" || { cat many.err; echo "FAILED: many: pkbpf ended with status $?"; failures=$((failures + 1)); }
warnings=$(grep -c "does not respond" many.err)
echo "24 silent servers: $most processes waited for them at once, $warnings warnings"
if [ "$most" -lt 8 ] || [ "$most" -gt 16 ] || [ "$warnings" -gt 9 ]; then
	cat many.err
	echo "FAILED: many: 8 to 16 processes were to be left behind, with at most 9 warnings"
	failures=$((failures + 1))
fi
[ "$failures" = 0 ] || { echo "$failures failed"; exit 1; }
