#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# Programs that run generated code, and plant in the place of their perf map what only root may read, what never ends, and what
# nobody writes to: nothing of it is shown, nobody waits for it, and a program beside them has its names.
# usage: test_hostile_maps.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
case $(uname -m) in
x86_64) loop='\xeb\xfe' ;;
aarch64) loop='\x00\x00\x00\x14' ;;
*) skip "no generated code for this machine" ;;
esac
# Run as user nobody, who may not read the folder that root has a Python of its own in.
python=
for each in /usr/bin/python3 /usr/local/bin/python3 "$(command -v python3)"; do
	setpriv --reuid 65534 --regid 65534 --clear-groups "$each" -S -c 'import ctypes' 2>/dev/null && python=$each && break
done
[ -n "$python" ] || skip "no Python that nobody may run has ctypes"
pids=()
cleanup() {
	kill -9 "${pids[@]}" 2>/dev/null
	for pid in "${pids[@]}"; do rm -f "/tmp/perf-$pid.map"; done
}

cat >generated.py <<P
import ctypes, mmap
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(b"$loop")
start = ctypes.addressof(ctypes.c_char.from_buffer(code))
print(f"{start:x} 1000", flush=True)
ctypes.CFUNCTYPE(None)(start)()
P

# hostile NAME: one that runs as nobody, and says in NAME where its code is
hostile() {
	setpriv --reuid 65534 --regid 65534 --clear-groups "$python" -S "$work/generated.py" >"$1" &
	pids+=($!)
	wait_until 60 test -s "$1" || give_up "$1 does not start"
	map=/tmp/perf-$!.map
}

chmod 711 "$work"
chmod 644 generated.py
hostile honest
echo "$(cat honest) its_own_name" >"$map"
chown 65534 "$map"
hostile link
(umask 077 && echo "$(cat link) name_in_a_secret" >secret)
ln -s "$work/secret" "$map"
hostile hardlink
(umask 077 && echo "$(cat hardlink) name_in_another_secret" >/tmp/pkbpf-secret-$$)
chown 1 /tmp/pkbpf-secret-$$
ln /tmp/pkbpf-secret-$$ "$map"
rm /tmp/pkbpf-secret-$$
hostile fifo
mkfifo "$map"
hostile endless
ln -s /dev/zero "$map"
"$workloads/spin" 600 &
pids+=($!)
targets=()
for pid in "${pids[@]}"; do targets+=(-p "$pid"); done

begin "what is in the place of a perf map"
began=$SECONDS
timeout 60 "$pkbpf" -v -d 4 -F 499 -e cpu "${targets[@]}" -o out.folded 2>err || fail "exit $?: $(tail -n 2 err)"
[ $((SECONDS - began)) -lt 50 ] || fail "it took $((SECONDS - began)) s"
grep -q 'name_in_' out.folded && fail "a file that is not theirs is shown: $(grep -m 2 'name_in_' out.folded)"
grep -q 'name_in_' err && fail "a file that is not theirs is told: $(grep -m 2 'name_in_' err)"
grep -q '^spin;.*spin_here' out.folded || fail "their neighbour has no names: $(grep -m 2 '^spin' out.folded)"
grep -q 'its_own_name' out.folded || fail "an honest map is not read: $(grep -m 2 '^python' out.folded)"

conclude
