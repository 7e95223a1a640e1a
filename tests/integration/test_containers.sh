#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Containers that begin and end inside: their cgroups, and the files that know their names, are gone before the report is made.
# usage: test_containers.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
work=$(mktemp -d /tmp/pkbpf-containers-XXXXXX)
for root in /sys/fs/cgroup /sys/fs/cgroup/unified; do
	[ -e $root/cgroup.controllers ] && break
done
# Docker's folder, below one of our own: other tests, or Docker, may have theirs at the root.
base=$root/pkbpf-test-$$
jobs_started=()
cleanup() {
	for job in "${jobs_started[@]}"; do kill "$job" 2>/dev/null; done
	wait 2>/dev/null
	[ -d "$base" ] && find "$base" -depth -type d -exec rmdir {} + 2>/dev/null
	rm -rf "$work" "$file"
}
trap cleanup EXIT
cd "$work" || exit 1
mkdir -p "$base/docker" 2>/dev/null && [ -e "$base/cgroup.procs" ] || skip "no cgroup v2 hierarchy that can be written"

fail() {
	echo "FAILED: $*"
	failures=$((failures + 1))
}

# What a container does: 50 ms of computing, and a write that waits for the disk, where there is one.
file=/var/tmp/pkbpf-containers-$$
cat >brief.py <<'P'
import os, sys, time
with open(sys.argv[1] + "/cgroup.procs", "w") as procs:
    procs.write(str(os.getpid()))
while time.thread_time() < 0.05:
    pass
with open(sys.argv[2], "wb") as file:
    file.write(bytes(4096))
    os.fsync(file.fileno())
P

id_of() { # NUMBER
	printf '%064x' $((0x5eed0000000 + $1)) | rev
}

# 20 of them, one after the other; every other one has a name that Docker's files tell while it is there.
run_containers() {
	local i id
	for i in $(seq 20); do
		id=$(id_of "$i")
		mkdir "$base/docker/$id"
		if [ $((i % 2)) = 0 ]; then
			mkdir -p "lib/docker/containers/$id"
			echo "{\"Name\": \"/job-$i\"}" >"lib/docker/containers/$id/config.v2.json"
		fi
		python3 -S brief.py "$base/docker/$id" "$file"
		rmdir "$base/docker/$id" || echo "cannot remove $id"
		sleep 0.05
		rm -rf "lib/docker/containers/$id"
	done
}

# profile NAME OPTIONS…: until the containers are gone
profile() {
	local name=$1 profiler
	shift
	mkdir -p lib
	unshare -m bash -c 'mount --bind "$1" /var/lib && shift && exec "$@"' _ "$work/lib" \
		"$pkbpf" -v -d 120 "$@" -o "$name.json" -o "$name.txt" 2>"$name.err" &
	profiler=$!
	jobs_started+=("$profiler")
	for _ in $(seq 200); do
		grep -q "profiling since" "$name.err" && break
		sleep 0.1
	done
	run_containers
	sleep 0.3
	kill -INT $profiler
	wait $profiler || fail "$name: exit $?: $(tail -3 "$name.err")"
}

check() { # NAME BY
	python3 - "$@" "${base#"$root"}" <<'P' || fail "$1"
import json, sys
name, by, base = sys.argv[1:]
r = json.load(open(name + ".json"))
problems = 0
def check(what, holds):
    global problems
    print(f'  {"ok" if holds else "NOT"}: {name}: {what}')
    problems += not holds
expected = {}
for i in range(1, 21):
    number = f"{0x5eed0000000 + i:064x}"[::-1]
    expected[f"{base}/docker/{number}"] = f"docker:job-{i}" if i % 2 == 0 else "docker:" + number[:12]
rows = {}
for row in r["rows"]:
    rows.setdefault(row.get("cgroup"), []).append(row)
found = [path for path in expected if path in rows]
check(f"{len(found)} of 20 cgroups have rows", len(found) == 20)
if by == "container":
    check("each has one row", all(len(rows[path]) == 1 for path in found))
named = [path for path in found if all(row["container"] == expected[path] for row in rows[path])]
check(f"{len(named)} are called by their names: {sorted(rows[path][0].get('container') for path in found)[:3]} …", len(named) == len(expected))
times = [sum(row["cpu"]["total_ns"] for row in rows[path]) / 1e6 for path in found]
check(f"each has the time of what ran there: {min(times, default=0):.0f} to {max(times, default=0):.0f} ms", times and min(times) > 45)
slow = [x for x in r.get("slow_requests", []) if x.get("comm") == "python3"]
lost = [x for x in slow if x.get("cgroup") not in expected]
check(f"{len(slow)} requests of theirs one by one, {len(lost)} without their cgroup", not lost)
unknown = [row for row in r["rows"] if row.get("container") == "[unknown]" and row["cpu"]["total_ns"] > 25e6]
check(f"{len(unknown)} rows of unknown containers", not unknown)
sys.exit(problems > 0)
P
}

profile host -e cpu --by container
check host container
profile cgroup -G "$base" -e cpu,offcpu,blockio --slow-io 0 --top 200 --by container
check cgroup container
profile processes -G "$base/docker" --by process
check processes process

[ $failures = 0 ] || { echo "$failures failed"; exit 1; }
echo "all fine"
