#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Each row of CAPABILITIES in pkbpf(1): what works without a capability; what pkbpf gives up by itself; and that nothing of it is left in the kernel.
# usage: test_privileges.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
targets=()
cleanup() {
	for target in "${targets[@]}"; do kill "$target" 2>/dev/null; done
	wait 2>/dev/null
}
setpriv --reuid=1234 --bounding-set=-all,+bpf true 2>/dev/null || skip "setpriv does not know the capabilities of this kernel"
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] || skip "perf_event_paranoid is 3: CAP_SYS_ADMIN is needed"
chmod 755 "$work"
mkdir bin out private && chmod 777 out && chmod 700 private
cp "$pkbpf" bin/pkbpf && cp "$workloads/spin" bin/spin && cp "$workloads/spin" private/spin

# with CAPABILITIES COMMAND…: as a user who has these alone
with() {
	local these=$1
	shift
	setpriv --reuid=1234 --regid=1234 --clear-groups --inh-caps="-all$these" --ambient-caps="-all$these" \
		--bounding-set="-all$these" "$@"
}

# target PROGRAM: runs it as root
target() {
	"$@" >/dev/null &
	target=$!
	targets+=("$target")
}

# profile STATUS CAPABILITIES OPTIONS…
profile() {
	local status=$1 these=$2 got
	shift 2
	rm -f out/*
	with "$these" bin/pkbpf -q -d 500ms -F 499 "$@" -o out/p.folded -o out/p.json >said 2>err
	got=$?
	[ $got = "$status" ] || fail "exit status $got instead of $status: $(head -n 3 err)"
}

enough=,+bpf,+perfmon

target bin/spin 60
begin "CAP_BPF and CAP_PERFMON are needed"
profile 5 ,+perfmon -e cpu -p $target
grep -q 'CAP_BPF' err || fail "no remedy: $(cat err)"
profile 5 ,+bpf -e cpu -p $target
grep -q 'CAP_PERFMON' err || fail "no remedy: $(cat err)"

begin "they are enough for programs that anybody may read"
profile 0 $enough -e cpu -p $target
grep -q '_start;.*main;.*spin_here' out/p.folded || fail "no whole stack: $(head -n 2 out/p.folded)"
grep -q '"bpf_cpu_ns"' out/p.json && fail "the time of BPF programs cannot be known"
profile 0 $enough -e cpu,offcpu,blockio,faults
[ -s out/p.cpu.folded ] && [ -s out/p.offcpu.folded ] || fail "not all kinds"

begin "CAP_SYS_ADMIN adds the time of BPF programs"
profile 0 $enough,+sys_admin -e cpu -p $target
grep -q '"bpf_cpu_ns"' out/p.json || fail "no time of BPF programs"

begin "CAP_SYSLOG is not needed for names of kernel functions"
profile 0 $enough -e offcpu
if grep -qE '_\[k\]' out/p.folded; then
	grep -qE 'schedule_\[k\]|futex|poll.*_\[k\]' out/p.folded || fail "no names: $(grep -m 2 '_\[k\]' out/p.folded)"
fi

begin "files of others need CAP_DAC_READ_SEARCH, and CAP_SYS_PTRACE where their path leads nowhere"
target private/spin 60
profile 0 $enough -e cpu -p $target
[ -s out/p.folded ] || fail "nothing recorded"
grep -q spin_here out/p.folded && fail "a file that nobody else may read was read"
profile 0 $enough,+sys_ptrace,+dac_read_search -e cpu -p $target
grep -q spin_here out/p.folded || fail "no names with both: $(head -n 2 out/p.folded)"

begin "what pkbpf gives up when it is root"
"$pkbpf" -q -d 20 -e cpu -p $target -o out/root.folded 2>err &
profiler=$!
targets+=("$profiler")
for _ in $(seq 100); do
	grep -q '^Seccomp:	2' /proc/$profiler/status && break
	sleep 0.05
done
checker - $profiler <<'P'
import sys
from checks import check

status = dict(line.split(":\t", 1) for line in open(f"/proc/{sys.argv[1]}/status") if ":\t" in line)
# net_bind_service net_admin net_raw sys_module sys_rawio sys_chroot sys_boot sys_time mknod setfcap mac_admin setpcap
never = [10, 12, 13, 16, 17, 18, 22, 25, 27, 31, 33, 8]
for name in "CapEff", "CapPrm", "CapBnd":
    left = [c for c in never if int(status[name], 16) >> c & 1]
    check(not left, f"{name} is {status[name].strip()}: none of {never} left")
check(int(status["CapInh"], 16) == 0 and int(status["CapAmb"], 16) == 0, "nothing is handed on")
check(status["NoNewPrivs"].strip() == "1", "no_new_privs is set")
check(status["Seccomp"].strip() == "2", "system calls are filtered")
P
kill -INT $profiler && wait $profiler || fail "exit $?"

begin "without seccomp it runs, says so, and files are still read without rights"
"$workloads/no_seccomp" "$pkbpf" -d 20 -e cpu -p $target -o out/bare.folded 2>err &
profiler=$!
targets+=("$profiler")
reads() { keeper=$(pgrep -P $profiler -x pkbpf-keeper) && reader=$(pgrep -P "$keeper" -x pkbpf-reader); }
if wait_until 20 reads; then
	[ "$(awk '/^Cap(Prm|Eff|Inh|Amb)/ && $2 !~ /^0+$/' "/proc/$reader/status")" = "" ] || fail "its reader has capabilities"
	[ "$(awk '/^Uid/ { print $2 }' "/proc/$reader/status")" != 0 ] || fail "its reader is root"
else
	fail "nobody reads files: $(cat err)"
fi
kill -INT $profiler && wait $profiler || fail "exit $?"
grep -q "warning: system calls are not filtered" err || fail "nothing is said: $(cat err)"
grep -q '_start;.*main;.*spin_here' out/bare.folded || fail "no whole stack: $(head -n 2 out/bare.folded)"

begin "a command keeps what it would have without pkbpf"
grep -E '^(Cap|NoNew|Seccomp)' /proc/self/status >before
"$pkbpf" -q -e cpu -o out/c.folded -- grep -E '^(Cap|NoNew|Seccomp)' /proc/self/status >after 2>err
cmp -s before after || fail "$(diff before after)"

conclude
