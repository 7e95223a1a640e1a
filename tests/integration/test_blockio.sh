#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# alone: it counts the requests of the host
# Block I/O against loads whose requests are known: counts, bytes, owners, stacks, latencies, stacked devices.
# usage: test_blockio.sh PKBPF WORKLOAD_FOLDER
# A folder on a disk, and one in memory.
work_below=/var/tmp
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

for tool in fio losetup python3; do
	command -v $tool >/dev/null || skip "no $tool here"
done
losetup -f >/dev/null 2>&1 || skip "no loop devices here"
devices=()
background=()
limited=
cleanup() {
	local each
	for each in ${background[@]+"${background[@]}"}; do kill "$each" 2>/dev/null; done
	for each in ${devices[@]+"${devices[@]}"}; do losetup -d "$each" 2>/dev/null; done
	[ -d /sys/kernel/tracing/instances/pkbpf-test ] && rmdir /sys/kernel/tracing/instances/pkbpf-test
	[ -d "$limited" ] && rmdir "$limited"
	umount "$work/memory" 2>/dev/null
}
mkdir memory && mount -t tmpfs -o size=200m none memory || exit 1

# new_device FILE OPTION…: a loop device of 128 MiB, its path in $device, its name in $name
new_device() {
	local file=$1
	shift
	[ -f "$file" ] || dd if=/dev/urandom of="$file" bs=1M count=128 status=none
	device=$(losetup -f --show "$@" "$file") || give_up "no loop device for $file"
	devices+=("$device")
	name=${device#/dev/}
}

# pkbpf in the background, running when this returns
start() {
	rm -f report.json out.folded err.txt
	"$pkbpf" -v -e blockio -o report.json -o out.folded 2>err.txt >/dev/null &
	profiler=$!
	wait_until 60 profiling err.txt || fail "pkbpf does not start: $(cat err.txt)"
}

stop() {
	kill -INT "$profiler"
	wait "$profiler" || fail "pkbpf ends with status $?: $(cat err.txt)"
}

# verify CHECK ARGUMENT…
verify() {
	PYTHONPATH=$here python3 "$here/blockio_check.py" report.json out.folded "$@" >check.txt 2>&1 && return
	wrong="$wrong
$*: $(grep -v '^ok' check.txt)"
}

# On busy virtual machines single completions were seen not to reach any BPF program although the kernel's own trace had
# them (pkbpf counts those it notices). Three tries, so that the test is about pkbpf.
# try TITLE FUNCTION
try() {
	begin "$1"
	for _ in 1 2 3; do
		wrong=
		"$2"
		[ -n "$wrong" ] || return
	done
	fail "$wrong"
}

run_fio() {
	fio --name=load --filename="$device" --minimal --randrepeat=0 --norandommap "$@" >fio.txt 2>&1 ||
		fail "fio: $(cat fio.txt)"
}

new_device memory/image

direct_reads() {
	start
	run_fio --direct=1 --ioengine=psync --rw=randread --bs=4k --number_ios=20000
	stop
	verify exact "$name" fio 20000 $((20000 * 4096))
	verify stacks fio 'pread|__libc_pread64|_start' 'blkdev_read_iter|blkdev_direct|vfs_read|ksys_pread'
}
try "direct reads, one at a time: requests, bytes, owner, stack" direct_reads

many_at_once() {
	start
	run_fio --direct=1 --ioengine=libaio --iodepth=16 --iodepth_batch=8 --rw=randrw --bs=4k --number_ios=6000
	stop
	verify exact "$name" fio 6000 $((6000 * 4096))
}
try "direct reads and writes, many at once" many_at_once

# What a program reads first it reads before its tables are there: its stacks are copied, and walked later.
short_programs() {
	start
	for _ in $(seq 100); do
		dd if="$device" of=/dev/null bs=4k count=2 iflag=direct status=none
	done
	stop
	verify stacks dd __libc_start_main 'blkdev_read_iter|blkdev_direct|vfs_read|ksys_read'
}
try "stacks of programs that have just begun" short_programs

# What is over without having been seen so counts as that, and took no time that anybody knows.
unseen_ends() {
	start
	run_fio --direct=1 --ioengine=psync --rw=randread --bs=4k --number_ios=3000
	python3 "$here/blockio_unseen.py" "$profiler" "$(stat -c '%Hr:%Lr' "$device")" >unseen.txt 2>&1 ||
		wrong="nothing to look at: $(cat unseen.txt)"
	stop
	verify unseen "$name" 3000 3
}
if command -v bpftool >/dev/null; then
	try "requests whose completion was not seen are not under way at the end" unseen_ends
else
	not_checked "requests whose completion was not seen: no bpftool"
fi

# fio forks its jobs; its own main process ends them.
load_begin() {
	fio --name=load --filename="$device" --minimal --randrepeat=0 --norandommap --direct=1 --rw=randread --bs=4k \
		--time_based --runtime=60 "$@" >/dev/null 2>&1 &
	load=$!
	background+=("$load")
}

load_end() {
	kill "$load"
	wait "$load" 2>/dev/null
}

chosen_process() {
	load_begin --ioengine=psync
	rm -f report.json out.folded err.txt
	"$pkbpf" -q -e blockio -o report.json -o out.folded -- fio --name=load --filename="$device" --minimal --thread \
		--direct=1 --ioengine=psync --rw=randread --bs=8k --number_ios=500 --norandommap >fio.txt 2>err.txt ||
		fail "status $?: $(cat err.txt)"
	load_end
	verify exact "$name" fio 500 $((500 * 8192))
}
try "requests of a chosen process only" chosen_process

# With a scheduler whoever runs it issues what others have queued.
chosen_beside_others() {
	load_begin --ioengine=libaio --iodepth=32 --numjobs=2
	"$pkbpf" -q -e blockio -o report.json -o out.folded -- fio --name=load --filename="$device" --minimal --thread \
		--direct=1 --ioengine=libaio --iodepth=32 --rw=randread --bs=4k --number_ios=4000 --norandommap >fio.txt 2>err.txt ||
		fail "status $?: $(cat err.txt)"
	load_end
	verify exact "$name" fio 4000 $((4000 * 4096))
}
if echo mq-deadline 2>/dev/null >"/sys/block/$name/queue/scheduler"; then
	try "none of those that others queued and it issued" chosen_beside_others
	echo none >"/sys/block/$name/queue/scheduler"
else
	not_checked "requests that others queued: loop devices have no I/O scheduler"
fi

# What a limit holds back is issued by a worker: for whom, only the cgroup tells, and only in version 2.
held_back() {
	# shellcheck disable=SC2016 # the shell that is started expands it
	local load=(sh -c 'echo $$ >"$1/cgroup.procs"; shift; exec "$@"' - "$limited" fio --name=load --filename="$device" --minimal
		--randrepeat=0 --norandommap --direct=1 --ioengine=libaio --iodepth=16 --rw=randrw --bs=4k --number_ios=600)
	"$pkbpf" -q -e blockio -o report.json -o out.folded -- "${load[@]}" >fio.txt 2>err.txt || fail "status $?: $(cat err.txt)"
	verify held_back fio 600
	[ -e "$limited/io.max" ] || { not_checked "requests of a cgroup held back: no io controller of cgroup version 2"; return; }
	rm -f err.txt
	"$pkbpf" -v -e blockio -G "$limited" -o report.json -o out.folded >/dev/null 2>err.txt &
	profiler=$!
	wait_until 60 profiling err.txt || fail "pkbpf does not start: $(cat err.txt)"
	"${load[@]}" >fio.txt 2>&1
	stop
	verify device "$name" 600
}
for controller in /sys/fs/cgroup /sys/fs/cgroup/blkio; do
	limited=$controller/pkbpf-test-$$
	mkdir "$limited" 2>/dev/null || continue
	limit="$(stat -c '%Hr:%Lr' "$device")"
	[ -e "$limited/io.max" ] && echo "$limit riops=150 wiops=150" >"$limited/io.max" && break
	[ -e "$limited/blkio.throttle.read_iops_device" ] && echo "$limit 150" >"$limited/blkio.throttle.read_iops_device" &&
		echo "$limit 150" >"$limited/blkio.throttle.write_iops_device" && break
	rmdir "$limited"
	limited=
done
if [ -d "$limited" ]; then
	try "requests that a limit of a cgroup holds back are told" held_back
else
	not_checked "requests that a limit of a cgroup holds back: no io or blkio controller"
fi

edges() {
	load_begin --ioengine=libaio --iodepth=8
	sleep 1
	start
	sleep 1.5
	stop
	load_end
	verify stacks fio 'io_submit|syscall|_start|libaio' 'io_submit|blkdev_|aio'
}
try "the profile begins and ends in the middle" edges

buffered_writes() {
	local spinner
	sh -c 'while :; do :; done' &
	spinner=$!
	background+=("$spinner")
	start
	dd if=/dev/zero of=buffered bs=1M count=48 status=none
	sync
	stop
	kill "$spinner"
	rm buffered
	verify bystander sh $((48 << 20))
}
try "buffered writes are nobody's who happens to run" buffered_writes

synced_writes() {
	local device=$work/synced
	start
	run_fio --ioengine=psync --rw=write --bs=4k --size=1m --fsync=1
	stop
	verify fsync fio 256 $((1 << 20))
}
try "what is synced belongs to who asks for it" synced_writes

new_device image --direct-io=on
lower=$(basename "$(readlink -f "/sys/dev/block/$(stat -c '%Hd:%Ld' image)")")
tracing=/sys/kernel/tracing
mountpoint -q $tracing || mount -t tracefs none $tracing 2>/dev/null

# A trace of every request, where tracefs has one.
trace_begin() {
	instance=$tracing/instances/pkbpf-test
	traced=
	mkdir $instance 2>/dev/null || return
	echo mono >$instance/trace_clock
	echo 16384 >$instance/buffer_size_kb
	echo 1 >$instance/events/block/block_rq_issue/enable &&
		echo 1 >$instance/events/block/block_rq_complete/enable && traced=1
}

trace_end() {
	[ -d $instance ] || return
	cat $instance/trace >trace.txt
	echo 0 >$instance/events/block/enable
	rmdir $instance
}

stacked() {
	trace_begin
	start
	run_fio --direct=1 --ioengine=psync --rw=randread --bs=4k --number_ios=3000
	stop
	trace_end
	verify stacked "$name" 3000 "$lower"
	[ -z "$traced" ] || verify percentiles "$name" trace.txt "$(stat -c '%Hr,%Lr' "$device")"
}
try "a stacked device counts once, its latency is that of each request" stacked
[ -n "$traced" ] || not_checked "percentiles against a trace: tracefs has no block events"

# Flushes are issued by workers of the kernel: for somebody we do not look at, which is known.
flushes_of_others() {
	local others
	(while dd if=/dev/zero of=flushed bs=4k count=1 conv=fsync,notrunc status=none; do :; done) &
	others=$!
	background+=("$others")
	"$pkbpf" -q -e cpu,blockio -o report.json -- "$workloads/spin" 3 2>err.txt || wrong="it failed: $(cat err.txt)"
	kill $others
	wait $others 2>/dev/null
	PYTHONPATH=$here python3 - <<-'P' || wrong="requests of others count as of somebody who is not known"
		import sys, checks
		told = checks.counters(checks.read_report("report.json")).get("BLOCKIO_BY_WORKER", 0)
		print("of nobody known:", told)
		sys.exit(told > 5) # what was submitted just before the start is nobody's known
	P
}
try "flushes for others than the targets are nobody's" flushes_of_others

# A device that takes I/O without making requests of it is told to be missing.
requestless() {
	local number
	number=$(cat /sys/class/zram-control/hot_add) || { fail "no zram device"; return; }
	echo 16M >/sys/block/zram"$number"/disksize
	start
	dd if=/dev/zero of=/dev/zram"$number" bs=4k count=500 oflag=direct status=none
	dd if=image of=/dev/null bs=4k count=10 iflag=direct status=none # for the profile has to have something
	stop
	echo "$number" >/sys/class/zram-control/hot_remove
	PYTHONPATH=$here python3 - <<-'P' || wrong="500 writes to it"
		import sys, checks
		sys.exit(checks.counters(checks.read_report("report.json")).get("BLOCKIO_REQUESTLESS", 0) < 500)
	P
}

requestless_of_targets() {
	local number
	number=$(cat /sys/class/zram-control/hot_add) || { fail "no zram device"; return; }
	echo 16M >/sys/block/zram"$number"/disksize
	"$pkbpf" -q -e cpu,blockio -o report.json -- sh -c 'dd if=/dev/zero of=$0 bs=4k count=500 oflag=direct status=none; $1 0.2' \
		/dev/zram"$number" "$workloads/spin" 2>err.txt || wrong="it failed: $(cat err.txt)"
	echo "$number" >/sys/class/zram-control/hot_remove
	PYTHONPATH=$here python3 - <<-'P' || wrong="500 writes to it, of a target"
		import sys, checks
		told = checks.counters(checks.read_report("report.json"))
		sys.exit(told.get("BLOCKIO_REQUESTLESS_HOST", 0) < 500 or "BLOCKIO_REQUESTLESS" in told)
	P
}
if [ -r /sys/class/zram-control/hot_add ]; then
	try "a device without requests" requestless
	try "a device without requests, where targets were chosen" requestless_of_targets
else
	not_checked "devices without requests: no zram"
fi

conclude
