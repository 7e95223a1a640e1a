#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# alone: samples of code that is read late, as beside load, have no whole stack
# Stacks of Java threads are whole without any flag, with each compiler and collector, and as deep as the program makes them.
# usage: test_hotspot_stacks.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

evidence=(said)
jvm=
end_jvm() {
	[ -z "$jvm" ] || { kill "$jvm" && wait "$jvm"; } 2>/dev/null
	jvm=
}
cleanup() { end_jvm; }

mapfile -t compilers < <(for file in /usr/lib/jvm/*/bin/javac; do [ -x "$file" ] && readlink -f "$file"; done | sort -u)
[ ${#compilers[@]} -gt 0 ] || skip "needs a JDK in /usr/lib/jvm"
[ "$(uname -m)" = x86_64 ] || skip "frames of HotSpot are known on x86-64 only"
cp "$here/workload/Depths.java" .

# check FOLDED: whole stacks of the two threads; the number of calls below each leaf
check() {
	checker - "$1" "$2" <<'P'
import sys
samples = whole = leaves = 0
wrong, others = {}, {}
for line in open(sys.argv[1]):
    stack, count = line.rsplit(" ", 1)
    frames = stack.split(";")
    # Of a wait that has ended before its stack was read there is none.
    if not frames[0].startswith("depths-") or len(frames) == 1 or "thread resumed before" in stack:
        continue
    samples += int(count)
    if any(frame.startswith("[truncated") for frame in frames):
        wrong[stack[:150]] = wrong.get(stack[:150], 0) + int(count)
        continue
    whole += int(count)
    # Only a call is a place with debug information: elsewhere what is inlined at the leaf is that of the next one.
    if not any("Depths.leaf" in frame for frame in frames) or ("waits" in sys.argv[2] and "Thread.sleep" not in stack):
        continue
    steps = sum(".step" in frame for frame in frames)
    # An interpreted frame may have no name.
    unnamed = sum("[interpreter]" in frame for frame in frames)
    if 31 - unnamed <= steps <= 31:
        leaves += int(count)
    else:
        others[steps] = others.get(steps, 0) + int(count)
print(f"    {sys.argv[2]}: {whole} of {samples} whole, {leaves} of them 31 calls deep, others {others}")
if samples < 50 or whole < 0.995 * samples:
    sys.exit(f"FAILED: {sys.argv[2]}: {samples - whole} of {samples} not whole: {wrong}")
if sum(others.values()) > (0 if "waits" in sys.argv[2] else 0.05 * samples):
    sys.exit(f"FAILED: {sys.argv[2]}: other depths: {others}")
if not leaves and "-Xint" not in sys.argv[2]:
    sys.exit(f"FAILED: {sys.argv[2]}: no stack of known depth")
P
}

for compiler in "${compilers[@]}"; do
	home=${compiler%/bin/javac}
	begin "$home"
	rm -rf classes && mkdir classes
	"$compiler" -d classes Depths.java >said 2>&1 || { fail "Depths.java: $(cat said)"; continue; }
	for flag in -XX:+UseG1GC -XX:+UseSerialGC -XX:+UseParallelGC -XX:+UseZGC -Xint -XX:TieredStopAtLevel=1; do
		rm -f ready
		rounds=20000
		[ $flag != -Xint ] || rounds=500
		"$home/bin/java" $flag -cp classes Depths ready $rounds >java.log 2>&1 &
		jvm=$!
		if wait_until 60 test -e ready; then
			record -p "$jvm" -e cpu,offcpu -F 499 -d 3 -o out.folded &&
				check out.cpu.folded "$flag, CPU" && check out.offcpu.folded "$flag, waits"
		else
			not_checked "$flag: $(head -n 1 java.log)"
		fi
		end_jvm
	done
done

conclude
