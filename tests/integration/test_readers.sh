#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A process that reads files of targets and crashes, hangs or talks rubbish at one of them costs the names of that file alone,
# which is said. They have no rights, and none is left.
# usage: test_readers.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
faulty=$workloads/pkbpf_with_faults
targets=()
cleanup() { kill -9 "${targets[@]}" 2>/dev/null; }

for name in bad good; do
	cp "$workloads/spin" $name
	./$name 300 &
	targets+=($!)
done

# profile FAULT: both, while that happens to whoever reads the file of one; again when a busy machine let one of them not run
profile() {
	for _ in 1 2 3 4; do
		PKBPF_READER_FAULT=$1:bad "$faulty" -v -d 0.4 -F 199 -e cpu -p "${targets[0]}" -p "${targets[1]}" -o out.folded \
			2>err || continue
		grep -q '^bad;' out.folded && grep -q '^good;' out.folded && return
	done
	return 1
}

begin "without a fault both have names"
profile none || give_up "no samples: $(tail -n 2 err)"
for name in bad good; do
	grep -q "^$name;.*spin_here" out.folded || fail "$name has none: $(head -n 3 out.folded)"
done
grep -q "is not read" err && fail "$(grep "is not read" err)"

begin "a process of user nobody can neither stop nor end them"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	"$pkbpf" -d 3 -F 199 -e cpu -p "${targets[1]}" -o stopped.folded 2>err &
	profiler=$!
	reads() { keeper=$(pgrep -P $profiler -x pkbpf-keeper) && reader=$(pgrep -P "$keeper" -x pkbpf-reader); }
	wait_until 60 reads || fail "nobody reads files: $(cat err)"
	for process in $keeper $reader; do
		setpriv --reuid 65534 --regid 65534 --clear-groups kill -STOP "$process" 2>/dev/null && fail "it could stop $(cat /proc/"$process"/comm)"
	done
	kill -STOP "$keeper"
	began=$SECONDS
	wait $profiler || fail "exit $?: $(cat err)"
	[ $((SECONDS - began)) -lt 30 ] || fail "with its keeper stopped it took $((SECONDS - began)) s"
else
	not_checked "needs root and setpriv"
fi

for fault in crash loop rubbish; do
	begin "$fault"
	profile $fault || {
		not_checked "one of them had no sample: $(tail -n 1 err)"
		continue
	}
	grep -q "^bad;.*spin_here" out.folded && fail "a name from a reader that did not answer"
	grep -q "^good;.*spin_here" out.folded || fail "the good one has no names: $(grep -m 2 '^good' out.folded)"
	grep -q "/bad is not read: the process that read it" err || fail "nothing is said: $(cat err)"
	grep -q "/good is not read" err && fail "the good one is lost: $(grep "is not read" err)"
done

"$workloads/named_code" stays >named.pid &
targets+=($!)
named=$!
for fault in none crash loop rubbish; do
	begin "a perf map: $fault"
	for _ in 1 2 3 4; do
		PKBPF_READER_FAULT=$fault:perf-$named.map "$faulty" -v -d 0.3 -F 199 -e cpu -p "$named" -o named.folded 2>err
		grep -q named_code named.folded && break
	done
	grep -q named_code named.folded || {
		not_checked "it had no sample: $(tail -n 1 err)"
		continue
	}
	if [ $fault = none ]; then
		grep -q code_there named.folded || fail "the code has no name: $(head -n 3 named.folded)"
		continue
	fi
	grep -q code_there named.folded && fail "a name from a reader that did not answer"
	grep -q "perf-$named.map is not read: the process that read it" err || fail "nothing is said: $(cat err)"
	grep -q "^named_code;.*calls" named.folded || fail "the program has no names: $(head -n 2 named.folded)"
done

begin "they have no rights, and end with pkbpf"
"$pkbpf" -v -d 20 -e cpu -p "${targets[1]}" -o killed.folded 2>err &
profiler=$!
targets+=("$profiler")
wait_until 60 profiling err || give_up "pkbpf did not start: $(tail -n 2 err)"
keeper=$(pgrep -P "$profiler" -x pkbpf-keeper)
readers=$(pgrep -P "${keeper:-0}" -x pkbpf-reader)
[ "$(wc -w <<<"$readers")" -ge 1 ] || fail "keeper ${keeper:-none}, readers ${readers:-none}"
for pid in $readers; do
	[ "$(awk '/^Cap(Prm|Eff|Inh|Amb)/ && $2 !~ /^0+$/' "/proc/$pid/status")" = "" ] || fail "capabilities are left"
	[ "$(awk '/^(NoNewPrivs|Seccomp):/ { print $2 }' "/proc/$pid/status" | tr '\n' ' ')" = "1 2 " ] || fail "it is not closed in"
	[ "$(awk '/^Uid/ { print $2 }' "/proc/$pid/status")" != 0 ] || fail "it is root"
done
kill -9 "$profiler"
gone() { ! kill -0 $keeper $readers 2>/dev/null && ! ps -o stat= -p "$(tr -s ' \n' , <<<"$keeper $readers" | sed 's/,$//')" | grep -qv Z; }
wait_until 60 gone || fail "left: $(ps -o pid,stat,comm -p "$(tr -s ' \n' , <<<"$keeper $readers" | sed 's/,$//')")"

conclude
