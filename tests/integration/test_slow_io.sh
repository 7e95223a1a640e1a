#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# alone: it freezes a file system
# The list of slow block requests against requests that a frozen file system holds back for a known time.
# usage: test_slow_io.sh PKBPF WORKLOAD_FOLDER
work_below=/var/tmp
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
schema=$here/../../user/export/json/report.schema.json
PATH=$PATH:/usr/sbin:/sbin
for tool in fio losetup mkfs.ext4 python3; do
	command -v $tool >/dev/null || skip "no $tool here"
done
losetup -f >/dev/null 2>&1 || skip "no loop devices here"
# memory/disk is a disk in memory, frozen/ is what is on it, and frozen/file is the device that is written to.
mkdir memory frozen
device=''
disk=''
cleanup() {
	# Thawed by whoever froze it, unless he was killed.
	mountpoint -q "$work/frozen" && fsfreeze -u "$work/frozen" 2>/dev/null
	[ -z "$device" ] || losetup -d "$device"
	umount "$work/frozen" 2>/dev/null
	[ -z "$disk" ] || losetup -d "$disk"
	umount "$work/memory" 2>/dev/null
}
mount -t tmpfs -o size=200m none memory && truncate -s 160M memory/disk && disk=$(losetup -f --show memory/disk) &&
	mkfs.ext4 -q "$disk" && mount "$disk" frozen && dd if=/dev/zero of=frozen/file bs=1M count=64 status=none &&
	sync frozen/file && device=$(losetup -f --show frozen/file) || give_up "no device to write to"

# A completion that a busy virtual machine hides from every BPF program (see test_blockio.sh) must not fail this: three
# tries.
# try TITLE CHECK
try() {
	begin "$1"
	for _ in 1 2 3; do
		rm -f report.json report.txt
		if PYTHONPATH=$here timeout 90 python3 "$here/slow_io.py" "$pkbpf" "$workloads/slow_writes" "$device" frozen "$2" \
			>check.txt 2>&1; then
			grep '^NOT CHECKED' check.txt
			jsonschema -i report.json "$schema" >schema.txt 2>&1 && return
			echo "the report does not follow its schema: $(head -c 400 schema.txt)" >>check.txt
		fi
		fsfreeze -u frozen 2>/dev/null
	done
	fail "$(grep -v '^ok' check.txt | cut -c 1-1500)"
}

try "requests above the threshold, and only they: owner, stack, size, time" threshold
try "the slowest of many, whichever way they come" top
try "every request is slow" all
try "no list when none is wanted" none
try "a request that is not complete at the end" unfinished

conclude
