#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# alone: it kills and stops processes by their time
# Whatever ends or stops a process of `pkbpf serve`, and whatever happened to its files and the clock: each start succeeds, what was
# in the history is there, and what is missing is told.
# usage: test_serve_kills.sh PKBPF WORKLOAD_FOLDER [KILLS] [SECONDS_STOPPED]
# A slice is there some six seconds after its end. So with few kills, as in every run, steps that wait for one are left out.
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
kills=${3:-3}
stopped=${4:-2}
is_long=$((kills > 10))

server=
spinner=
# A stopped process ends, too.
cleanup() {
	kill -9 $server $spinner 2>/dev/null
	umount "$work/small" 2>/dev/null
}

# start STORE [WORD…]: leaves $url, $front; false: it did not start. WORDs: what it is started by. $more: its further options.
more=()
start() {
	local store=$1
	shift
	"$@" "$pkbpf" serve --listen 127.0.0.1:0 --store "$store" -s 1s --max-cpu off -e cpu "${more[@]}" >said 2>&1 &
	server=$!
	url=
	for _ in $(seq 400); do
		url=$(grep -om1 'http://[0-9.:]*' said) && break
		kill -0 $server 2>/dev/null || break
		sleep 0.05
	done
	front=$(pgrep -P $server -x pkbpf-front)
	[ -n "$url" ] && [ -n "$front" ] && return
	fail "no start: $(cat said)"
	return 1
}
# In a short run it suffices that it answers.
answers() {
	if [ $is_long = 1 ]; then ready; else [ "$(curl -s --max-time 10 "$url/healthz")" = alive ]; fi
}
ready() { [ "$(curl -s --max-time 10 "$url/readyz")" = ready ]; }
metric() { curl -s --max-time 20 "$url/metrics" | awk -v name="$1" '$1 == name { print $2 }'; }
end() {
	kill -INT $server
	wait $server || fail "it ended with $?: $(cat said)"
}

begin "$kills kills"
killed=
for i in $(seq "$kills"); do
	start store || give_up "start $i"
	# Every third one while it starts.
	if [ $((i % 3)) != 0 ]; then
		wait_until 60 ready || fail "start $i: never ready: $(cat said)"
		[ -z "$killed" ] || checker "$here/serve_windows.py" "$url" before "$killed"
		sleep "0.$((RANDOM % 10))"
		checker "$here/serve_windows.py" "$url" before
		killed=
	fi
	victim=$server
	[ $((RANDOM % 2)) = 0 ] || victim=$front
	kill -9 "$victim"
	killed=${killed:-$(date +%s.%N)}
	wait $server 2>/dev/null
done

begin "a process that stands still for $stopped s"
start store || give_up "after the kills"
wait_until 60 ready || fail "never ready"
for process in $front $server; do
	kill -STOP "$process"
	sleep "$stopped"
	kill -CONT "$process"
done
at=$(date +%s)
later() { curl -s --max-time 10 "$url/api/v1/windows?from=$((at + 1))" | grep -q '"windows":\[\[' && ready; }
wait_until 60 later || fail "it does not go on: $(cat said)"
[ "$(metric pkbpf_slices_dropped_total)" = 0 ] || fail "slices were dropped"
end

begin "segments that were cut or have a wrong byte"
# One with a window stays as it is.
intact=$(find store/slice -name '*.pkbpf' -printf '%s %p\n' | sort -n | tail -n 1 | cut -d ' ' -f 2)
for segment in store/*/*.pkbpf; do
	[ "$segment" != "$intact" ] || continue
	size=$(stat -c %s "$segment")
	if [ $((RANDOM % 2)) = 0 ]; then
		truncate -s $((RANDOM % (size + 1))) "$segment"
	else
		printf '\xa5' | dd of="$segment" bs=1 seek=$((RANDOM % (size + 1))) conv=notrunc 2>/dev/null
	fi
done
: >store/slice/9999.pkbpf
start store && wait_until 60 answers || fail "never ready: $(cat said)"
end
"$pkbpf" query windows --store store --from -1h -f json >windows 2>err || fail "query windows: status $?: $(tr '\n' ' ' <err)"
grep -q '"windows":\[\[' windows || fail "no window is left: $(head -c 300 windows)"
# The window that is left may be one in which the machine did nothing.
"$pkbpf" query --store store --from -1h >/dev/null 2>err
case $? in
0 | 4) ;;
*) fail "query: status $?: $(tr '\n' ' ' <err)" ;;
esac

begin "a clock that was set back, and one that is set while it runs"
faketime=/usr/lib/$(uname -m)-linux-gnu/faketime/libfaketime.so.1
if [ -e "$faketime" ]; then
	chmod 755 . # the process that answers is another user's, and reads it as well
	echo "-1h" >clock
	start store env LD_PRELOAD="$faketime" FAKETIME_TIMESTAMP_FILE="$work/clock" FAKETIME_DONT_FAKE_MONOTONIC=1 FAKETIME_NO_CACHE=1 NO_FAKE_STAT=1 &&
		wait_until 60 answers || fail "never ready an hour ago: $(cat said)"
	for clock in +1h -1d +0; do
		echo "$clock" >clock
		sleep 1.5
		wait_until 60 answers || fail "at $clock it is not ready: $(cat said)"
	done
	end
	start store && wait_until 60 answers || fail "never ready again: $(cat said)"
	end
else
	not_checked "there is no libfaketime"
fi

begin "a clock that is a year ahead for a while: nothing is deleted, alerts and pushes go on"
stored() { cat store/slice/*.pkbpf store/minute/*.pkbpf 2>/dev/null | wc -c; }
pushed() { awk '$1 == "pkbpf_slices_total" { print $2 }' pushed.prom 2>/dev/null; }
pushed_more() { [ "$(pushed)" -gt "$1" ] 2>/dev/null; }
fires() { grep -q 'alert hog fires' said; }
ends() { grep -q 'alert hog has ended' said; }
if [ -e "$faketime" ]; then
	cat >clock.conf <<-END
		run-as = root	# the folder of the textfile is root's
		default-alerts = no
		[alert hog]
		when = clockspin:cpu.share > 1%
		clear-for = 1s
		[push text]
		textfile = $PWD/pushed.prom
		interval = 10s
	END
	cp "$workloads/spin" clockspin
	more=(--config clock.conf)
	echo "+0" >clock
	start store env LD_PRELOAD="$faketime" FAKETIME_TIMESTAMP_FILE="$work/clock" FAKETIME_DONT_FAKE_MONOTONIC=1 FAKETIME_NO_CACHE=1 NO_FAKE_STAT=1 &&
		wait_until 60 pushed_more 0 || give_up "nothing was pushed: $(cat said)"
	for clock in +1h +400d +0; do
		before=$(stored) sent=$(pushed) kept=$(find store/slice store/minute -name '*.pkbpf' | sort)
		: >said
		echo "$clock" >clock
		./clockspin 60 &
		spinner=$!
		wait_until 60 fires || fail "at $clock no alert: $(cat said)"
		kill -9 $spinner
		wait $spinner 2>/dev/null
		wait_until 60 ends || fail "at $clock the alert does not end: $(cat said)"
		wait_until 60 pushed_more "$sent" || fail "at $clock nothing is pushed"
		for segment in $kept; do
			[ -e "$segment" ] || fail "at $clock $segment was deleted"
		done
		[ "$(stored)" -ge "$before" ] || fail "at $clock the history shrank from $before bytes to $(stored)"
	done
	end
	more=()
else
	not_checked "there is no libfaketime"
fi

[ $is_long = 1 ] || conclude

begin "a file system that is full, and one that is read-only"
mkdir small
if mount -t tmpfs -o size=4m none small 2>/dev/null; then
	failing() { [ "$(metric pkbpf_store_failing)" = "$1" ]; }
	start small && wait_until 60 ready
	head -c 16M /dev/zero >small/others 2>/dev/null
	wait_until 60 failing 1 || fail "a full file system is not told"
	curl -s "$url/readyz" | grep -q 'No space left' || fail "it is ready: $(curl -s "$url/readyz")"
	kill -9 $server
	wait $server 2>/dev/null
	wait_until 60 test ! -e "/proc/$front" || fail "the front outlives the collector"
	start small && wait_until 60 failing 1 || fail "a start without room"
	rm small/others
	wait_until 60 failing 0 || fail "it does not go on when there is room"
	end
	mount -o remount,ro small
	start small && wait_until 60 failing 1 || fail "a read-only file system is not told"
	end
else
	not_checked "mount is not allowed here"
fi

conclude
