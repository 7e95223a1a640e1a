#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# Hardened and changing machines: /proc of processes only, a process that is frozen, a block device that is gone at the end,
# containers of image builds.
# usage: test_environment.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

root=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
base=$root/pkbpf-environment-$$
jobs_started=()
cleanup() {
	[ ${#jobs_started[@]} = 0 ] || kill "${jobs_started[@]}" 2>/dev/null
	wait 2>/dev/null
	[ -e /dev/loop77 ] && [ -e made_device ] && losetup -d /dev/loop77 2>/dev/null
	[ ! -d "$base" ] || find "$base" -depth -type d -exec rmdir {} + 2>/dev/null
}
# busy: computes until it is killed
busy() {
	sh -c 'while :; do :; done' &
	jobs_started+=($!)
}

begin "/proc of processes only"
if unshare --mount sh -c 'mount -t proc -o subset=pid proc /proc && ! [ -e /proc/stat ]'; then
	# shellcheck disable=SC2016 # the inner shell's
	unshare --mount sh -c 'mount -t proc -o subset=pid proc /proc && exec "$1" -d 1 -o out.json' sh "$pkbpf" 2>err ||
		fail "status $?: $(head -n 1 err)"
	grep -q 'mount /proc without subset=pid' err || fail "no remedy: $(head -n 3 err)"
	checker - <<'P'
import json
import checks

report = json.load(open("out.json"))
if not report["rows"]:
    checks.fail("no process")
P
else
	not_checked "the kernel cannot mount /proc with subset=pid"
fi

if [ -n "$root" ] && mkdir -p "$base/docker/buildkit/frozen" 2>/dev/null; then
	begin "frozen"
	busy
	echo "${jobs_started[0]}" >"$base/docker/buildkit/frozen/cgroup.procs"
	freeze() { echo "$1" >"$base/docker/buildkit/frozen/cgroup.freeze" && wait_until 60 grep -q "frozen $1" "$base/docker/buildkit/frozen/cgroup.events"; }
	"$pkbpf" -v -e offcpu --wait-states -p "${jobs_started[0]}" -o frozen.folded 2>err &
	jobs_started+=($!)
	wait_until 60 profiling err || fail "no profile: $(cat err)"
	freeze 1
	sleep 1
	freeze 0
	kill -INT "${jobs_started[-1]}"
	wait "${jobs_started[-1]}" || fail "status $?: $(cat err)"
	awk '/;\[sleep\] / { sleep += $NF } /;\[stopped\] / { stopped += $NF }
		END { printf "  %.2f s stopped, %.2f s asleep\n", stopped / 1e6, sleep / 1e6; exit !(stopped > 9e5 && sleep < 2e5) }' \
		frozen.folded || fail "not told as stopped"

	begin "containers of image builds"
	for id in r4d0yw2ozf4qbqd2mfsmp3f8k 0w9x8c7v6b5n4m3l2k1j0h9g8; do
		mkdir "$base/docker/buildkit/$id"
		busy
		echo "${jobs_started[-1]}" >"$base/docker/buildkit/$id/cgroup.procs"
	done
	record -e cpu -d 1 --by container -o builds.json && checker - <<'P'
import json
import checks

names = {r["container"] for r in json.load(open("builds.json"))["rows"] if r.get("container")}
wanted = {"buildkit:frozen", "buildkit:r4d0yw2ozf4qbqd2mfsmp3f8k", "buildkit:0w9x8c7v6b5n4m3l2k1j0h9g8"}
if not wanted <= names:
    checks.fail(f"{names}, wanted {wanted}")
P
else
	not_checked "no cgroup v2 hierarchy that can be written"
fi

begin "a device that is gone at the end"
if [ -e /dev/loop-control ] && [ ! -e /sys/block/loop77 ]; then
	touch made_device
	truncate -s 1M backing
	cat >device.sh <<'S'
python3 - <<'P'
import fcntl, os
fcntl.ioctl(os.open("/dev/loop-control", os.O_RDWR), 0x4C80, 77)  # LOOP_CTL_ADD
P
losetup /dev/loop77 backing && dd if=/dev/zero of=/dev/loop77 bs=4k count=50 oflag=direct status=none
sleep 2 # until it was heard of
losetup -d /dev/loop77
sleep 0.2
python3 - <<'P'
import fcntl, os
fcntl.ioctl(os.open("/dev/loop-control", os.O_RDWR), 0x4C81, 77)  # LOOP_CTL_REMOVE
P
S
	record -e blockio --slow-io 0 -o device.json -- sh device.sh && checker - <<'P'
import json
import checks

report = json.load(open("device.json"))
names = {d["name"] for d in report["devices"]} | {r["device"] for r in report["slow_requests"]}
if "loop77" not in names or any(":" in n for n in names):
    checks.fail(f"devices {names}")
P
else
	not_checked "no loop devices"
fi

conclude
