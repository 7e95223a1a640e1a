#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# alone: it measures shares of a CPU
# Programs of known cost: shares of four call chains, whole chains, and samples against CPU seconds.
# usage: test_shares.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"


# check NAME UNWIND WHOLE COMPILER FLAG…: WHOLE is the smallest share of chains that must be whole
check() {
	local name=$1 unwind=$2 whole=$3
	shift 3
	"$@" -o "$name" || { fail "cannot compile $name"; return; }
	local stolen
	# Where it is no part of a program's CPU seconds, the sampling timer's periods go on meanwhile; where it is, nobody is sampled.
	stolen=$(stolen_us)
	record -F 999 --unwind "$unwind" -f folded -o out -- "./$name" 10.5 || return
	stolen=$(($(stolen_us) - stolen))
	checker - "$name" "$whole" out said "$stolen" <<'P'
import sys
import checks
import folded

name, whole, out, said = sys.argv[1], float(sys.argv[2]), sys.argv[3], sys.argv[4]
stacks = folded.read(out)
total = sum(count for _, count in stacks)
words = open(said).read().split("\n")[-2].split()
switches, cpu_seconds = int(words[0]), float(words[-1])
stolen_seconds = int(sys.argv[5]) / 1e6
ratio = total / (999 * cpu_seconds)
problems = []
for chain, expected in (("fifty", 0.50), ("thirty", 0.30), ("fifteen", 0.15), ("five", 0.05)):
    wanted = [f"{chain}_{part}" for part in ("top", "middle", "leaf")] + ["burn"]
    def stripped(frames):
        return [f.split("(")[0] for f in frames]
    got, _ = folded.share(stacks, lambda f: folded.holds_in_order(stripped(f), wanted))
    print(f"  {name}: {chain}: {100 * got:.2f} % (expected {100 * expected:.0f})")
    # Four standard deviations of so many samples.
    if abs(got - expected) > 0.005 + 4 * (expected * (1 - expected) / max(total, 1)) ** 0.5:
        problems.append(f"{chain} has {100 * got:.2f} %")
complete, _ = folded.share(stacks, lambda f: "main" in f and not any(x.startswith("[truncated") for x in f))
print(f"  {name}: {total} samples, {100 * complete:.3f} % reach main, samples / (Hz * CPU s) = {ratio:.4f}, {switches} switches, {stolen_seconds} s stolen")
if complete < whole:
    problems.append(f"only {100 * complete:.3f} % of the chains are whole")
if total < 1000:
    problems.append(f"only {total} samples")
# A stretch on a CPU has a whole number of periods of that CPU's timer: one more or less, by chance, with variance 1/6. What
# is taken away divides stretches, too: by milliseconds, at worst. Four standard deviations.
chance = 4 * ((switches + 1000 * stolen_seconds) / 6) ** 0.5 / max(total, 1)
if not 0.99 - chance - stolen_seconds / cpu_seconds <= ratio <= (1.01 + chance) * (cpu_seconds + stolen_seconds) / cpu_seconds:
    problems.append(f"samples are {ratio:.4f} of Hz times CPU seconds")
if problems:
    checks.fail(f"{name}: " + "; ".join(problems))
P
}

src=$here/workload/four_chains.inc
# clang, because gcc leaves the frame pointer out of leaf functions whatever it is told: their callers would be missing.
check c_frame_pointers_by_helper fp 0.99 clang -x c -O2 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer "$src"
check c_omits_frame_pointers auto 0.995 gcc -x c -O2 -fomit-frame-pointer "$src"
check cplusplus_omits_frame_pointers auto 0.995 g++ -x c++ -O2 -fomit-frame-pointer "$src"
conclude
