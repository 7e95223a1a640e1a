#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A GPU of a machine that has one, in every output: files of a tree lie over those of this one.
# usage: test_gpu.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
evidence=(said)

# A card below /sys/class of its own, over what is there; seen by the command alone.
card=class/drm/card7/device
mkdir -p $card/hwmon/hwmon7
printf 'DRIVER=amdgpu\nPCI_SLOT_NAME=0000:83:00.0\n' >$card/uevent
echo 50 >$card/gpu_busy_percent
echo 1073741824 >$card/mem_info_vram_used
echo 8589934592 >$card/mem_info_vram_total
echo 60000000 >$card/hwmon/hwmon7/power1_average
echo 65000 >$card/hwmon/hwmon7/temp1_input
over="mount -t overlay overlay -o lowerdir=$work/class:/sys/class /sys/class"
with_tree() { unshare -m sh -c "$over && exec \"\$@\"" sh "$@"; }
with_tree true 2>/dev/null || skip "no folder can be laid over /sys/class here"

begin "a command, with slices: means of all of them"
with_tree "$pkbpf" -q -e cpu --slice 500ms -o out.json -o out.pkbpf -o out.txt -o out.full.txt --full -- \
	sh -c "sleep .7; i=0; while [ \$i -lt 100000 ]; do i=\$((i + 1)); done; echo 100 >$work/$card/gpu_busy_percent; sleep .7" >said 2>&1 || fail "status $?"
"$pkbpf" report -q out.pkbpf -o again.json >said 2>&1 || fail "report: status $?"
checker - <<'CHECK'
import json
one, again = (json.load(open(name))["gpus"] for name in ("out.json", "again.json"))
assert one == again, (one, again)
gpu = next(gpu for gpu in one if gpu["id"] == "0000:83:00.0")
assert gpu["driver"] == "amdgpu", gpu
assert 50 < gpu["util_percent"] < 100, gpu
assert gpu["memory_mean_bytes"] == gpu["memory_peak_bytes"] == 1 << 30, gpu
assert gpu["memory_total_bytes"] == 8 << 30, gpu
assert abs(gpu["power_watts"] - 60) < 0.1, gpu
assert gpu["temperature_max_celsius"] == 65, gpu
assert gpu["processes"] == [], gpu
CHECK
grep -q "^GPU: .*0000:83:00.0 (amdgpu): .* busy, memory at most 1.00 GiB of 8.00 GiB" out.full.txt ||
	fail "the report lacks it: $(head -n 20 out.full.txt)"

begin "a condition"
echo 20 >$card/gpu_busy_percent
with_tree "$pkbpf" -q -e cpu -d 200ms -o out.json --fail-if 'gpu.util<30%' >said 2>&1
[ $? = 3 ] || fail "20 % is not below 30 %"
with_tree "$pkbpf" -q -e cpu -d 200ms -o out.json --fail-if 'gpu.util<10%' --fail-if 'gpu.memory_share>50%' >said 2>&1 ||
	fail "status $?"

begin "not wanted"
with_tree "$pkbpf" -q -e cpu -d 200ms --gpu off -o out.json >said 2>&1 || fail "status $?"
grep -q '"gpus"' out.json && fail "it was looked at all the same"

conclude
