#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Stacks and names of Java code without a flag, of each JVM that is installed: methods, inlined and interpreted ones, lines,
# what threads wait for as the JVM itself says it, and what doctor says.
# usage: test_hotspot.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

evidence=(said)
jvm=
cleanup() { [ -n "$jvm" ] && kill -9 "$jvm" 2>/dev/null && wait "$jvm" 2>/dev/null; }

# Those that can compile a source file.
find_jvms() {
	local javac
	for javac in $(command -v javac) /usr/lib/jvm/*/bin/javac; do
		[ -x "$javac" ] && readlink -f "$javac"
	done | sort -u | xargs -r -n 1 dirname
}

# start_jvm FOLDER_OF_PROGRAMS ROUNDS OPTION…
start_jvm() {
	local bin=$1 rounds=$2
	shift 2
	rm -f ready
	"$bin/java" "$@" -cp classes Names ready "$rounds" >java.out 2>&1 &
	jvm=$!
	rm -f "/tmp/perf-$jvm.map" # of an earlier process with this pid
	wait_until 60 test -e ready && return
	fail "not ready: $(tail -n 3 java.out)"
	end_jvm
	return 1
}

end_jvm() {
	kill -9 "$jvm" 2>/dev/null
	wait "$jvm" 2>/dev/null
	jvm=
}

check_names() {
	checker - names.folded <<'P'
import sys
import checks
import folded

stacks = [([f.removesuffix("_[j]").removesuffix("_[i]") for f in folded.user_frames(frames)], count)
          for frames, count in folded.read(sys.argv[1])]
working = [(frames, count) for frames, count in stacks if "Names.work" in frames]
samples = sum(count for _, count in working)
checks.check(samples >= 50, f"{samples} samples in Names.work")
unnamed, _ = folded.share(working, lambda frames: any(f.startswith("[unknown") for f in frames))
checks.check(unnamed == 0, f"{100 * unnamed:.1f} % of these have functions without names")
def chain(frames):
    names = [f for f in frames if f.startswith("Names.") or f.startswith("Names$")]
    walks = [f for f in names if f.endswith(".walk")]
    # The levels of the recursion alternate, whoever was inlined into whom.
    return all(a != b for a, b in zip(walks, walks[1:])) and len(walks) in (7, 21)
right, _ = folded.share(working, chain)
checks.check(right >= 0.95, f"{100 * right:.1f} % of these have all levels of the recursion, in turn")
glue, _ = folded.share(working, lambda frames: any("$$Lambda" in f or "LambdaForm" in f for f in frames))
checks.check(glue == 0, "no generated code between a call and a lambda")
P
}

check_lines() {
	checker - lines.folded "$here/workload/Names.java" <<'P'
import re
import sys
import checks
import folded

with open(sys.argv[2], encoding="utf-8") as file:
    source = file.read().split("\n")
wrong, seen = set(), set()
for frames, _ in folded.read(sys.argv[1]):
    for frame in frames:
        found = re.match(r"(Names\S*?)(?:_\[[ji]\])?[: (]+(?:.*/)?Names\.java:(\d+)", frame)
        if not found:
            continue
        seen.add(found[1])
        text = source[int(found[2]) - 1]
        call = {"Names$Square.walk": "depth", "Names$Circle.walk": "depth", "Names.through": "applyAsInt",
                "Names.work": ("sum", "for"), "Names.small": "return"}.get(found[1])
        if call and not any(word in text for word in ([call] if isinstance(call, str) else call)):
            wrong.add(f"{found[1]}: {found[2]}: {text.strip()}")
checks.check("Names.work" in seen and "Names$Square.walk" in seen, f"lines of {sorted(seen)}")
checks.check(not wrong, f"no line of another method: {sorted(wrong)}")
P
}

# check_waits FOLDER_OF_PROGRAMS: threads that stand still have the methods and lines that the JVM prints
check_waits() {
	"$1/jcmd" "$jvm" Thread.print >threads.txt 2>&1 || { fail "jcmd: $(tail -n 2 threads.txt)"; return; }
	record -e offcpu -d 1 -p "$jvm" --lines -o waits.folded || return
	checker - waits.folded threads.txt <<'P'
import re
import sys
import checks
import folded

printed, thread = {}, None
with open(sys.argv[2], encoding="utf-8") as lines:
    for line in lines:
        if line.startswith('"'):
            thread = printed.setdefault(line.split('"')[1], [])
        found = re.match(r"\s+at (\S+)\((?:\S+/)?([^)]*)\)", line)
        # Classes of lambdas are left out.
        if found and "$$Lambda" not in found[1]:
            thread.insert(0, (found[1], int((re.search(r":(\d+)$", found[2]) or [0, 0])[1])))
for name in ("object-waiter", "parker", "taker"):
    stacks = [(count, folded.user_frames(frames)) for frames, count in folded.read(sys.argv[1]) if frames[0] == name]
    if not stacks:
        checks.check(False, f"a wait of {name}")
        continue
    seen = []
    for frame in max(stacks)[1]:
        found = re.match(r"([\w.$<>]+)(?: \(\w+\.java:(\d+)\))?_\[[ji]\]$", frame)
        if found and "." in found[1]:
            seen.append((found[1], int(found[2] or 0)))
    checks.check(len(seen) >= 3 and seen == printed[name], f"{name} waits where the JVM says: {seen}")
    if seen != printed[name]:
        print(f"    the JVM: {printed[name]}\n    of {max(stacks)[1]}")
P
}

cp "$here/workload/Names.java" .
jvms=$(find_jvms)
[ -n "$jvms" ] || skip "no Java compiler"
[ "$(uname -m)" = x86_64 ] || skip "code of JVMs is read on x86-64 alone"

for bin in $jvms; do
	begin "$("$bin/java" -version 2>&1 | head -n 1)"
	rm -rf classes
	"$bin/javac" -d classes Names.java >said 2>&1 || { fail "Names.java: $(cat said)"; continue; }
	start_jvm "$bin" 15000 -XX:CompileCommand=dontinline,Names.work || continue
	"$pkbpf" doctor --pid "$jvm" >doctor.txt 2>&1
	if grep -q '^Java: this version is not known' doctor.txt; then
		not_checked "$(grep '^Java:' doctor.txt)"
		end_jvm
		continue
	fi
	grep -Eq '^Java [0-9.]+: [0-9,.k]+ compiled methods' doctor.txt || fail "doctor says: $(grep Java doctor.txt)"
	record_use "$jvm" 1500 -e cpu -F 499 -o names.folded -o names.json && check_names
	record_use "$jvm" 1500 -e cpu -F 499 --lines -o lines.folded && check_lines
	check_waits "$bin"
	[ -e "/tmp/perf-$jvm.map" ] && fail "the JVM was made to write a perf map"
	end_jvm

	begin "$current, interpreted"
	start_jvm "$bin" 5 -Xint || continue
	check_waits "$bin"
	record_use "$jvm" 1500 -e cpu -F 499 -o names.folded && check_names
	end_jvm
done

conclude
