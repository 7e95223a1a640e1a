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
with_tree "$pkbpf" -q -e offcpu -d 200ms -o out.json --fail-if 'gpu.util<30%' >said 2>&1
[ $? = 3 ] || fail "20 % is not below 30 %"
with_tree "$pkbpf" -q -e offcpu -d 200ms -o out.json --fail-if 'gpu.util<10%' --fail-if 'gpu.memory_share>50%' >said 2>&1 ||
	fail "status $?"

begin "not wanted"
with_tree "$pkbpf" -q -e offcpu -d 200ms --gpu off -o out.json >said 2>&1 || fail "status $?"
grep -q '"gpus"' out.json && fail "it was looked at all the same"

# The process that runs the library has no rights: it has to reach the file.
chmod 755 "$work"
mkdir -p lib && cp "$workloads/libnvidia-ml.so.1" lib/ && chmod -R a+rX lib

begin "NVIDIA, by a library with known figures"
sh -c 'while :; do :; done' &
user=$!
cleanup() { kill $user; }
nvidia() { # BEHAVIOUR ARGUMENTS…
	local behaviour=$1
	shift
	LD_LIBRARY_PATH=$work/lib NVML_STAND_IN=$behaviour NVML_STAND_IN_PID=$user "$pkbpf" -q -e cpu --gpu on "$@"
}
nvidia sound -d 3 -o out.json -o out.txt -o out.csv >said 2>&1 || fail "status $?"
checker - $user <<'CHECK'
import csv, json, sys
user = int(sys.argv[1])
report = json.load(open("out.json"))
gpus = {gpu["id"]: gpu for gpu in report["gpus"]}
first, second = gpus["0000:3b:00.0"], gpus["0000:af:00.0"]
assert first["driver"] == "nvidia" and first["name"] == "Stand-in T4", first
assert first["util_percent"] == 40 and second["util_percent"] == 0, gpus
assert first["memory_mean_bytes"] == 4 << 30 and first["memory_total_bytes"] == 16 << 30, first
assert abs(first["power_watts"] - 61) < 0.1 and abs(second["power_watts"] - 10) < 0.1, gpus
assert first["temperature_max_celsius"] == 65 and first["clock_mean_hz"] == 1590000000, first
assert first["throttled_percent"] == {"heat": 0, "power": 100, "other": 0}, first
activity = first["activity"]
assert (activity["sm_percent"], activity["tensor_percent"], activity["dram_percent"]) == (72.5, 31, 44.4), activity
assert (activity["pcie_tx_bytes_per_s"], activity["pcie_rx_bytes_per_s"]) == (100 << 20, 200 << 20), activity
assert "nvlink_tx_bytes_per_s" not in activity and "activity" not in second, gpus
[process] = first["processes"]
assert process["pid"] == user and process["comm"] == "sh", process
assert process["memory_mean_bytes"] == process["memory_peak_bytes"] == 3 << 30, process
row = next(row for row in report["rows"] if row.get("pid") == user)
assert row["gpu"]["memory_bytes"] == 3 << 30, row["gpu"]
assert 0 < row["gpu"]["share_percent"] < 36, row["gpu"]
assert report["total"]["gpu"]["memory_bytes"] == 3 << 30, report["total"]["gpu"]
line = next(line for line in csv.DictReader(open("out.csv")) if line["pid"] == str(user))
assert int(line["gpu.memory_bytes"]) == 3 << 30, line
CHECK
grep -q "GPU 0000:3b:00.0 (nvidia, Stand-in T4): 40% busy, memory at most 4.00 GiB of 16.0 GiB" out.txt ||
	fail "the report lacks it: $(head -n 8 out.txt)"

begin "conditions on devices"
nvidia sound -d 2 -o out.json --fail-if 'gpu.temperature>70' --fail-if 'gpu.sm<70%' --fail-if 'gpu.util<15%' >said 2>&1 || fail "status $?: $(cat said)"
for condition in 'gpu.util<30%' 'gpu.throttled>50%' 'gpu.temperature>60' 'gpu.dram<50%'; do
	nvidia sound -d 2 -o out.json --fail-if "$condition" >said 2>&1
	[ $? = 3 ] || fail "$condition holds: $(cat said)"
done

begin "alerts of devices"
cat >serve.conf <<END
listen = 127.0.0.1:0
store = store
interval = 1s
max-cpu = off
gpu = on
default-alerts = no
[alert idle]
when = gpu.util < 30%
[alert hot]
when = gpu.temperature > 60
[alert slow]
when = gpu.throttled > 50%
[alert full]
when = gpu.memory > 1G
[alert cold]
when = gpu.temperature > 90
END
LD_LIBRARY_PATH=$work/lib NVML_STAND_IN=sound NVML_STAND_IN_PID=$user "$pkbpf" serve --config serve.conf 2>said &
server=$!
cleanup() { kill $user $server 2>/dev/null; }
wait_until 60 grep -q http:// said || give_up "it does not answer: $(cat said)"
url=$(grep -o 'http://[0-9.:]*' said | head -n 1)
asked() { curl -s --max-time 20 "$url$1" >out && grep -q "$2" out; }
for rule in idle hot slow full; do
	wait_until 60 asked /metrics "^pkbpf_alerts{rule=\"$rule\"} 1\$" || fail "$rule does not fire: $(cat said out)"
done
asked /metrics '^pkbpf_alerts{rule="cold"} 0$' || fail "a rule that does not hold: $(cat out)"
kill -TERM $server
wait $server || fail "it ended with $?"
cleanup() { kill $user; }
for figure in 'gpu.util 20.0 %' 'gpu.temperature 65.0' 'gpu.sm 72.5 %' 'gpu.throttled 100 %'; do
	"$pkbpf" query series --store store --figure "${figure%% *}" >out 2>said || fail "$figure: $(cat said)"
	grep -q " ${figure#* }\$" out || fail "series of $figure: $(cat out)"
done

begin "a library that crashes, and one that is not there: the rest is whole"
nvidia crashes -d 4 -o out.json >said 2>&1 || fail "status $?"
nvidia none -d 1 -o none.json >said 2>&1 || fail "status $?"
checker - <<'CHECK'
import json
for name in ("out.json", "none.json"):
    report = json.load(open(name))
    assert report["rows"] and report["events"], name
missing = " ".join(gpu.get("missing", "") for gpu in json.load(open("none.json"))["gpus"])
assert "NVML finds no device: Driver Not Loaded (9)" in missing, missing
CHECK

begin "a program that waits for its GPU, spinning and asleep"
"$pkbpf" -q -e cpu,offcpu -F 499 --max-overhead 100 --wait-states -o out.json -o out.folded -- "$workloads/gpu_waits" 80 >told 2>said ||
	fail "status $?"
grep -q '^gpu_waits;.*;cudaDeviceSynchronize;.*;\[gpu wait\] ' out.offcpu.folded || fail "no [gpu wait]: $(cat out.offcpu.folded)"
grep -q '^gpu_waits;.*;cudaStreamSynchronize.*;\[gpu wait, spinning\] ' out.cpu.folded || fail "no spinning: $(cat out.cpu.folded)"
grep 'compute' out.cpu.folded | grep 'gpu wait' && fail "work is taken for waiting"
checker - <<'CHECK'
import json
computed, spun, slept = map(float, open("told").read().split())
[row] = [row for row in json.load(open("out.json"))["rows"] if row["comm"] == "gpu_waits"]
gpu = row["gpu"]
# Of so many samples three quarters: four standard errors, and one in a hundred for the start.
share, samples = gpu["spin_ns"] / row["cpu"]["total_ns"], 499 * (computed + spun)
bound = 4 * (0.75 * 0.25 / samples) ** 0.5 + 0.01
assert abs(share - spun / (computed + spun)) < bound, (gpu, row["cpu"], computed, spun, bound)
# The wait for a CPU after it is none for the GPU: beside others that compute most of what the program sees is that one.
assert 0.95 * 80 * 8e-3 < gpu["wait_ns"] / 1e9 <= 1.02 * slept, (gpu, slept)
# A state of its own: the parts of the wall time add up to it.
off = row["offcpu"]
assert gpu["state_ns"] == gpu["spin_ns"] + gpu["wait_ns"], row
parts = [off["oncpu_ns"], row["waiting"]["runqueue_ns"], off["sleep_ns"], off["disk_ns"], off["uninterruptible_ns"], off["stopped_ns"]]
assert sum(parts) + gpu["state_ns"] == off["wall_ns"], (row, parts)
assert off["sleep_ns"] < 0.05 * gpu["wait_ns"], row
CHECK

begin "doctor"
"$pkbpf" doctor >out 2>&1
grep -q "figures of GPUs" out || fail "it says nothing"

conclude
