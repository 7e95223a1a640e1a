#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# What processes do without that pkbpf hears of it: code that was moved has names all the same, and after side-band records
# were lost, so have programs that were started meanwhile.
# usage: test_unheard.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

work=$(mktemp -d /tmp/pkbpf-unheard-XXXXXX)
profiler=
targets=
# shellcheck disable=SC2086,SC2317
end() {
	kill -KILL $profiler $targets
	wait
	rm -rf "$work"
} 2>/dev/null
trap end EXIT
fail() {
	echo "FAILED: $*"
	cat "$work/err"
	exit 1
}

# mremap() moves code, and nothing announces it.
"$pkbpf" -q -e cpu -F 999 -o "$work/moved.folded" -- "$workloads/move_code" 2 2>"$work/err" || fail "pkbpf ended with $?"
PYTHONPATH=$here python3 - "$work/moved.folded" <<'P' || failures=$((failures + 1))
import sys
import folded

stacks = [(folded.user_frames(f), c) for f, c in folded.read(sys.argv[1]) if f[0] == "move_code"]
named, total = folded.share(stacks, lambda f: f[-3:] == ["main", "moved_outer", "moved_inner"])
print(f"  moved code: {total} samples, {100 * named:.1f} % with all names")
# A process whose maps were read in vain is left alone for a while.
if total < 100 or named < 0.3:
    folded.fail(f"{100 * named:.1f} % of {total} samples in moved code have all names")
P

# Nor that memory took the place of all code, before the profile began.
if [ "$(uname -m)" = x86_64 ]; then
	"$workloads/replace_text" 60 >"$work/replaced" &
	targets=$!
	for _ in $(seq 100); do
		[ -s "$work/replaced" ] && break
		sleep 0.05
	done
	"$pkbpf" -q -e cpu -F 999 -d 1 -p "$targets" -o "$work/replaced.folded" 2>"$work/err" || fail "pkbpf ended with $?"
	kill "$targets"
	PYTHONPATH=$here python3 - "$work/replaced.folded" <<'P' || failures=$((failures + 1))
import sys
import folded

whole, total = folded.share([(folded.user_frames(f), c) for f, c in folded.read(sys.argv[1])],
                            lambda f: f[1] == "_start" and f[-3:] == ["main", "outer", "inner"])
print(f"  replaced code: {total} samples, {100 * whole:.1f} % whole")
if total < 100 or whole < 0.98:
    folded.fail(f"{100 * whole:.1f} % of {total} samples in replaced code are whole")
P
fi

# While pkbpf is stopped, its rings overflow on every CPU: it hears neither of the program that starts then, nor that a shell
# becomes another. With frame pointers, which these keep, no stack's walk misses anything either.
mkfifo "$work/go"
cp "$workloads/spin" "$work/late_start"
cp "$workloads/spin" "$work/late_exec"
# shellcheck disable=SC2016
bash -c 'read -r _ <"$1"; exec "$2" 60' waits "$work/go" "$work/late_exec" &
targets=$!
"$pkbpf" -q -e cpu -F 999 --unwind fp --pid-frame -d 6 -o "$work/all.folded" -o "$work/all.json" 2>"$work/err" &
profiler=$!
sleep 1.5
kill -STOP $profiler
python3 - <<'P'
import mmap
import os

for cpu in os.sched_getaffinity(0):
    os.sched_setaffinity(0, [cpu])
    for _ in range(8000):
        mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC).close()
P
"$work/late_start" 60 &
targets="$targets $!"
echo >"$work/go"
sleep 0.5
kill -CONT $profiler
# A ring tells of losses before the next record that it has room for.
for cpu in $(seq 0 $(($(nproc) - 1))); do
	taskset -c "$cpu" true
done
wait $profiler || fail "pkbpf ended with $?"
profiler=
# shellcheck disable=SC2086
PYTHONPATH=$here python3 - "$work/all" $targets <<'P' || failures=$((failures + 1))
import json
import sys
import folded

with open(sys.argv[1] + ".json", encoding="utf-8") as report:
    lost = {c["name"]: c["count"] for c in json.load(report)["counters"]}.get("LOST_SIDEBAND", 0)
print(f"  {lost} side-band records lost")
if lost < 1000:
    folded.fail("too few were lost: this tests nothing")
for pid, comm in zip(sys.argv[2:], ("late_exec", "late_start")):
    stacks = [(folded.user_frames(f), c) for f, c in folded.read(sys.argv[1] + ".folded") if f[0].endswith("-" + pid)]
    # The shell was there before it became the program.
    stacks = [(f, c) for f, c in stacks if "spin_here" in f or not f[0].startswith("bash-")]
    comms = {f[0] for f, _ in stacks}
    named, total = folded.share(stacks, lambda f: f[-1] == "spin_here")
    print(f"  {sorted(comms)}: {total} samples, {100 * named:.1f} % with names")
    # What was sampled while pkbpf was stopped is not made up for.
    if total < 100 or named < 0.3:
        folded.fail(f"{100 * named:.1f} % of {total} samples of {comm} have names")
    if comms != {f"{comm}-{pid}"}:
        folded.fail(f"pid {pid} is called {sorted(comms)}")
P
[ "$failures" = 0 ] || { echo "$failures failed"; exit 1; }
