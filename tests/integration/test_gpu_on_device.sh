#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# alone: it measures the price of probes
# tests/gpu/on_device: against a stand-in of CUDA's driver it finds all as it should be; without a device it skips, with the reason.
# usage: test_gpu_on_device.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
evidence=(said)
script=$here/../gpu/on_device

"$pkbpf" -q -e cpu --gpu-calls -o out.json -- true >said 2>&1 || {
	grep -q 'needs x86-64 and Linux 5.15' said && skip "$(tail -n 1 said)"
	fail "status $?: $(cat said)"
}

begin "a stand-in"
mkdir -p lib && cp "$workloads/libcuda.so.1" lib/
LD_LIBRARY_PATH=$work/lib "$script" "$pkbpf" results 2 >said 2>&1 || fail "status $?"
grep -q '^ok   calls counted, kernels named: 10000 launches, 20 copies of 83886080 bytes, 20 waits' results || fail "$(cat results)"
grep -q '^ok   price of a launch: ' results || fail "$(cat results)"

begin "one that loses launches is found"
sed 's/range(launches)/range(launches - 1)/' "$here/../gpu/on_device_program.py" >on_device_program.py
sed "s|^here=.*|here=$work|" "$script" >on_device && chmod +x on_device
LD_LIBRARY_PATH=$work/lib ./on_device "$pkbpf" results 2 >said 2>&1 && fail "it finds nothing"
grep -q '^BAD  calls counted' results || fail "$(cat results)"

begin "this machine"
"$script" "$pkbpf" results 5 >said 2>&1
status=$?
[ $status = 0 ] || [ $status = 77 ] || fail "status $status"
[ $status = 0 ] || grep -q '^skip .*\(driver\|device\)' results || fail "no reason: $(cat results)"
conclude
