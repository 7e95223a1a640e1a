#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# alone: it forks as fast as the machine can
# Thousands of short programs: samples belong to the right one, and memory does not grow with their number.
# usage: test_fork_storm.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"


gcc -x c -O2 -fomit-frame-pointer "$here/workload/storm.inc" -o "$work/storm" || exit 1
export STORM_FOLDER=$work/names
mkdir "$STORM_FOLDER"
for ((i = 0; i < 2000; i++)); do
	ln "$work/storm" "$STORM_FOLDER/s$((i % 16))_$i"
done

# Prints the peaks of a process's memory as long as it lives: its own, and all that is resident. Only its own can grow
# with what it sees: the rest are buffers of fixed size, resident once they have been used around.
watch_memory() {
	local name value unit own=0 all=0
	while [ -r "/proc/$1/status" ]; do
		while read -r name value unit; do
			case $name in
			RssAnon:) [ "$value" -le "$own" ] || own=$value ;;
			VmHWM:) all=$value ;;
			esac
		done <"/proc/$1/status" 2>/dev/null
		sleep 0.02
	done 2>/dev/null
	: "$unit"
	echo "$own $all"
}

# storm COUNT: sets own_kib and all_kib
storm() {
	local pid
	"$pkbpf" -q -e cpu -F 999 -o "$1.folded" --full -o "$1.txt" -- ./storm "$1" 5 >out 2>err &
	pid=$!
	read -r own_kib all_kib < <(watch_memory $pid)
	wait $pid || fail "pkbpf ended with $? after $1 programs: $(cat err)"
}

storm 500
few=$own_kib
storm 2000
echo "  own memory: $few KiB with 500 programs, $own_kib KiB with 2,000; all that is resident: $all_kib KiB"
# A process that has ended costs its rows of the profile and its account, and each stack that only it had one and a half kibibytes
# with its frames: how many those are depends on how slowly the machine starts programs. Mappings, tables and symbols are shared or
# given back. The heap grows by a megabyte at a time, and tables by doubling: three of them either way are chance.
new_stacks=$(($(wc -l <2000.folded) - $(wc -l <500.folded)))
limit_kib=$((1500 * 6 + new_stacks * 3 / 2 + 3 * 1024))
[ $((own_kib - few)) -le $limit_kib ] ||
	fail "1,500 more programs cost $((own_kib - few)) KiB, of which $new_stacks stacks and their rows explain $limit_kib"
[ "$all_kib" -le $((64 * 1024)) ] && [ "$few" != 0 ] || fail "$all_kib KiB are resident"

checker - "$work/2000.folded" <<'P'
import re
import sys
import checks
import folded

right = wrong = complete = user = 0
kinds, comms, examples = set(), set(), {}
for frames, count in folded.read(sys.argv[1]):
    done = [f for f in frames if re.match(r"work_\d+$", f)]
    whole = not any(f.startswith("[truncated") for f in frames)
    # Late in execve the old stack is gone and the new one not yet there: nothing to walk.
    if len(folded.user_frames(frames)) > 1 and "[truncated: inside execve]" not in frames:
        user += count
        complete += count * whole
    if not done:
        continue
    kind = done[0][len("work_"):]
    if re.match(rf"s{kind}_\d+$", frames[0]):
        right += count
        kinds.add(kind)
        comms.add(frames[0])
    else:
        wrong += count
        examples[frames[0] + " in " + done[0]] = count
total = right + wrong
print(f"  {total} samples in work_N, {100 * right / max(total, 1):.2f} % under their comm, {len(comms)} comms seen;"
      f" {100 * complete / max(user, 1):.2f} % of {user} user stacks whole")
if examples:
    print("  elsewhere:", dict(list(examples.items())[:5]))
# A host that takes a CPU away takes the samples of whole programs.
if total < 1000 or right <= 0.95 * total:
    checks.fail(f"{right} of {total} samples are attributed to the right comm")
if len(kinds) != 16 or len(comms) < 1000:
    checks.fail(f"only {len(comms)} of 2000 programs were seen")
if complete < 0.98 * user:
    checks.fail(f"only {complete} of {user} user stacks are whole")
P
grep -E '^(samples|stacks|overhead)' "$work/2000.txt" | sed 's/^/  /'

# Still in the kernel, but with the registers of a program or a signal's handler that is about to begin: nothing has called its
# first instruction, and what lies before it is another function.
record -e cpu -F 9999 -o first.folded -- bash -c 'for i in {1..600}; do /bin/true; done'
checker - "$work/first.folded" <<'P'
import sys
import checks
import folded

whole = cut = known = stacks = popped = handler = 0
for frames, count in folded.read(sys.argv[1]):
    user = folded.user_frames(frames)[1:]
    if user and user[0] != "[truncated: inside execve]":
        stacks += count
        known += count * (not user[0].startswith("[truncated"))
    if "arch_do_signal_or_restart_[k]" in frames or "do_notify_resume_[k]" in frames:
        handler += count * (user[:1] == ["[truncated: address in no mapping]"])
    if len(user) == len(frames) - 1:
        popped += count * (user[0] == "[truncated: stack memory not readable]" and len(user) == 2)
    if len(user) == len(frames) - 1 or frames[0] != "true":
        continue
    whole += count * (len(user) == 1 and ("[ld-" in user[0] or user[0] in ("_start", "_dl_start_user")))
    cut += count * (user[:1] == ["[truncated: no unwind info]"])
print(f"  at first instructions: {whole} whole, {cut} without unwind info")
if whole < 5 or cut > whole / 4:
    checks.fail(f"{cut} stacks at first instructions are cut, {whole} whole")
if handler:
    checks.fail(f"{handler} stacks at the first instruction of a signal's handler are cut")
# Most are copied, as many as there are samples.
print(f"  at a high frequency: {100 * known / max(stacks, 1):.2f} % of {stacks} user stacks whole, {popped} without all that is popped")
if known < 0.985 * stacks:
    checks.fail(f"only {known} of {stacks} user stacks are whole at 9,999 Hz")
# A function's last instructions leave below the stack pointer what call frame information goes on naming.
if popped > 1:
    checks.fail(f"{popped} copies begin behind what a function has just popped")
P

for pages in 8 40; do
	record -e cpu -F 9999 -o hollow.folded -- bash -c 'for i in {1..100}; do "$0" "$1"; done' "$workloads/hollow" $pages
	checker - "$work/hollow.folded" $pages <<'P'
import sys
import checks
import folded

stacks = whole = 0
for frames, count in folded.read(sys.argv[1]):
    if "work_below_hollow" in frames:
        stacks += count
        whole += count * ("_start" in frames and "be_hollow" in frames)
# Every one of them is copied, since no program lives until its tables are there.
print(f"  below {sys.argv[2]} pages that nobody has touched: {whole} of {stacks} stacks whole")
if stacks < 50 or whole < 0.98 * stacks:
    checks.fail(f"only {whole} of {stacks} stacks with untouched pages in them are whole")
P
done
conclude
