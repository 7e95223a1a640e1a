#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
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

# with CAPABILITIES COMMAND…: as a user who has these alone; limited: and under these limits
limited=()
with() {
	local these=$1
	shift
	"${limited[@]}" setpriv --reuid=1234 --regid=1234 --clear-groups --inh-caps="-all$these" --ambient-caps="-all$these" \
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
	# Again where a busy machine let none of them run.
	for _ in 1 2 3 4 5; do
		rm -f out/*
		with "$these" bin/pkbpf -q -d 300ms -F 499 "$@" -o out/p.folded -o out/p.json >said 2>err
		got=$?
		[ $got = 4 ] || break
	done
	[ $got = "$status" ] || fail "exit status $got instead of $status: $(head -n 3 err)"
}

# profile_all PATTERNS STATUS…: again while a busy machine lets one of them not run
profile_all() {
	local patterns=$1 pattern
	shift
	for _ in 1 2 3 4; do
		profile "$@"
		for pattern in $patterns; do
			grep -q "$pattern" out/p.folded || continue 2
		done
		return
	done
	fail "no $pattern: $(head -n 4 out/p.folded)"
}

enough=,+bpf,+perfmon
# and all that it uses, as far as root has it here: in a container some are missing
everything=
mine=0x$(awk '/^CapPrm/ { print $2 }' /proc/self/status)
for capability in dac_read_search:2 sys_ptrace:19 sys_admin:21 sys_nice:23 sys_resource:24 syslog:34 perfmon:38 bpf:39; do
	[ $((mine >> ${capability#*:} & 1)) = 0 ] || everything+=,+${capability%:*}
done
all_but() { echo "${everything/,+$1/}"; }
# newer_than MAJOR MINOR: is the kernel, or the same?
newer_than() { [ "$(printf '%s\n' "$1.$2" "$(uname -r)" | sort -V | head -n 1)" = "$1.$2" ]; }

target bin/spin 300
begin "CAP_BPF and CAP_PERFMON are needed"
profile 5 ,+perfmon -e cpu -p $target
grep -q 'CAP_BPF' err || fail "no remedy: $(cat err)"
profile 5 ,+bpf -e cpu -p $target
grep -q 'CAP_PERFMON' err || fail "no remedy: $(cat err)"

begin "they are enough for programs that anybody may read"
profile 0 $enough -e cpu -p $target
grep -q '_start;.*main;.*spin_here' out/p.folded || fail "no whole stack: $(head -n 2 out/p.folded)"
grep -q '"bpf_cpu_ns"' out/p.json && fail "the time of BPF programs cannot be known"

begin "CAP_SYS_RESOURCE adds nothing from Linux 5.11 on, however little memory may be locked"
if newer_than 5 11; then
	limited=(prlimit --memlock=65536:65536)
else
	not_checked "BPF maps count against the limit of locked memory"
fi
profile 0 $enough -e cpu,offcpu,blockio,faults
limited=()
[ -s out/p.cpu.folded ] && [ -s out/p.offcpu.folded ] || fail "not all kinds"
grep -q '"bpf_cpu_ns"' out/p.json && fail "the time of BPF programs is known without CAP_SYS_ADMIN"

# nices CAPABILITIES: the priorities of its threads, from where nobody has chosen one, to $nices
nices() {
	limited=(nice -n "-$(nice)")
	rm -f err
	with "$1" bin/pkbpf -v -d 60 -F 499 -e cpu -p $target -o out/nice.folded 2>err &
	shell=$!
	targets+=("$shell")
	limited=()
	wait_until 60 profiling err || fail "it does not start: $(cat err)"
	profiler=$(pgrep -x pkbpf -P $shell || echo $shell)
	nices=$(ps -L -o ni= -p "$profiler" | sort -nu | tr -d ' ' | tr '\n' ' ')
	uses $target 300
	kill -INT "$profiler"
	wait $shell || fail "exit $?: $(cat err)"
	grep -q '_start;.*main;.*spin_here' out/nice.folded || fail "no whole stack: $(head -n 2 out/nice.folded)"
}

begin "CAP_SYS_NICE adds the priority with which rings are read, and nothing else"
if [[ $everything == *sys_nice* && $(nice -n "-$(nice)" nice 2>/dev/null) == 0 ]]; then
	nices "$(all_but sys_nice)"
	[ "$nices" = "0 " ] || fail "priorities without it: $nices"
	nices "$everything"
	[ "$nices" = "-10 0 " ] || fail "priorities with it: $nices"
else
	not_checked "root may not change priorities here"
fi

begin "CAP_SYS_ADMIN adds the time of BPF programs"
profile 0 $enough,+sys_admin -e cpu -p $target
grep -q '"bpf_cpu_ns"' out/p.json || fail "no time of BPF programs"

begin "without CAP_SYS_ADMIN all but that is there"
profile 0 "$(all_but sys_admin)" -e cpu -p $target --max-overhead 5%
grep -q '"bpf_cpu_ns"' out/p.json && fail "the time of BPF programs is known"
grep -q '_start;.*main;.*spin_here' out/p.folded || fail "no whole stack: $(head -n 2 out/p.folded)"

begin "CAP_SYSLOG is not needed for names of kernel functions"
profile 0 $enough -e offcpu
if grep -qE '_\[k\]' out/p.folded; then
	grep -qE 'schedule_\[k\]|futex|poll.*_\[k\]' out/p.folded || fail "no names: $(grep -m 2 '_\[k\]' out/p.folded)"
fi

begin "files of others need CAP_DAC_READ_SEARCH, and CAP_SYS_PTRACE where their path leads nowhere"
target private/spin 300
profile 0 $enough -e cpu -p $target
[ -s out/p.folded ] || fail "nothing recorded"
grep -q spin_here out/p.folded && fail "a file that nobody else may read was read"
profile 0 $enough,+sys_ptrace,+dac_read_search -e cpu -p $target
grep -q spin_here out/p.folded || fail "no names with both: $(head -n 2 out/p.folded)"
profile 0 "$(all_but dac_read_search)" -e cpu -p $target
grep -q '\[spin+0x' out/p.folded || fail "no offsets without CAP_DAC_READ_SEARCH: $(head -n 2 out/p.folded)"
profile 0 "$(all_but sys_ptrace)" -e cpu -p $target
grep -q spin_here out/p.folded || fail "no names by path without CAP_SYS_PTRACE: $(head -n 2 out/p.folded)"

begin "deleted programs and files of containers need CAP_SYS_PTRACE"
cp "$workloads/spin" bin/gone
spin=$target
target bin/gone 300
gone=$target
wait_until 60 test "/proc/$gone/exe" -ef bin/gone
rm bin/gone
mkdir box
# shellcheck disable=SC2016 # it expands there
target unshare -m bash -c 'mount -t tmpfs box box && cp "$1" box/inside && exec box/inside 300' _ "$workloads/spin"
inside=$target
wait_until 60 grep -qx inside "/proc/$inside/comm"
profile_all "^gone; ^inside;" 0 "$(all_but sys_ptrace)" -e cpu -p $gone -p $inside
grep -q spin_here out/p.folded && fail "names from what cannot be opened: $(grep -m 2 spin_here out/p.folded)"
profile_all "^gone;.*spin_here ^inside;.*spin_here" 0 "$everything" -e cpu -p $gone -p $inside
kill $gone $inside
target=$spin

begin "Python of others, and generated code with a map in the same /tmp, do not"
# The interpreter itself: python3 may be a script that looks for one.
target "$(python3 -c 'import sys; print(sys.executable)')" -S -c '
def spin_python():
    while True:
        pass
open("ready", "w").close()
spin_python()'
python=$target
wait_until 60 test -e ready
target "$workloads/named_code" stays
profile_all "spin_python code_there" 0 "$(all_but sys_ptrace)" -e cpu -p $python -p $target
kill $python $target
target=$spin

begin "what pkbpf gives up when it is root"
"$pkbpf" -v -d 100 -e cpu -p $target -o out/root.folded 2>err &
profiler=$!
targets+=("$profiler")
wait_until 60 profiling err && uses $target 200 || fail "it does not profile: $(cat err)"
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
"$workloads/no_seccomp" "$pkbpf" -v -d 100 -e cpu -p $target -o out/bare.folded 2>err &
profiler=$!
targets+=("$profiler")
reads() { keeper=$(pgrep -P $profiler -x pkbpf-keeper) && reader=$(pgrep -P "$keeper" -x pkbpf-reader); }
if wait_until 60 reads; then
	[ "$(awk '/^Cap(Prm|Eff|Inh|Amb)/ && $2 !~ /^0+$/' "/proc/$reader/status")" = "" ] || fail "its reader has capabilities"
	[ "$(awk '/^Uid/ { print $2 }' "/proc/$reader/status")" != 0 ] || fail "its reader is root"
else
	fail "nobody reads files: $(cat err)"
fi
wait_until 60 profiling err && uses $target 300 || fail "it does not profile: $(cat err)"
kill -INT $profiler && wait $profiler || fail "exit $?"
grep -q "warning: system calls are not filtered" err || fail "nothing is said: $(cat err)"
grep -q '_start;.*main;.*spin_here' out/bare.folded || fail "no whole stack: $(head -n 2 out/bare.folded)"

begin "a command keeps what it would have without pkbpf"
grep -E '^(Cap|NoNew|Seccomp)' /proc/self/status >before
"$pkbpf" -q -e cpu -o out/c.folded -- grep -E '^(Cap|NoNew|Seccomp)' /proc/self/status >after 2>err
cmp -s before after || fail "$(diff before after)"

conclude
