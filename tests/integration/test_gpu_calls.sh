#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Calls of CUDA's libraries, against stand-ins that count them.
# usage: test_gpu_calls.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
evidence=(said truth.json out.json)

"$pkbpf" -q -e cpu --gpu-calls -o out.json -- true >said 2>&1 || {
	grep -q 'needs x86-64 and Linux 5.15' said && skip "$(tail -n 1 said)"
	fail "status $?: $(cat said)"
}
cp "$workloads"/lib{cuda.so.1,cudart.so.12,amdhip64.so.6,amdhip64.so.7,parcagpucupti.so} "$workloads"/gpu_{runtime,driver,static,hip6,hip7} .
cp gpu_runtime gpu_stripped && strip gpu_stripped
nm --defined-only gpu_runtime | grep -E ' [tT] ' >symbols

# Exact counts and bytes; times within 2 % of the program's own, which has the price of the probes on top, and may have waited
# for a CPU before them.
cat >check.py <<'CHECK'
import json, sys
program, rounds, prefix = sys.argv[1], int(sys.argv[2]), sys.argv[3]
calls = json.load(open("out.json"))["gpu_calls"]
truth = json.load(open("truth.json"))
runtime, hip, MIB = prefix != "cu", prefix == "hip", 1 << 20

def one(group, **keys):
    rows = [r for r in calls["functions"] if r["group"] == group and all(r.get(k) == v for k, v in keys.items())]
    assert len(rows) == 1, (group, keys, rows)
    return rows[0]

def near(row, ns):
    assert row["total_ns"] <= ns <= row["total_ns"] * 1.02 + 50000 * row["calls"] + truth["queue_ns"], (row, ns, truth)

scale, add = one("launch", kernel=sys.argv[4]), one("launch", kernel=sys.argv[5])
assert (scale["calls"], scale["blocks"]) == (truth["scale"], 8 * truth["scale"]), scale
assert (add["calls"], add["blocks"]) == (truth["add"], 10 * truth["add"]), add
if hip:
    handle = one("launch", function="hipModuleLaunchKernel")
    assert (handle["calls"], handle["blocks"], handle["kernel"]) == (1, 3, "by_handle"), handle
assert sum(r["calls"] for r in calls["functions"] if r["group"] == "launch") == truth["scale"] + truth["add"] + hip
up = one("copy", direction="host to device", function=prefix + ("Memcpy" if runtime else "MemcpyHtoD"))
assert (up["calls"], up["bytes"]) == (rounds, rounds * 4 * MIB), up
near(up, truth["copy_ns"])
down = one("copy", direction="device to host", function=prefix + ("Memcpy" if runtime else "MemcpyDtoH"))
assert (down["calls"], down["bytes"]) == (1, 2 * MIB), down
spin = one("wait", function=prefix + ("DeviceSynchronize" if runtime else "CtxSynchronize"))
sleep = one("wait", function=prefix + "StreamSynchronize")
assert spin["calls"] == sleep["calls"] == rounds, (spin, sleep)
near(spin, truth["spin_ns"])
near(sleep, truth["sleep_ns"])
# One was freed, the device was reset, and the process has ended: the driver has taken the rest.
memory = one("allocation", function=prefix + ("Malloc" if runtime else "MemAlloc"))
assert (memory["calls"], memory["bytes"], memory["freed"], memory["live_bytes"]) == (4, 17 * MIB, 1, 0), memory
assert one("free", function=prefix + ("Free" if runtime else "MemFree"))["calls"] == 1
errors = {(e["function"], e["code"]): e["calls"] for e in calls["errors"]}
if runtime:
    assert errors == {(prefix + "Malloc", 2): 1, (prefix + "Memcpy", 21): rounds}, errors
    # A launch that has ended has its return address on the stack above these.
    below = one("copy", function=prefix + "MemcpyAsync")
    assert (below["calls"], below["bytes"], below["direction"]) == (10, 1000, "unknown"), below
    solid = one("copy", function=prefix + "Memcpy3DAsync")
    assert (solid["bytes"], solid["direction"]) == (60, "device to host"), solid
    peer = one("copy", function=prefix + "MemcpyPeerAsync")
    assert (peer["bytes"], peer["direction"]) == (64, "device to device"), peer
    pool = one("allocation", function=prefix + "MallocFromPoolAsync")
    assert (pool["calls"], pool["bytes"], pool["freed"], pool["live_bytes"]) == (1, 4 * MIB, 0, 0), pool
    assert one("free", function=prefix + "DeviceReset")["calls"] == 1
    assert one("graph")["calls"] == 1
else:
    assert errors == {("cuMemAlloc", 2): 1}, errors
# The driver's calls inside of the run-time's are not counted again; the program's own are, also below a launch that has ended.
direct = {r["function"]: (r["calls"], r["bytes"]) for r in calls["functions"] if not r["function"].startswith(prefix)}
assert direct == ({"cuMemcpyHtoD": (10, 1000)} if program in ("gpu_runtime", "gpu_stripped") else {}), direct
if program == "gpu_stripped":
    # Frames have the begins of their functions: names as they were before strip.
    names = {f"[gpu_stripped+0x{line.split()[0].lstrip('0')}]": line.split()[2] for line in open("symbols")}
    for frame in (f for s in calls["stacks"] for f in s["frames"]):
        frame["name"] = names.get(frame["name"], frame["name"])
def leads(stack, *names):
    frames = [f["name"] for f in stack["frames"]]
    return any(all(n in frames[i + j] for j, n in enumerate(names)) for i in range(len(frames)))
stacks = calls["stacks"]
launches = [s for s in stacks if s["group"] == "launch"]
def is_good(stack, callers=("train_step", "copy_below_a_launch", "main")):
    return any(leads(stack, "aunchKernel", stack["kernel"].split("::")[-1], c) for c in callers) and leads(stack, "main")
good = sum(s["samples"] for s in launches if is_good(s))
assert good >= 0.99 * sum(s["samples"] for s in launches) > 0, launches
waits = [s for s in stacks if s["group"] == "wait"]
good = sum(s["calls"] for s in waits if leads(s, "ynchronize", "train_step", "main"))
assert good == sum(s["calls"] for s in waits) == 2 * rounds, waits
# One in 16: as many as it stands for, within five standard deviations.
stand_for, all_launches = sum(s["calls"] for s in launches), truth["scale"] + truth["add"] + hip
assert abs(stand_for - all_launches) <= 5 * (15 * all_launches) ** 0.5, (stand_for, all_launches)
kept = [s for s in stacks if s["group"] == "allocation" and s["function"] == memory["function"]]
assert sum(s["bytes"] for s in kept) == 17 * MIB and not any(s["live_bytes"] for s in kept), kept
# Debugging information alone knows the function that was inlined.
inlined = [] if program == "gpu_stripped" else ["allocate"]
assert sum(s["bytes"] for s in kept if leads(s, *inlined, "keep_memory", "main")) == 17 * MIB, kept
CHECK

run() {
	begin "$1"
	"$pkbpf" -q -e cpu --gpu-calls -o out.json -o out.txt -o out.pkbpf -o out.gpu-calls.csv -- "./$2" 5 >truth.json 2>said ||
		fail "status $?: $(cat said)"
	checker check.py "$2" 5 "$3" "$4" "$5"
}
run "the run-time, which calls the driver" gpu_runtime cuda scale math::add
grep -q '^ *225 launches, 1 graph call, 33 copies of 22.0 MiB' out.txt || fail "the text lacks it: $(grep -A9 '^GPU calls' out.txt)"
grep -q ',cudaLaunchKernel,scale,,220,220,0,0,0,0,0,1760,0,[0-9]*,[0-9]*,[0-9]*,0,0,0' out.gpu-calls.csv || fail "$(cat out.gpu-calls.csv)"
"$pkbpf" report -q out.pkbpf -o again.json >said 2>&1 || fail "report: status $?"
checker - <<'CHECK'
import json
one, again = (json.load(open(name))["gpu_calls"] for name in ("out.json", "again.json"))
assert one["functions"] == again["functions"] and one["errors"] == again["errors"], (one, again)
CHECK
run "the driver alone" gpu_driver cu scale math::add
checker - <<'CHECK'
import json
calls = json.load(open("out.json"))["gpu_calls"]
# Default streams of functions for threads are not those that others wait for.
assert calls["streams"]["count"] == 1 and calls["streams"]["on_default"] == 0, calls["streams"]
CHECK
run "both in the program" gpu_static cuda scale math::add
run "without symbols: names that were registered" gpu_stripped cuda scale math::add

run "HIP, whose exported functions jump to inner ones" gpu_hip6 hip scale math::add
run "HIP, whose exported functions call inner ones and return" gpu_hip7 hip scale math::add
begin "HIP without symbols of inner functions: counts alone, and it says so"
strip -o stripped.so libamdhip64.so.6 && mv stripped.so libamdhip64.so.6
"$pkbpf" -e cpu --gpu-calls -o out.json -- ./gpu_hip6 2 >truth.json 2>said || fail "status $?: $(cat said)"
grep -q 'libamdhip64.so.6 the ends cannot be seen' said || fail "$(cat said)"
checker - <<'CHECK'
import json
calls = [r for r in json.load(open("out.json"))["gpu_calls"]["functions"]]
truth = json.load(open("truth.json"))
launches = {r["kernel"]: r["calls"] for r in calls if r["group"] == "launch" and r["function"] == "hipLaunchKernel"}
assert launches == {"scale": truth["scale"], "math::add": truth["add"]}, launches
waits = {r["function"]: (r["calls"], r["unmeasured"], "total_ns" in r) for r in calls if r["group"] == "wait"}
assert waits == {"hipDeviceSynchronize": (2, 2, False), "hipStreamSynchronize": (2, 2, False)}, waits
CHECK

begin "streams of launches, and times of kernels that a library in the program reports"
# Where CUDA would load it from, it has its probes before the command begins.
export CUDA_INJECTION64_PATH=$work/libparcagpucupti.so
LD_PRELOAD=$CUDA_INJECTION64_PATH REPORT_TRUTH=$work/reported.json "$pkbpf" -q -e cpu --gpu-calls -o out.json -o out.txt -o out.pkbpf \
	-o out.gpu-calls.csv -- ./gpu_runtime 40 >truth.json 2>said || fail "status $?: $(cat said)"
"$pkbpf" report -q out.pkbpf -o again.json >said 2>&1 || fail "report: status $?"
cat >reports.py <<'CHECK'
import json
report = json.load(open("out.json"))
calls, truth = report["gpu_calls"], json.load(open("reported.json"))
assert calls["functions"] == json.load(open("again.json"))["gpu_calls"]["functions"]
rows = {(r["function"], r["kernel"]): r for r in calls["functions"] if r["group"] == "launch"}
names = {"_Z5scalePfi": ("cudaLaunchKernel", "scale"), "_ZN4math3addEPfS0_": ("cudaLaunchKernel", "math::add"),
	 "_Z4nodePf": ("[in a graph]", "node"), "_Z4lostPf": ("[launch not seen]", "lost")}
assert sorted(truth) == sorted(names), truth
for mangled, (runs, ns, most) in truth.items():
    row = rows[names[mangled]]
    assert (row["runs"], row["gpu_ns"], row["gpu_max_ns"]) == (runs, ns, most), (row, runs, ns, most)
scale = rows[names["_Z5scalePfi"]]
assert scale["runs"] == scale["calls"] == json.load(open("truth.json"))["scale"], scale
# By the stack of the launch: of one in 16, within five standard deviations.
def frames(stack):
    return [f["name"] for f in stack["frames"]]
stacks = [s for s in calls["stacks"] if s.get("runs")]
total = sum(t[0] for t in truth.values())
assert all(any("aunchKernel" in f or "GraphLaunch" in f for f in frames(s)) for s in stacks), stacks
assert any("train_step" in frames(s) for s in stacks), stacks
assert abs(sum(s["runs"] for s in stacks) - total) <= 5 * (15 * total) ** 0.5 + 3, (stacks, total)
# A quarter of one kernel's launches, and all of the other's.
streams = calls["streams"]
share, expected = streams["on_default"] / streams["launches"], (scale["calls"] / 4 + 40) / (scale["calls"] + 40)
assert streams["count"] == 4 and scale["streams"]["count"] == 4, (streams, scale)
assert abs(share - expected) <= 5 * (expected * (1 - expected) / streams["samples"]) ** 0.5, (streams, expected)
CHECK
checker reports.py
grep -q 'GPU mean' out.txt || fail "no column: $(cat out.txt)"
tr -s '\n ' ' ' <out.txt | grep -q 'launches went to 4 streams, [0-9]* % of them to the default one' || fail "no streams: $(cat out.txt)"
grep -q ',cudaLaunchKernel,scale,,1620,1620,.*,1620,[0-9]*,24000' out.gpu-calls.csv || fail "$(cat out.gpu-calls.csv)"
LD_PRELOAD=$CUDA_INJECTION64_PATH "$pkbpf" -q -e cpu --gpu-calls -o out.json --fail-if 'gpu.kernel_time>1us' -- ./gpu_runtime 1 >truth.json 2>said
[ $? = 3 ] || fail "kernels took longer than that: $(cat said)"
unset CUDA_INJECTION64_PATH

begin "what differs between two runs"
for rounds in 2 4; do
	"$pkbpf" -q -e cpu --gpu-calls --slice 100ms -o $rounds.pkbpf -o $rounds.json -- ./gpu_runtime $rounds >$rounds.truth 2>said || fail "status $?: $(cat said)"
done
"$pkbpf" diff -q 2.pkbpf 4.pkbpf -o diff.json -o diff.txt >said 2>&1 || fail "diff: status $?: $(cat said)"
"$pkbpf" diff -q 2.json 4.json -o reports.json >said 2>&1 || fail "diff of reports: status $?: $(cat said)"
cat >differs.py <<'CHECK'
import json
MIB = 1 << 20
for name in "diff.json", "reports.json":
    rows = {(r["level"], r.get("name")): (round(r["base"]["value"]), round(r["new"]["value"])) for r in json.load(open(name))["rows"]}
    assert rows["gpu_launches", "scale"] == (100, 180), (name, rows)
    assert rows["gpu_launches", "math::add"] == (2, 4), (name, rows)
    assert rows["gpu_blocks", "scale"] == (800, 1440), (name, rows)
    assert rows["gpu_copied", "host to device"] == (8 * MIB, 16 * MIB) or rows["gpu_copied", "host to device"] == (8 * MIB + 1000, 16 * MIB + 1000), (name, rows)
    # The wall time of calls, which grows where others use the CPU: that of each run's own clock.
    for rounds, waited in zip((2, 4), rows["gpu_wait", "cudaDeviceSynchronize"]):
        truth = json.load(open(f"{rounds}.truth"))
        assert waited >= 20e6 * rounds and waited <= truth["spin_ns"] <= waited * 1.02 + 50000 * rounds + truth["queue_ns"], (name, truth, rows)
    if name == "diff.json":
        assert rows["gpu_allocated", "allocate"] == (17 * MIB, 17 * MIB), rows
CHECK
checker differs.py
grep -q 'GPU wait' diff.txt || fail "$(cat diff.txt)"

begin "a process that runs already, from Python"
cat >train.py <<'PROGRAM'
import ctypes, sys
cuda = ctypes.CDLL("./libcudart.so.12")
class Dim3(ctypes.Structure):
    _fields_ = [(n, ctypes.c_uint) for n in "xyz"]
cuda.cudaLaunchKernel.argtypes = [ctypes.c_void_p, Dim3, Dim3, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
def forward(count):
    for _ in range(count):
        cuda.cudaLaunchKernel(0x1234, Dim3(2, 3, 4), Dim3(1, 1, 1), None, 0, None)
def train_epoch():
    forward(1000)
    cuda.cudaStreamSynchronize(None)
forward(10)
print("ready", flush=True)
for line in sys.stdin:
    train_epoch()
PROGRAM
mkfifo go
python3 train.py <go >ready &
python=$!
exec 7>go
cleanup() { kill $python 2>/dev/null; }
wait_until 60 grep -q ready ready || give_up "Python does not start"
"$pkbpf" -v -e cpu --gpu-calls -p $python -o out.json >said 2>&1 7>&- &
profiler=$!
wait_until 60 profiling said || give_up "it does not begin: $(cat said)"
echo one >&7
echo two >&7
exec 7>&-
wait $python
wait $profiler || fail "status $?: $(cat said)"
grep -q 'GPU calls of .*libcudart.so.12 before the recording are not known' said || fail "it does not say so: $(cat said)"
checker - <<'CHECK'
import json
calls = json.load(open("out.json"))["gpu_calls"]
launch, wait = (next(r for r in calls["functions"] if r["group"] == g) for g in ("launch", "wait"))
assert (launch["calls"], launch["blocks"], launch["kernel"]) == (2000, 48000, "[kernel at 0x1234]"), launch
assert wait["calls"] == 2, wait
launches = [s for s in calls["stacks"] if s["group"] == "launch"]
def has(stack, *names):
    frames = [f["name"] for f in stack["frames"]]
    return all(any(n in f for f in frames) for n in names)
good = sum(s["samples"] for s in launches if has(s, "cudaLaunchKernel", "forward", "train_epoch", "<module>"))
assert good >= 0.99 * sum(s["samples"] for s in launches) > 0, launches
CHECK

begin "calls beyond either end, and memory of a process that lives"
cat >waits.py <<'PROGRAM'
import ctypes, os, sys, threading, time
cuda = ctypes.CDLL("./libcudart.so.12")
ends, memory = [os.pipe(), os.pipe()], ctypes.c_void_p()
def wait(number):
    thread = threading.Thread(target=cuda.cudaEventSynchronize, args=(ctypes.c_void_p(ends[number][0]),))
    thread.start()
    while "pipe_read" not in open(f"/proc/self/task/{thread.native_id}/wchan").read():
        pass
    return thread
before = wait(0)
print("ready", flush=True)
sys.stdin.readline()
# The profiler hears nobody in its first moment.
while time.process_time() < 0.5:
    pass
os.write(ends[0][1], b"x")
before.join()
cuda.cudaMalloc(ctypes.byref(memory), 3 << 20)
after = wait(1)
print("open", flush=True)
sys.stdin.readline()
os.write(ends[1][1], b"x")
after.join()
PROGRAM
rm -f go ready && mkfifo go
python3 waits.py <go >ready &
python=$!
exec 7>go
wait_until 60 grep -q ready ready || give_up "Python does not start"
"$pkbpf" -v -e cpu --gpu-calls -p $python -o out.json >said 2>&1 7>&- &
profiler=$!
wait_until 60 profiling said || give_up "it does not begin: $(cat said)"
echo one >&7
wait_until 60 grep -q open ready || give_up "Python does not go on"
kill -INT $profiler
wait $profiler || fail "status $?: $(cat said)"
echo two >&7
exec 7>&-
wait $python
checker - <<'CHECK'
import json
report = json.load(open("out.json"))
counters = {c["name"]: c["count"] for c in report["counters"]}
assert (counters.get("GPU_CALLS_BEFORE"), counters.get("GPU_CALLS_OPEN")) == (1, 1), counters
[row] = [r for r in report["gpu_calls"]["functions"] if r["group"] == "allocation"]
assert (row["calls"], row["live_bytes"], row["freed"]) == (1, 3 << 20, 0), row
assert not [r for r in report["gpu_calls"]["functions"] if r["group"] == "wait"], report["gpu_calls"]
CHECK

begin "an output that cannot show them says so"
"$pkbpf" -e cpu --gpu-calls -o out.pb.gz -- true >said 2>&1 || fail "status $?"
grep -q 'no output shows GPU calls' said || fail "$(cat said)"
"$pkbpf" -e cpu --gpu-calls -o out.md -o out.html -o out.pb.gz -- ./gpu_runtime 1 >truth.json 2>said || fail "status $?"
grep -q 'no output shows GPU calls' said && fail "$(cat said)"
grep -q '^| `gpu_runtime` | `cudaDeviceSynchronize` |  | 1 |' out.md || fail "$(cat out.md)"

begin "conditions on calls"
"$pkbpf" -q -e cpu --gpu-calls -o out.json --fail-if 'gpu.launches>61' --fail-if 'gpu.copied>8M' -- ./gpu_runtime 1 >truth.json 2>said ||
	fail "status $? of 61 launches and 6 MiB: $(cat said)"
"$pkbpf" -q -e cpu --gpu-calls -o out.json --fail-if 'gpu.synchronized>1ms' -- ./gpu_runtime 1 >truth.json 2>said
[ $? = 3 ] || fail "a wait of 40 ms is no more than 1 ms: $(cat said)"

begin "doctor"
"$pkbpf" doctor >out 2>&1
grep -qE '^(ok|without) +calls of CUDA and HIP: .*(libcud|libamdhip64|5\.15)' out || fail "$(cat out)"

begin "commands that do not record them say so"
"$pkbpf" serve --gpu-calls >said 2>&1 && fail "serve takes it"
grep -q -e '--gpu-calls does not apply' said || fail "$(cat said)"
conclude
