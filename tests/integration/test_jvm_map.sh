#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# --jvm-map asks a JVM for its perf map as jcmd does, as its user, and leaves alone what does not listen.
. "$(dirname "$0")/prelude.sh"

evidence=(said)
chmod 755 .
mkdir jvm && chmod 777 jvm
[ "$(id -u nobody 2>/dev/null)" ] && [ -x /usr/bin/python3 ] || skip "needs a user nobody, and /usr/bin/python3"

# start_jvm MANNER
start_jvm() {
	rm -f jvm/*
	(cd jvm && exec setpriv --reuid nobody --regid nogroup --clear-groups /usr/bin/python3 "$work/fake_jvm.py" "$work/jvm" "$1") >ready &
	jvm=$!
	wait_until 60 grep -q ready ready || give_up "the process did not start"
}

end_jvm() {
	rm -f "/tmp/perf-$jvm.map"
	kill "$jvm" 2>/dev/null
	wait "$jvm" 2>/dev/null
}
cleanup() { end_jvm; }
cp "$here/workload/fake_jvm.py" . && chmod 644 fake_jvm.py

begin "a JVM that nobody has asked for anything yet"
start_jvm answer
record -p "$jvm" -e offcpu -d 0.3 -o out.folded --jvm-map
[ "$(sort -u jvm/asked)" = "1|jcmd|Compiler.perfmap|||" ] || fail "asked: $(cat jvm/asked)"
[ "$(wc -l <jvm/asked)" = 2 ] || fail "not asked at start and end: $(cat jvm/asked)"
[ -s said ] && fail "says: $(cat said)"
[ -e jvm/.attach_pid"$jvm" ] && fail "leaves a file behind"
"$pkbpf" doctor --pid "$jvm" | grep -q '^Java: it has written a perf map' || fail "doctor does not see the perf map"
end_jvm

# asks: as record, with warnings
asks() {
	"$pkbpf" -p "$jvm" -e offcpu -d 0.3 -o out.folded --jvm-map >said 2>&1 || fail "status $?: $(cat said)"
}

# It maps its library while the record is under way: its mappings are known.
begin "a JVM beside the target is asked for nothing"
start_jvm answer
target=$jvm
mkdir beside && chmod 777 beside
(cd beside && exec setpriv --reuid nobody --regid nogroup --clear-groups \
	sh -c 'until [ -e go ]; do sleep 0.05; done; exec /usr/bin/python3 "$@"' sh "$work/fake_jvm.py" "$work/beside" answer) >ready2 &
other=$!
(sleep 0.7 && : >beside/go) &
record -p "$target" -e offcpu -d 2.5 -o out.folded --jvm-map
grep -q ready ready2 || fail "the other one did not start: the record is too short"
[ -s jvm/asked ] || fail "the target was not asked"
[ -e beside/asked ] && fail "asked, though it is no target: $(cat beside/asked)"
[ -e "/tmp/perf-$other.map" ] && fail "was made to write a file"
kill $other
wait $other
end_jvm

begin "a JVM that does not know the command"
start_jvm refuse
asks
grep -q "cannot ask JVM $jvm for a perf map: it answers 'java.lang.IllegalArgumentException: .* \[0m'" said ||
	fail "does not say why there are no names"
"$pkbpf" doctor --pid "$jvm" | grep -q '^Java: .*--jvm-map' || fail "doctor does not name the option"
end_jvm

begin "a JVM that does not handle the signal"
start_jvm deaf
asks
grep -q "does not handle SIGQUIT" said || fail "does not say why there are no names"
kill -0 "$jvm" || fail "the process has been killed"
end_jvm

conclude
