#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# alone: it starts more processes than others leave room for in the table
# Containers that begin and end inside: their cgroups, and the files that know their names, are gone before the report is made.
# usage: test_containers.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
for root in /sys/fs/cgroup /sys/fs/cgroup/unified; do
	[ -e $root/cgroup.controllers ] && break
done
# Docker's folder, below one of our own: other tests, or Docker, may have theirs at the root.
base=$root/pkbpf-test-$$
jobs_started=()
file=/var/tmp/pkbpf-containers-$$
cleanup() {
	for job in "${jobs_started[@]}"; do kill "$job" 2>/dev/null; done
	wait 2>/dev/null
	[ -d "$base" ] && find "$base" -depth -type d -exec rmdir {} + 2>/dev/null
	rm -f "$file"
}
mkdir -p "$base/docker" 2>/dev/null && [ -e "$base/cgroup.procs" ] || skip "no cgroup v2 hierarchy that can be written"

# What a container does: 100 ms of computing, and a write that waits for the disk, where there is one.
cat >brief.py <<'P'
import os, sys, time
with open(sys.argv[1] + "/cgroup.procs", "w") as procs:
    procs.write(str(os.getpid()))
# The interpreter's start does not count: it was no container's.
until = time.thread_time() + 0.1
while time.thread_time() < until:
    pass
with open(sys.argv[2], "wb") as file:
    file.write(bytes(4096))
    os.fsync(file.fileno())
P

id_of() { # NUMBER
	printf '%064x' $((0x5eed0000000 + $1)) | rev
}

# COUNT of them, one after the other; every other one has a name that Docker's files tell while it is there.
run_containers() { # COUNT
	local i id
	for i in $(seq "$1"); do
		id=$(id_of "$i")
		if [ $((i % 2)) = 0 ]; then
			mkdir -p "lib/docker/containers/$id"
			echo "{\"Name\": \"/job-$i\"}" >"lib/docker/containers/$id/config.v2.json"
		fi
		mkdir "$base/docker/$id"
		python3 -S brief.py "$base/docker/$id" "$file"
		rmdir "$base/docker/$id" || echo "cannot remove $id"
		sleep 0.05
		rm -rf "lib/docker/containers/$id"
	done
}

# profile NAME COUNT OPTIONS…: until the containers are gone
profile() {
	local name=$1 count=$2 profiler
	shift 2
	mkdir -p lib
	unshare -m bash -c 'mount --bind "$1" /var/lib && shift && exec "$@"' _ "$work/lib" \
		"$pkbpf" -v -d 120 "$@" -o "$name.json" --full -o "$name.txt" 2>"$name.err" &
	profiler=$!
	jobs_started+=("$profiler")
	wait_until 60 profiling "$name.err"
	run_containers "$count"
	sleep 0.3
	kill -INT $profiler
	wait $profiler || fail "$name: exit $?: $(tail -3 "$name.err")"
}

check() { # NAME BY
	checker - "$@" "${base#"$root"}" <<'P'
import sys
from checks import check, not_checked, read_report

name, by, base = sys.argv[1:]
print(name)
r = read_report(name + ".json")
expected = {}
for i in range(1, 21):
    number = f"{0x5eed0000000 + i:064x}"[::-1]
    expected[f"{base}/docker/{number}"] = f"docker:job-{i}" if i % 2 == 0 else "docker:" + number[:12]
rows = {}
for row in r["rows"]:
    rows.setdefault(row.get("cgroup"), []).append(row)
found = [path for path in expected if path in rows]
check(len(found) == 20, f"{len(found)} of 20 cgroups have rows")
if by == "container":
    check(all(len(rows[path]) == 1 for path in found), "each has one row")
named = [path for path in found if all(row["container"] == expected[path] for row in rows[path])]
check(len(named) == len(expected), f"{len(named)} are called by their names: {sorted(rows[path][0].get('container') for path in found)[:3]} …")
times = [sum(row["cpu"]["total_ns"] for row in rows[path]) / 1e6 for path in found]
check(times and min(times) > 45, f"each has the time of what ran there: {min(times, default=0):.0f} to {max(times, default=0):.0f} ms")
slow = [x for x in r.get("slow_requests", []) if x.get("comm") == "python3"]
lost = [x for x in slow if x.get("cgroup") not in expected]
check(not lost, f"{len(slow)} requests of theirs one by one, {len(lost)} without their cgroup")
if name == "cgroup" and not slow:
    not_checked("cgroups of slow block requests: /var/tmp is on no disk")
unknown = [row for row in r["rows"] if row.get("container") == "[unknown]" and row["cpu"]["total_ns"] > 25e6]
check(not unknown, f"{len(unknown)} rows of unknown containers")
P
}

# Those that start later, by name: the others have none.
check_chosen() {
	checker - <<'P'
from checks import check, read_report

print("chosen by name")
r = read_report("chosen.json")
rows = {row["container"]: row["cpu"]["total_ns"] / 1e6 for row in r["rows"]}
check(set(rows) == {"docker:job-2", "docker:job-4"}, f"these are the targets: {sorted(map(str, rows))}")
check(rows and min(rows.values()) > 40, f"from their start on: {min(rows.values(), default=0):.0f} ms at least")
P
}

profile host 20 -e cpu --by container
check host container
profile cgroup 20 -G "$base" -e cpu,offcpu,blockio --slow-io 0 --top 200 --by container
check cgroup container
profile processes 20 -G "$base/docker" --by process
check processes process

profile chosen 4 --container 'docker:job-*' -e cpu --by container
check_chosen

begin "a frozen cgroup is said to be frozen"
if mkdir "$base/frozen" && echo 1 >"$base/frozen/cgroup.freeze" 2>/dev/null; then
	"$workloads/spin" 20 &
	jobs_started+=($!)
	echo $! >"$base/frozen/cgroup.procs"
	wait_until 60 grep -q "frozen 1" "$base/frozen/cgroup.events"
	"$pkbpf" -d 0.3 -e cpu --cgroup "$base/frozen" -o frozen.folded 2>err
	grep -q "pkbpf-test-$$/frozen could not run: frozen" err || fail "it is not said: $(cat err)"
	echo 0 >"$base/frozen/cgroup.freeze"
else
	not_checked "cgroups cannot be frozen"
fi

conclude
