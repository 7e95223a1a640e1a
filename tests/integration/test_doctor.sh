#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# `pkbpf doctor`: says that profiling works here, and shows the stacks of a living process of many threads.
# usage: test_doctor.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

leaderless=
target=
cleanup() { kill $target $leaderless 2>/dev/null; }

"$pkbpf" doctor >out || give_up "doctor ended with $?"
grep -q '^profiling will work$' out || give_up "doctor does not say that profiling will work"
"$pkbpf" doctor --json >doctor.json || give_up "doctor --json ended with $?"
if command -v jsonschema >/dev/null; then
	jsonschema -i doctor.json "$here/../../user/cli/doctor.schema.json" >said 2>&1 || fail "doctor --json does not follow its schema: $(head -c 300 said)"
else
	not_checked "the schema of doctor --json: no jsonschema"
fi
checker - <<'P'
import json
from checks import check

with open("doctor.json") as file:
    checks = json.load(file)["checks"]
with open("out") as file:
    text = file.read()
for c in checks:
    mark = "ok" if c["present"] else "missing" if c["required"] else "without"
    check(f"{mark:8} {c['name']}" in text, f"{c['name']}: {mark} in both")
    check(c["present"] or (c["reason"] and c["remedy"] and c["reason"] in text), f"{c['name']}: reason and remedy")
P

# One EPERM has several causes: a filter of system calls, or no right to them.
cat >without_bpf.py <<'P'
import ctypes, os, struct, sys
bpf = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
rules = [(0x20, 0, 0, 0), (0x15, 0, 1, bpf), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *rule) for rule in rules))
class Filter(ctypes.Structure):
    _fields_ = [("count", ctypes.c_ushort), ("rules", ctypes.c_void_p)]
libc = ctypes.CDLL(None)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(Filter(len(rules), ctypes.addressof(code))), 0, 0):
    sys.exit("no filter here")
os.execv(sys.argv[1], sys.argv[1:])
P
python3 without_bpf.py "$pkbpf" doctor >out 2>&1
grep -q '^missing *BPF ring buffer: .*the seccomp filter of the container refuses bpf(); .*seccompProfile' out || fail "not a word of the filter: $(grep ring out)"
setpriv --bounding-set=-bpf,-perfmon,-sys_admin --inh-caps=-all "$pkbpf" doctor >out 2>&1
grep -q '^missing *BPF ring buffer: .*CAP_BPF and CAP_PERFMON are missing; .*capabilities.add' out || fail "not a word of the rights: $(grep ring out)"

# A program with threads that wait in library code: python's own and three of its pool.
python3 - <<'P' &
import threading, time
for _ in range(3):
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
time.sleep(60)
P
target=$!
for _ in $(seq 600); do
	[ "$(ls /proc/$target/task 2>/dev/null | wc -l)" = 4 ] && break
	sleep 0.05
done
"$pkbpf" doctor --pid "$target" >out || give_up "doctor --pid ended with $?"
grep -q '^4 of 4 stacks complete$' out || give_up "not all stacks are complete"
grep -qE 'libc.so.6( \(|$)' out || give_up "the C library is not among the mappings"
[ "$(grep -c 'clone3\? \|_start ' out)" -ge 4 ] || give_up "the stacks do not reach the roots of their threads"

# Threads that work for it in the kernel.
(cd "$work" && exec "$workloads/starts_threads" workers 10) &
worked_for=$!
for _ in $(seq 600); do
	grep -qs '^iou-wrk' /proc/$worked_for/task/*/comm && break
	sleep 0.05
done
"$pkbpf" doctor --pid "$worked_for" >out || give_up "doctor --pid ended with $?"
grep -q '^thread [0-9]* iou-wrk-[0-9]*: no user stack (a kernel worker of the process)' out || give_up "a worker of the kernel is not known for one"
grep -q '^1 of 1 stacks complete$' out || give_up "a worker's stack counts"
kill "$worked_for"

"$pkbpf" doctor --pid 4194303 >out 2>&1 && give_up "a process that does not exist was examined"
grep -q 'cannot examine pid 4194303: no such process' out || give_up "no clear message for a wrong pid"

# Where somebody may not look at a process, that is the reason, and not that there is nothing to see.
mkdir bin && cp "$pkbpf" bin/pkbpf && chmod 755 . bin bin/pkbpf
setpriv --reuid nobody --regid nogroup --clear-groups "$work/bin/pkbpf" doctor --pid "$target" >out 2>&1 &&
	give_up "somebody else's process was examined"
grep -q "cannot examine pid $target: cannot read /proc/$target/maps: Permission denied" out ||
	give_up "no clear message for a process that may not be looked at"

# A process's first thread may end before the others, and shows no memory then.
cat >"$work/leaderless.c" <<'C'
#include <pthread.h>
#include <unistd.h>
static void *waits(void *none)
{
	return (void *)(long)pause();
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, waits, NULL);
	pthread_exit(NULL);
}
C
gcc -O2 -pthread "$work/leaderless.c" -o "$work/leaderless" || exit 1
"$work/leaderless" &
leaderless=$!
until grep -q '^State:.*Z' /proc/$leaderless/status; do sleep 0.05; done
"$pkbpf" doctor --pid $leaderless >out 2>&1 || give_up "doctor --pid of a process without its first thread ended with $?"
grep -q '^1 of 1 stacks complete$' out || give_up "threads without their process's first: $(grep '^thread\|complete$' out)"
"$pkbpf" -q -e offcpu -d 0.3 -p $leaderless -o "$work/leaderless.folded" || give_up "status $?"
grep -q ';start_thread;waits;' "$work/leaderless.folded" && ! grep -q truncated "$work/leaderless.folded" ||
	give_up "the wait without the first thread: $(cat "$work/leaderless.folded")"
kill $leaderless
leaderless=

# Programs that have just begun map their libraries while they are looked at.
for _ in $(seq 20); do
	sleep 0.5 &
	"$pkbpf" doctor --pid $!
done >out 2>&1
wrong=$(grep -c '^thread.*address in no mapping' out)
[ "$wrong" -le 2 ] || give_up "of 20 programs that had just begun, $wrong have a stack outside of their mappings"
conclude
