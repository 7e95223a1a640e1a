#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Python functions stand in user stacks between the native frames that call them and that they call, for CPU samples and
# waits, also when the process has ended before its names are asked for.
. "$(dirname "$0")/prelude.sh"

# The system's interpreter, or those that PKBPF_PYTHONS names, separated by colons.
IFS=: read -ra pythons <<<"${PKBPF_PYTHONS:-$(python3 -c 'import sys; print(sys.executable)')}"
[ -n "${pythons[0]:-}" ] || skip "needs python3"
cp "$here/workload/python_chains.py" .

cat >check.py <<'END'
import re
import sys

import checks

PREFIX = ["<module>", "main"]
CHAINS = {
    "outer_function": ["outer_function", "outer_function.<locals>.inner_function", "burn"],
    "generator_user": ["generator_user", "numbers", "burn"],
    "sorting": ["sorting", "sort_key", "burn"],
    "descend": ["descend"] * 11 + ["burn"],
    "Counter.read_property": ["Counter.read_property", "Counter.value", "burn"],
    "main.<locals>.<lambda>": ["main.<locals>.<lambda>", "burn"],
}
PLAIN = {name.rsplit(".", 1)[-1]: chain for name, chain in CHAINS.items()}


def functions_of(stack):
    return [m[1] for m in (re.fullmatch(r"(.*) \(python_chains\.py\)(?:_\[p\])?", frame) for frame in stack.split(";")) if m]


def lines(path):
    with open(path) as file:
        for line in file:
            stack, weight = line.rsplit(" ", 1)
            yield stack, int(weight)


def strip(name):
    return name.rsplit(".", 1)[-1]


has_names = sys.argv[3] == "named"
right = wrong = 0
seen = set()
for stack, weight in lines(sys.argv[1]):
    functions = functions_of(stack)
    if "burn" not in functions:
        continue
    # Versions before 3.11 have no qualified names.
    chain = [strip(name) for name in functions]
    expected = PLAIN.get(chain[2], None) if len(chain) > 2 else None
    if chain[:2] == PREFIX and expected and chain[2:] == [strip(name) for name in expected]:
        right += weight
        seen.add(chain[2])
    else:
        wrong += weight
        print("wrong chain:", chain)
    # sorted() calls the key function: C code stands between them, where its functions have names.
    if has_names and re.search(r";sorting \([^;]*;sort_key \(", stack):
        print("no native frame between the caller and its callback:", stack)
        wrong += weight
checks.check(wrong == 0, f"{right} samples have the known chain, {wrong} another one")
checks.check(seen == set(PLAIN), f"chains seen: {sorted(seen)}")

waits = {}
for stack, weight in lines(sys.argv[2]):
    functions = functions_of(stack)
    if functions and strip(functions[-1]).startswith("sleeping"):
        waits[strip(functions[-1])] = waits.get(strip(functions[-1]), 0) + weight
        checks.check(strip(functions[-2]) == "in_thread", f"sleeps below {functions}")
first, second = waits.get("sleeping_first", 0), waits.get("sleeping_second", 0)
checks.check(set(waits) == {"sleeping_first", "sleeping_second"}, f"sleeping functions: {waits}")
# As often as each other, but for how late a busy machine wakes them.
checks.check(0.3 < first / max(second, 1) < 3, f"the two sleep {first} and {second}")
END

# What is left out of a stripped interpreter: the names of its functions that no other file calls.
names_of() {
	local file
	for file in "$(readlink -f "$("$1" -c 'import sys; print(sys.executable)')")" $(ldd "$1" 2>/dev/null | awk '/libpython/ { print $3 }'); do
		nm "$file" 2>/dev/null | grep -q ' list_sort' && echo named && return
	done
	echo stripped
}

for python in "${pythons[@]}"; do
	begin "$("$python" -V): a program from its first instruction to its end"
	record -e cpu,offcpu -F 499 -o stacks.folded -- "$python" python_chains.py 3 &&
		checker check.py stacks.cpu.folded stacks.offcpu.folded "$(names_of "$python")"
done

cat >deep.py <<'P'
import sys, time
sys.setrecursionlimit(10000)
def burn():
    for i in range(100000):
        pass
def deep(depth):
    return deep(depth - 1) if depth else burn()
end = time.process_time() + 0.7
while time.process_time() < end:
    deep(int(sys.argv[1]))
P
cat >deep_check.py <<'P'
import sys
import checks
import folded

burning = wrong = 0
for frames, count in folded.read("deep.folded"):
    names = [name.split(" (")[0] for name in frames]
    if "burn" in names:
        burning += count
        before = names[:names.index("burn")]
        run = len(before) - before.index("deep") if "deep" in before else 0
        first = before[before.index("deep") - 1] if run else ""
        # deep() alone, and marked, or all of it below the module.
        right = run > 100 and set(before[-run:]) == {"deep"} and (any("truncated" in name for name in names) or (first == "<module>" and run == int(sys.argv[1]) + 1))
        wrong += 0 if right else count
        if not right:
            print("   ", count, run, ";".join(names)[:150], "...", ";".join(names)[-150:])
print(f"  depth {sys.argv[1]}: {burning} samples, {wrong} of them out of order or without a mark")
if burning < 20 or wrong:
    checks.fail(f"{wrong} of {burning} samples of a recursion out of order")
P
for python in "${pythons[@]}"; do
	# Before 3.11 each Python frame takes room on the C stack, and has native frames beside it.
	"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || continue
	for depth in 300 3000; do
		begin "$("$python" -V): recursion $depth deep"
		record -e cpu -F 499 -o deep.folded -- "$python" deep.py $depth && checker deep_check.py $depth
	done
done

begin "a program that runs already, without Python frames"
"${pythons[0]}" python_chains.py 600 &
target=$!
uses $target 300 || fail "it does not run"
if record -e cpu -p $target -d 1 --python off -o off.folded; then
	grep -q 'python_chains' off.folded && fail "--python off shows Python frames"
	grep -q . off.folded || fail "no stacks"
else
	fail "no record with --python off"
fi
kill $target
wait $target 2>/dev/null

conclude
