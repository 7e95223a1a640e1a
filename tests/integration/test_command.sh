#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# pkbpf -- COMMAND: whose status it gives, what of it is profiled, how it is ended, and as whom and how urgent it runs.
# usage: test_command.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

chmod 755 "$work" # the command runs as somebody else there
cleanup() {
	[ -n "$spinner" ] && kill "$spinner" 2>/dev/null
}
# shellcheck source=cli_checks.sh
. "$here/cli_checks.sh"

begin "the status of the command is passed on"
run 0 -e cpu -q -o h.folded -- true
run 7 -e cpu -q -o h.folded -- sh -c 'exit 7'
run $((128 + 9)) -e cpu -q -o h.folded -- sh -c 'kill -KILL $$'

begin "a command that cannot be started"
rm -f h.folded
run 127 -e cpu -o h.folded -- pkbpf-no-such-command
says err "pkbpf: cannot start pkbpf-no-such-command: command not found in PATH"
run 126 -e cpu -o h.folded -- /etc/passwd
says err "pkbpf: cannot start /etc/passwd: Permission denied"
[ ! -e h.folded ] || fail "an output was written"
no_temporaries .

begin "a command is profiled from its start to its end"
run 0 -e cpu -F 199 -f folded -- "$workloads/spin" 0.5
is_folded out
grep -qE '^spin;.*spin_here' out || fail "spin_here is not there"

begin "descendants of the command are profiled"
run 3 -e cpu -F 199 -f folded -- sh -c "'$workloads/spin' 0.3 & wait; exit 3"
grep -qE '^spin;.*spin_here' out || fail "spin_here is not there"

begin "after the duration the command goes on and gives its status"
begin_seconds=$SECONDS
run 5 -e cpu -F 199 -d 1 -f folded -- "$workloads/spin" 2 5
is_folded out
[ $((SECONDS - begin_seconds)) -ge 1 ] || fail "the command did not run to its end"
grep -q 'spin goes on to its end, Ctrl-C ends it' err || fail "nothing says that it goes on: $(cat err)"

begin "SIGTERM to the profiler ends the command, too"
"$pkbpf" -e cpu -v -f folded -o i.folded -- "$workloads/spin" 60 2>err &
job=$!
wait_until 60 profiling err || fail "it never started"
wait_until 60 pgrep -P $job -x spin && uses "$(pgrep -P $job -x spin)" 300 || fail "its command does not run"
kill -TERM $job
wait_until 60 ended $job || fail "it goes on"
wait $job
[ $? = 143 ] || fail "exit status"
is_folded i.folded

begin "the profiler comes before others that want to run, its command does not"
niceness='cut -d" " -f19 /proc/self/stat /proc/$PPID/stat'
own=$(nice)
"$pkbpf" -e cpu -q -o k.folded -- sh -c "$niceness" >out
if [ "$own" != 0 ] || ! [ "$(nice -n -10 nice 2>/dev/null)" = -10 ]; then
	not_checked "this test has a nice value of its own, or may not lower it"
elif [ "$(tr '\n' ' ' <out)" != "0 -10 " ]; then
	fail "nice values of command and profiler: $(cat out)"
fi
if [ "$own" = 0 ] && [ "$(nice -n -10 nice 2>/dev/null)" = -10 ]; then
	start_spinner # without which an idle machine has nothing to profile, status 4
	rm -f err
	"$pkbpf" -v -e cpu -p "$spinner" -d 250 -o k.folded 2>err &
	loading=$!
	# Looks at it without starting a process, and before it gets a CPU again.
	seen=$(
		renice -n -20 $BASHPID >/dev/null
		seen=0
		while read -r -a stat </proc/$loading/stat && [ "${stat[2]}" != Z ]; do
			[ "${stat[18]}" != -10 ] || seen=1
			said=
			[ ! -e err ] || read -r -d '' said <err
			[[ $said != *"profiling since"* ]] || break
		done
		echo $seen
	)
	uses "$spinner" 300
	kill -INT $loading
	wait $loading || fail "exit status $?: $(cat err)"
	stop_spinner
	[ $seen = 1 ] || fail "it comes after others until it profiles"
fi
nice -n 5 "$pkbpf" -e cpu -q -o k.folded -- sh -c "$niceness" >out
[ "$(tr '\n' ' ' <out)" = "$((own + 5)) $((own + 5)) " ] || fail "where the user has chosen a nice value: $(cat out)"

begin "the command runs as the user behind sudo"
SUDO_UID=65534 SUDO_GID=65534 SUDO_USER=nobody "$pkbpf" -e cpu -q -o j.folded -- \
	sh -c 'id -u >&2; echo $USER $SUDO_UID >&2' 2>err
[ "$(tr '\n' ' ' <err)" = "65534 nobody " ] || fail "it ran as: $(cat err)"

conclude
