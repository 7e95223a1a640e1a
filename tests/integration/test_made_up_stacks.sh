#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A program that makes its stacks up, a thousand frames of new addresses each time, does not make pkbpf grow, whose account stays
# complete.
# usage: test_made_up_stacks.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
[ "$(uname -m)" = x86_64 ] || skip "the program makes x86-64 code"
work=$(mktemp -d /tmp/pkbpf-made-up-XXXXXX)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

"$pkbpf" -q -e cpu -F 999 -o ran.json -o ran.folded -- "$workloads/shifting_stacks" 12 2>log || {
	cat log
	exit 1
}
"$pkbpf" -q -e offcpu -o slept.json -o slept.folded -- "$workloads/shifting_stacks" 20 1000 sleeping 2>log || {
	cat log
	exit 1
}
python3 - <<'P' || failures=$((failures + 1))
import json

failed = 0


def check(what, holds):
    global failed
    print(("  ok: " if holds else "  NOT: ") + what)
    failed += not holds


def folded(name):
    lines = [line.rsplit(" ", 1) for line in open(name)]
    return [(stack, int(weight)) for stack, weight in lines]


for kind in ("ran", "slept"):
    r = json.load(open(kind + ".json"))
    counters = {c["name"]: c["count"] for c in r["counters"]}
    mib = r["cost"]["max_resident_bytes"] / 2**20
    # Kept one and all, those of twelve seconds would take more than a GiB.
    check(f"{kind}: {mib:.0f} MiB resident at most", mib < 320)
    stacks = folded(kind + ".folded")
    cut = sum(weight for stack, weight in stacks if "[truncated: rare, shortened to save memory]" in stack)
    check(f"{kind}: {100 * cut / sum(w for _, w in stacks):.0f} % in stacks that were shortened, and say so", cut > 0)
    check(f"{kind}: {counters.get('STACK_SHORTENED', 0)} events are said to have one", counters.get("STACK_SHORTENED", 0) > 0)
    # What names a stack never comes before the stack.
    check(f"{kind}: every event has its stack", "STACK_UNKNOWN" not in counters)
    if kind == "ran":
        samples = r["samples"]
        check(f"{samples['expected']} samples = {samples['recorded']} recorded + {samples['lost']} lost",
              samples["expected"] == samples["recorded"] + samples["lost"])
        check("they are in the stacks", sum(w for _, w in stacks) == samples["recorded"])
raise SystemExit(failed > 0)
P
[ "$failures" = 0 ] || { echo "$failures failed"; exit 1; }
