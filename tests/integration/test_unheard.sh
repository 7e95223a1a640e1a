#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# alone: it fills the buffers of the host
# What processes do without that pkbpf hears of it: code that was moved has names all the same, and after side-band records
# were lost, so have programs that were started meanwhile.
# usage: test_unheard.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

profiler=
targets=
late=
# shellcheck disable=SC2086,SC2317
cleanup() {
	kill -KILL $profiler $targets $late
	wait
} 2>/dev/null

# mremap() moves code, and nothing announces it.
record -e cpu -F 999 -o moved.folded -- "$workloads/move_code" 2 || exit 1
checker - <<'P'
import checks
import folded

stacks = [(folded.user_frames(f), c) for f, c in folded.read("moved.folded") if f[0] == "move_code"]
named, total = folded.share(stacks, lambda f: f[-3:] == ["main", "moved_outer", "moved_inner"])
print(f"  moved code: {total} samples, {100 * named:.1f} % with all names")
# A process whose maps were read in vain is left alone for a while.
if total < 100 or named < 0.3:
    checks.fail(f"{100 * named:.1f} % of {total} samples in moved code have all names")
P

# Nor that memory took the place of all code, before the profile began.
if [ "$(uname -m)" = x86_64 ]; then
	"$workloads/replace_text" 600 >replaced &
	targets=$!
	wait_until 60 test -s replaced
	record_use "$targets" 700 -e cpu -F 999 -o replaced.folded || exit 1
	kill "$targets"
	checker - <<'P'
import checks
import folded

whole, total = folded.share([(folded.user_frames(f), c) for f, c in folded.read("replaced.folded")],
                            lambda f: f[1] == "_start" and f[-3:] == ["main", "outer", "inner"])
print(f"  replaced code: {total} samples, {100 * whole:.1f} % whole")
if total < 100 or whole < 0.98:
    checks.fail(f"{100 * whole:.1f} % of {total} samples in replaced code are whole")
P
else
	not_checked "code in whose place memory was mapped: the program is x86-64 code"
fi

# While pkbpf is stopped, its rings overflow on every CPU: it hears neither of the program that starts then, nor that a shell
# becomes another. With frame pointers, which these keep, no stack's walk misses anything either.
mkfifo "$work/go"
cp "$workloads/spin" "$work/late_start"
cp "$workloads/spin" "$work/late_exec"
# shellcheck disable=SC2016
bash -c 'read -r _ <"$1"; exec "$2" 600' waits "$work/go" "$work/late_exec" &
targets=$!
"$pkbpf" -v -e cpu -F 999 --unwind fp --pid-frame -d 250 -o all.folded -o all.json 2>err &
profiler=$!
wait_until 60 profiling err || give_up "pkbpf does not start: $(cat err)"
kill -STOP $profiler
python3 - <<'P'
import mmap
import os

for cpu in os.sched_getaffinity(0):
    os.sched_setaffinity(0, [cpu])
    for _ in range(8000):
        mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC).close()
P
"$work/late_start" 600 &
late=$!
echo >"$work/go"
runs $targets late_exec && runs $late late_start && uses $late 100
kill -CONT $profiler
# A ring tells of losses before the next record that it has room for.
for cpu in $(seq 0 $(($(nproc) - 1))); do
	taskset -c "$cpu" true
done
uses $targets 1500 && uses $late 1500
kill -INT $profiler
targets="$targets $late"
wait $profiler || give_up "pkbpf ended with $?: $(cat err)"
profiler=
# shellcheck disable=SC2086
checker - $targets <<'P'
import sys
import checks
import folded

lost = checks.counters(checks.read_report("all.json")).get("LOST_SIDEBAND", 0)
print(f"  {lost} side-band records lost")
if lost < 1000:
    checks.fail("too few were lost: this tests nothing")
for pid, comm in zip(sys.argv[1:], ("late_exec", "late_start")):
    stacks = [(folded.user_frames(f), c) for f, c in folded.read("all.folded") if f[0].endswith("-" + pid)]
    # The shell was there before it became the program.
    stacks = [(f, c) for f, c in stacks if "spin_here" in f or not f[0].startswith("bash-")]
    comms = {f[0] for f, _ in stacks}
    named, total = folded.share(stacks, lambda f: f[-1] == "spin_here")
    print(f"  {sorted(comms)}: {total} samples, {100 * named:.1f} % with names")
    # What was sampled while pkbpf was stopped is not made up for.
    if total < 100 or named < 0.3:
        checks.fail(f"{100 * named:.1f} % of {total} samples of {comm} have names")
    if comms != {f"{comm}-{pid}"}:
        checks.fail(f"pid {pid} is called {sorted(comms)}")
P
conclude
