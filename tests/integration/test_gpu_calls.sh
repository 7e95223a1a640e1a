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
cp "$workloads"/lib{cuda.so.1,cudart.so.12} "$workloads"/gpu_{runtime,driver,static} .
cp gpu_runtime gpu_stripped && strip gpu_stripped

# Exact counts and bytes; times within 2 % of the program's own, which has the price of the probes on top, and may have waited
# for a CPU before them.
cat >check.py <<'CHECK'
import json, sys
program, rounds, prefix = sys.argv[1], int(sys.argv[2]), sys.argv[3]
calls = json.load(open("out.json"))["gpu_calls"]
truth = json.load(open("truth.json"))
runtime, MIB = prefix == "cuda", 1 << 20

def one(group, **keys):
    rows = [r for r in calls["functions"] if r["group"] == group and all(r.get(k) == v for k, v in keys.items())]
    assert len(rows) == 1, (group, keys, rows)
    return rows[0]

def near(row, ns):
    assert row["total_ns"] <= ns <= row["total_ns"] * 1.02 + 50000 * row["calls"] + truth["queue_ns"], (row, ns, truth)

scale, add = one("launch", kernel=sys.argv[4]), one("launch", kernel=sys.argv[5])
assert (scale["calls"], scale["blocks"]) == (truth["scale"], 8 * truth["scale"]), scale
assert (add["calls"], add["blocks"]) == (truth["add"], 10 * truth["add"]), add
assert sum(r["calls"] for r in calls["functions"] if r["group"] == "launch") == truth["scale"] + truth["add"]
up = one("copy", direction="host to device", function=prefix + ("Memcpy" if runtime else "MemcpyHtoD"))
assert (up["calls"], up["bytes"]) == (rounds, rounds * 4 * MIB), up
near(up, truth["copy_ns"])
down = one("copy", direction="device to host")
assert (down["calls"], down["bytes"]) == (1, 2 * MIB), down
spin = one("wait", function=prefix + ("DeviceSynchronize" if runtime else "CtxSynchronize"))
sleep = one("wait", function=prefix + "StreamSynchronize")
assert spin["calls"] == sleep["calls"] == rounds, (spin, sleep)
near(spin, truth["spin_ns"])
near(sleep, truth["sleep_ns"])
memory = one("allocation")
assert (memory["calls"], memory["bytes"], memory["freed"], memory["live_bytes"]) == (3, 16 * MIB, 1, 4 * MIB), memory
assert one("free")["calls"] == 1
errors = {(e["function"], e["code"]): e["calls"] for e in calls["errors"]}
if runtime:
    assert errors == {("cudaMalloc", 2): 1, ("cudaMemcpy", 21): rounds}, errors
    assert one("copy", function="cudaMemcpyAsync")["bytes"] == 100
    assert one("graph")["calls"] == 1
else:
    assert errors == {("cuMemAlloc", 2): 1}, errors
# The driver's calls inside of the run-time's are not counted again.
assert all(r["function"].startswith(prefix) for r in calls["functions"]), calls["functions"]
if program == "gpu_stripped":
    sys.exit()
def leads(stack, *names):
    frames = [f["name"] for f in stack["frames"]]
    return any(all(n in frames[i + j] for j, n in enumerate(names)) for i in range(len(frames)))
stacks = calls["stacks"]
launches = [s for s in stacks if s["group"] == "launch"]
good = sum(s["samples"] for s in launches if leads(s, "aunchKernel", s["kernel"].split("::")[-1], "train_step", "main"))
assert good >= 0.99 * sum(s["samples"] for s in launches) > 0, launches
waits = [s for s in stacks if s["group"] == "wait"]
assert sum(s["calls"] for s in waits if leads(s, "ynchronize", "train_step", "main")) == 2 * rounds, waits
# One in 16: as many as it stands for, within five standard deviations.
stand_for, all_launches = sum(s["calls"] for s in launches), truth["scale"] + truth["add"]
assert abs(stand_for - all_launches) <= 5 * (15 * all_launches) ** 0.5, (stand_for, all_launches)
live = [s for s in stacks if s["group"] == "allocation" and s["live_bytes"]]
assert sum(s["live_bytes"] for s in live) == 4 * MIB and all(leads(s, "allocate", "keep_memory", "main") for s in live), live
CHECK

run() {
	begin "$1"
	"$pkbpf" -q -e cpu --gpu-calls -o out.json -o out.txt -o out.pkbpf -o out.gpu-calls.csv -- "./$2" 5 >truth.json 2>said ||
		fail "status $?: $(cat said)"
	checker check.py "$2" 5 "$3" "$4" "$5"
}
run "the run-time, which calls the driver" gpu_runtime cuda scale math::add
grep -q '^ *205 launches, 1 graph call, 12 copies of 22.0 MiB' out.txt || fail "the text lacks it: $(grep -A9 '^GPU calls' out.txt)"
grep -q ',cudaLaunchKernel,scale,,200,200,0,0,0,0,0,1600,' out.gpu-calls.csv || fail "$(cat out.gpu-calls.csv)"
"$pkbpf" report -q out.pkbpf -o again.json >said 2>&1 || fail "report: status $?"
checker - <<'CHECK'
import json
one, again = (json.load(open(name))["gpu_calls"] for name in ("out.json", "again.json"))
assert one["functions"] == again["functions"] and one["errors"] == again["errors"], (one, again)
CHECK
run "the driver alone" gpu_driver cu scale math::add
run "both in the program" gpu_static cuda scale math::add
run "without symbols: names that were registered" gpu_stripped cuda scale math::add

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

begin "commands that do not record them say so"
"$pkbpf" serve --gpu-calls >said 2>&1 && fail "serve takes it"
grep -q -e '--gpu-calls does not apply' said || fail "$(cat said)"
conclude
