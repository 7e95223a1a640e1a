#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# -o x.pkbpf and pkbpf report: every output to the byte as the profile has written it, by somebody without rights where there
# are neither the programs nor /proc nor /sys; what is cut off or damaged is told; a full disk is an error.
# usage: test_recording.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
# shellcheck source=cli_checks.sh
. "$here/cli_checks.sh"

chmod 755 "$work"
outputs=(-o r/o.json -o r/o.csv -o r/o.txt -o r/o.folded -o r/o.svg -o r/o.html)

# report_elsewhere ARGUMENT…: as nobody, in a root of the libraries and the recording alone
report_elsewhere() {
	# shellcheck disable=SC2016 # the inner shell expands them
	unshare -mn bash -c '
		root=$1 && shift
		for folder in /lib /lib64 /usr/lib; do
			[ ! -d $folder ] || { mkdir -p "$root$folder" && mount --rbind $folder "$root$folder"; } || exit 99
		done
		exec chroot --userspec=65534:65534 --groups= "$root" /pkbpf report "$@"' - "$work/root" "$@"
}

begin "a report from a recording is the profile's own"
mkdir r
record -F 499 --slice 300ms "${outputs[@]}" -o a.pkbpf -- "$workloads/spin" 1
mkdir -p live root/r
mv r/* live/
chmod 777 root/r
cp a.pkbpf root/a.pkbpf
cp "$pkbpf" root/pkbpf
report_elsewhere -q a.pkbpf "${outputs[@]}" >out 2>err || fail "report: status $?: $(cat err)"
[ "$(ls live)" = "$(ls root/r)" ] || fail "other files: $(ls live root/r)"
for file in live/*; do
	cmp "$file" "root/r/${file#live/}" >out 2>&1 || fail "$(cat out)"
done
grep -q '^spin;.*spin_here' live/o.cpu.folded || fail "spin_here is not there"

begin "functions get their names from debug files elsewhere"
mkdir -p debug/below
cp "$workloads/spin" spin
objcopy --only-keep-debug spin debug/below/any.name
strip spin
record -F 499 -e cpu -o stripped.pkbpf -- ./spin 0.3
run 0 report -q -f folded stripped.pkbpf
! grep -q spin_here out || fail "spin_here has its name already"
run 0 report -q -f folded stripped.pkbpf --symbols debug
grep -q '^spin;.*;spin_here' out || fail "spin_here has no name: $(tail -n 1 out)"
mkdir empty
run 0 report -f folded stripped.pkbpf --symbols empty
says err "pkbpf: empty has files for 0 of"

begin "one kind, one process, to stdout"
run 0 report -q -e cpu --comm spin -f folded a.pkbpf
[ -s out ] || fail "nothing"
! grep -qv '^spin;' out || fail "others than spin"
run 0 report -q -e cpu -f folded a.pkbpf
cmp out live/o.cpu.folded || fail "stdout differs"
run 4 report -q -f folded --comm nobody-is-named a.pkbpf
run 3 report -q -o x.json --fail-if 'cpu.samples>1' a.pkbpf
run 2 report -q --per-thread a.pkbpf
says err "pkbpf: no threads in the recording: it was made without --per-thread"

begin "what is missing is told"
size=$(stat -c %s a.pkbpf)
head -c $((size - 10)) a.pkbpf >cut.pkbpf
run 0 report -q cut.pkbpf -o cut.json
grep -qE "^pkbpf: cut.pkbpf is cut off: it ends after [0-9]+ whole slices?" err || fail "$(cat err)"
cmp cut.json live/o.json || fail "other figures"
head -c $((size / 2)) a.pkbpf >cut.pkbpf
run 0 report -q cut.pkbpf -o cut.json
! cmp -s cut.json live/o.json || fail "half of it has all figures"
head -c 200 a.pkbpf >cut.pkbpf
run 1 report -q cut.pkbpf
{ head -c 200 a.pkbpf && printf '\377\0\377' && tail -c +204 a.pkbpf; } >damaged.pkbpf
run 0 report -q damaged.pkbpf -o damaged.json
says err "pkbpf: 1 damaged slice left out"
run 1 report -q live/o.json
says err "pkbpf: live/o.json is not a recording of pkbpf (-o FILE.pkbpf)"

begin "a recording keeps secrets"
SECRET=in-the-environment "$pkbpf" -q -o s.pkbpf -- sh -c 'sleep 0.1; : on-the-command-line' 2>err
checker - s.pkbpf <<'END'
import struct, sys, zlib
data = open(sys.argv[1], "rb").read()
at, plain = 128, b""
for _ in range(struct.unpack_from("<I", data, 64 + 48)[0]):
    kind, codec, stored, size = struct.unpack_from("<HHII", data, at)
    body = data[at + 12:at + 12 + stored]
    plain += zlib.decompress(body) if codec else body
    at += 12 + stored
assert b"sleep" in plain, "no names"
for secret in b"in-the-environment", b"on-the-command-line":
    assert secret not in plain, secret
END

begin "a part of the time"
run 0 report -q a.pkbpf --from 300ms --to 900ms -o part.pkbpf -o part.json
run 0 report -q part.pkbpf -o again.json
cmp part.json again.json || fail "another part"
checker - <<'END'
import json
from checks import check, end
with open("part.json", encoding="utf-8") as file:
    part = json.load(file)["time"]["duration_ns"]
with open("live/o.json", encoding="utf-8") as file:
    whole = json.load(file)["time"]["duration_ns"]
check(0.25e9 < part < whole, f"slices of 300 ms: {part} ns of {whole} ns")
end()
END
run 2 report -q a.pkbpf --from 2s --to 1s
run 4 report -q a.pkbpf --from 1000s
run 4 report -q a.pkbpf --to 20200101T000000Z
run 2 report -q a.pkbpf --from 2020-13-01T00:00:00
run 0 report -q a.pkbpf --from 2020-01-01T00:00:00Z -o again.json
cmp again.json live/o.json || fail "all of it has other figures"
run 2 -q --slice 1s -d 1 -o x.json
says err "pkbpf: --slice requires an output that is written in slices, such as -o FILE.pkbpf"

begin "each slice expects its own samples"
record -F 4999 -e cpu --slice 100ms -o many.pkbpf -- "$workloads/spin" 2
mkdir slices
for number in {1..15}; do
	"$pkbpf" report -q many.pkbpf --from $((number * 100))ms --to $((number * 100 + 100))ms -o "slices/$number.json" 2>err ||
		[ $? = 4 ] || fail "$(cat err)"
done
checker - slices/*.json <<'END'
import sys
from checks import check, read_report
recorded = 0
for path in sys.argv[1:]:
    samples = read_report(path)["samples"]
    recorded += samples["recorded"]
    check(samples["expected"] == samples["recorded"] + samples["lost"], f"{path}: {samples}")
check(recorded > 0, f"{recorded} samples were recorded")
END

begin "a full disk is an error"
mkdir full
if mount -t tmpfs -o size=4k tmpfs full 2>/dev/null; then
	run 1 -q -d 300ms -o full/f.pkbpf
	grep -q "full/f.pkbpf: No space left on device" err || fail "$(cat err)"
	no_temporaries full
	umount full
	begin "a disk that fills up keeps what was recorded before"
	mount -t tmpfs -o size=256k tmpfs full
	head -c 120k /dev/urandom >full/other
	# Of one program, so that slices are small whatever the machine does.
	"$workloads/spin" 120 &
	spinning=$!
	run 1 -q -p $spinning --slice 100ms -d 60 -o full/f.pkbpf & # ends when the disk is full
	recording=$!
	wait_until 60 eval '[ "$(cat full/.pkbpf-*.tmp | wc -c)" -gt 20000 ]'
	head -c 300k /dev/urandom >>full/other 2>/dev/null
	wait $recording
	kill $spinning
	says err "pkbpf: cannot write more to full/f.pkbpf: No space left on device; it holds what was recorded up to then; free space or use another file with -o"
	no_temporaries full
	run 0 report -q full/f.pkbpf -o f.json
	umount full
else
	not_checked "no tmpfs can be mounted"
fi
conclude
