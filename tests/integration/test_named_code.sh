#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Generated code has the name that its run-time gave it at the time of the sample.
# usage: test_named_code.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

[ "$(uname -m)" = x86_64 ] || skip "the workload has code of x86-64 alone"

cleanup() { xargs -r -I{} rm -f "/tmp/perf-{}.map" <pids; }

# One program each, of another name, so that its stacks are found.
ways='replaced rewritten late forked executed dumped memfd shm tmp container'
for way in $ways; do
	ln "$workloads/named_code" "code_$way" 2>/dev/null || cp "$workloads/named_code" "code_$way"
done
cat >all.sh <<'S'
for way in replaced rewritten late forked executed dumped; do
	"./code_$way" $way &
done
./code_memfd file memfd &
./code_shm file /dev/shm &
./code_tmp file /tmp &
unshare --fork --pid --mount --mount-proc sh -c 'mount -t tmpfs none /tmp && exec "$1" there' sh "$1" >/dev/null &
wait
S
# Its own /tmp hides this folder.
in_container=$(mktemp -d /dev/shm/pkbpf-XXXXXX) && cp code_container "$in_container" || exit 1
"$pkbpf" -q -e cpu -F 499 -o all.folded -- sh all.sh "$in_container/code_container" >pids || give_up "pkbpf: status $?"
rm -rf "$in_container"

checker - all.folded $ways <<'P'
import collections
import sys
import checks
import folded

# Of the samples below calls(), at least so many of each name, as far as a host that takes CPUs away leaves them, and no other name; "A or B" may be where one follows the other.
wanted = {
    "replaced": {"code_first": 0.2, "code_second": 0.2},
    "rewritten": {"code_first": 0.2, "code_second": 0.2},
    "late": {"code_late": 0.95},
    "forked": {"code_of_parent": 0.4, "code_of_child": 0.1},
    "executed": {"code_before": 0.1, "[unknown]": 0.3},
    "dumped": {"code_dumped": 0.95},
    "memfd": {"code_there": 0.95},
    "shm": {"code_there": 0.95},
    "tmp": {"code_there": 0.95},
    "container": {"code_there": 0.95},
}
seen = collections.defaultdict(collections.Counter)
for frames, count in folded.read(sys.argv[1]):
    user = folded.user_frames(frames)
    if "calls" in user and user[-1] == "burn":
        name = user[user.index("calls") + 1].removesuffix("_[j]")
        seen[frames[0].removeprefix("code_")][name] += count
for way in sys.argv[2:]:
    names, total = seen[way], seen[way].total()
    print(f"{way}: {dict(names)}")
    if total < 40:
        checks.fail(f"{way}: only {total} samples")
        continue
    for name, share in wanted[way].items():
        if names[name] < share * total:
            checks.fail(f"{way}: {name} has {names[name]} of {total} samples")
    others = [n for n in names if any(part not in wanted[way] for part in n.split(" or "))]
    if others:
        checks.fail(f"{way}: {others}")
P
conclude
