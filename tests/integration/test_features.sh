#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# alone: it counts samples of moments
# Stacks that are hard to walk: signals, other stacks, exceptions, vfork, libraries that come and go, files without a name.
# usage: test_features.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"


# Of sizes that differ, so that one's code does not lie where the other's was.
for number in 1 2; do
	printf 'static volatile int sink; %s
	__attribute__((noinline)) int enter%d(int (*burn)(double), double seconds) { sink = burn(seconds); return sink + 1; }
	int enter(int (*burn)(double), double seconds) { sink = enter%d(burn, seconds); return sink + 1; }\n' \
		"$([ $number = 1 ] || echo 'int unused(int x) { return x * 3 + sink; }')" $number $number |
		gcc -x c -O2 -fomit-frame-pointer -fPIC -shared - -o "$work/lib$number.so" || exit 1
done

# check NAME WHOLE CHAIN FILE: WHOLE is the smallest share of stacks that reach the root, CHAIN what follows in order,
# with commas, in those that end in burn(); * is any number of frames
check() {
	checker - "$@" <<'P'
import re
import sys
import checks
import folded

name, bound, chain, path = sys.argv[1], float(sys.argv[2]), sys.argv[3].split(","), sys.argv[4]
pattern = ";".join(".*" if link == "*" else re.escape(link) for link in chain).replace(";.*;", ";(?:.*;)?")
total = whole = right = 0
examples = {}
for frames, count in folded.read(path):
    user = [f.split("(")[0] for f in folded.user_frames(frames)[1:]]
    # What the program does before main() is not what is tested here.
    if not {"burn", "throws", "catches", "lands"} & set(user):
        continue
    total += count
    cut = user[0].startswith("[truncated")
    whole += count * (not cut)
    if not cut and re.search(rf"(^|;){pattern}(;|$)", ";".join(user)):
        right += count
    elif len(examples) < 3:
        examples[";".join(user)[-300:]] = count
print(f"  {name}: {total} stacks, {100 * whole / max(total, 1):.2f} % whole, {100 * right / max(total, 1):.2f} % as expected")
if total < 50 or right < bound * total - 1:
    checks.fail(f"{name}: {right} of {total} as expected; others: {examples}")
P
}

# feature NAME WHOLE CHAIN
feature() {
	record -e cpu -F 999 -o "$1.folded" -- "$program" "$1" 0.7 ./lib1.so ./lib2.so || return
	check "$1 ($compiler)" "$2" "$3" "$1.folded"
}

# living NAME [CALLERS]: profiles what has just been started, when its file is no longer what it was, or never had a name
living() {
	local name=$1 pid=$!
	uses $pid 100 || fail "$name: it does not run"
	record_use $pid 1000 -e cpu -F 999 -o "$name.folded"
	kill $pid
	wait $pid 2>/dev/null
	check "$name ($compiler)" 0.995 "_start,*,main,${2:-plainly},burn" "$name.folded"
}

without_file() {
	cp "$program" "$work/vanishing"
	"$work/vanishing" plain 300 &
	runs $! vanishing
	rm "$work/vanishing"
	[ "$1" != replaced_file ] || cp /bin/true "$work/vanishing"
	living "$1"
}

# As "go test" does: built, run and deleted before anybody asks for names.
deleted_after_its_end() {
	record -e cpu -F 999 -o "$1.folded" -- bash -c 'cp "$0" "$1" && "$1" plain 0.7; rm "$1"' "$program" ./vanishing
	check "$1 ($compiler)" 0.995 '_start,*,main,plainly,burn' "$1.folded"
}

for compiler in ${PKBPF_COMPILERS:-g++}; do
	program=$work/features_${compiler%++}
	$compiler -x c++ -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -Wl,-z,lazy "$here/workload/features.inc" \
		-o "$program" -ldl -lrt -pthread || exit 1
	feature signal 0.995 '_start,*,main,raises,*,on_signal,burn'
	feature interrupt 0.9 '_start,*,main,interrupted,burn,*,on_signal,burn'
	# Before the tables are there, which takes some ten milliseconds, a copy of one stack is taken, and the other one is not in it.
	feature alternate_stack 0.94 '_start,*,main,on_other_stack,raises,*,on_signal,burn'
	feature plt 0.995 '_start,*,main,through_plt,*,compare,burn'
	# While an exception passes, libgcc overwrites the frames that it leaves: no one can walk those.
	feature throw 0.97 '_start,*,main,catches'
	feature longjmp 0.997 '_start,*,main,lands'
	feature vfork 0.995 '_start,*,main,below_vfork,burn'
	feature thread 0.995 'start_thread,in_thread,burn'
	feature fiber 0.995 '__start_context,in_fiber,burn'
	feature moved_text 0.995 '_start,*,main,moves_text,in_moved_text,burn'
	"$program" moved_text 300 &
	living moved_text_seen_later 'moves_text,in_moved_text'
	feature dlopen 0.995 '_start,*,main,loads,enter,*,burn'
	if [ "$(uname -m)" = x86_64 ]; then
		feature bare_fiber 0.995 'run_on_stack,in_fiber,burn'
		feature generated 0.93 '_start,*,main,generates,*,in_generated,burn'
	else
		not_checked "bare fibers and generated code: they are x86-64 code"
	fi
	"$program" memory 300 &
	living memory_file
	without_file deleted_file
	without_file replaced_file
	deleted_after_its_end deleted_program
done
grep -q enter1 "$work/dlopen.folded" && grep -q enter2 "$work/dlopen.folded" || {
	fail "one of two libraries at changing addresses was never named"
}
conclude
