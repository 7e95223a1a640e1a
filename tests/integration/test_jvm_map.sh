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
