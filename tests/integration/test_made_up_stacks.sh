#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# alone: it floods the ring buffer
# A program that makes its stacks up, a thousand frames of new addresses each time, does not make pkbpf grow, whose account stays
# complete.
# usage: test_made_up_stacks.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
[ "$(uname -m)" = x86_64 ] || skip "the program makes x86-64 code"

record -e cpu -F 999 -o ran.json -o ran.folded -- "$workloads/shifting_stacks" 12 || exit 1
record -e offcpu -o slept.json -o slept.folded -- "$workloads/shifting_stacks" 20 1000 sleeping || exit 1
checker - <<'P'
import json
from checks import check
def folded(name):
    lines = [line.rsplit(" ", 1) for line in open(name)]
    return [(stack, int(weight)) for stack, weight in lines]


for kind in ("ran", "slept"):
    r = json.load(open(kind + ".json"))
    counters = {c["name"]: c["count"] for c in r["counters"]}
    mib = r["cost"]["max_resident_bytes"] / 2**20
    # Kept one and all, those of twelve seconds would take more than a GiB.
    check(mib < 320, f"{kind}: {mib:.0f} MiB resident at most")
    stacks = folded(kind + ".folded")
    cut = sum(weight for stack, weight in stacks if "[truncated: rare, shortened to save memory]" in stack)
    check(cut > 0, f"{kind}: {100 * cut / sum(w for _, w in stacks):.0f} % in stacks that were shortened, and say so")
    check(counters.get("STACK_SHORTENED", 0) > 0, f"{kind}: {counters.get('STACK_SHORTENED', 0)} events are said to have one")
    # What names a stack never comes before the stack.
    check("STACK_UNKNOWN" not in counters, f"{kind}: every event has its stack")
    if kind == "ran":
        samples = r["samples"]
        check(samples["expected"] == samples["recorded"] + samples["lost"],
              f"{samples['expected']} samples = {samples['recorded']} recorded + {samples['lost']} lost")
        check(sum(w for _, w in stacks) == samples["recorded"], "they are in the stacks")
P
conclude
