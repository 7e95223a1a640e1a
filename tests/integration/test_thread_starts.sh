#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Threads from their first moment: in the function that makes them, whose caller is none of theirs. Workers of the kernel have no stack in
# user code, whatever process they belong to.
# usage: test_thread_starts.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
work=$(mktemp -d /tmp/pkbpf-thread-starts-XXXXXX)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

# check WHAT FILE LEAST: of so many samples at least, none is cut that begins where threads are made or that a worker has. That memory is
# exchanged by execve is told.
check() {
	PYTHONPATH=$here python3 - "$@" <<'P' || failures=$((failures + 1))
import sys
import folded

what, path, least = sys.argv[1], sys.argv[2], int(sys.argv[3])
total = 0
cut = {}
for frames, count in folded.read(path):
    user = folded.user_frames(frames[1:])
    if what == "workers":
        if not frames[0].startswith("iou-"):
            continue
    elif "clone3" not in user and "clone" not in user and "__clone" not in user:
        continue
    total += count
    if any(frame.startswith("[truncated") and "execve" not in frame for frame in frames) or (what == "workers" and user):
        cut[";".join(frames)] = cut.get(";".join(frames), 0) + count
print(f"  {what}: {sum(cut.values())} of {total} cut")
if total < least or cut:
    folded.fail(f"{what}: {total} there, cut: {dict(sorted(cut.items(), key=lambda x: -x[1])[:3])}")
P
}

for what in threads children workers; do
	"$pkbpf" -q -e cpu,offcpu -F 4999 -o $what.folded -- "$workloads/starts_threads" $what 3 || failures=$((failures + 1))
	check $what $what.cpu.folded 20
	[ $what != workers ] || check $what $what.offcpu.folded 1000
done
exit $((failures > 0))
