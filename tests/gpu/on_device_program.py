#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Launches, copies and waits a known number of times by the driver of CUDA, and prints as JSON what it did, by its own clock.
usage: on_device_program.py ROUNDS LAUNCHES; exit status 77 with the reason: there is no device"""
import ctypes
import json
import sys
import time

PTX = b""".version 6.0
.target sm_50
.address_size 64
.visible .entry on_device_kernel() { ret; }
"""
BYTES = 4 << 20


def skip(reason):
    print(reason)
    sys.exit(77)


def open_driver():
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        skip(f"no driver of CUDA: {error}")
    count = ctypes.c_int()
    code = cuda.cuInit(0)
    if code:
        skip(f"the driver of CUDA finds no device: cuInit() returns {code}")
    cuda.cuDeviceGetCount(ctypes.byref(count))
    if not count.value:
        skip("the driver of CUDA finds no device")
    # A library that a program opens while it is watched gets its probes within a tenth of a second; earlier calls are missed.
    time.sleep(2)
    return cuda


def call(function, *arguments):
    code = function(*arguments)
    if code:
        sys.exit(f"{function.__name__} returns {code}")


def work(cuda, kernel, memory, host, rounds, launches, took):
    for _ in range(rounds):
        begin = time.monotonic_ns()
        call(cuda.cuMemcpyHtoD_v2, memory, host, ctypes.c_size_t(BYTES))
        at = time.monotonic_ns()
        for _ in range(launches):
            call(cuda.cuLaunchKernel, kernel, 2, 3, 1, 1, 1, 1, 0, None, None, None)
        launched = time.monotonic_ns()
        call(cuda.cuCtxSynchronize)
        took["copy_ns"] += at - begin
        took["launch_ns"] += launched - at
        took["wait_ns"] += time.monotonic_ns() - launched


def main():
    rounds, launches = int(sys.argv[1]), int(sys.argv[2])
    cuda = open_driver()
    device, context, module, kernel, memory = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
    call(cuda.cuDeviceGet, ctypes.byref(device), 0)
    call(cuda.cuCtxCreate_v2, ctypes.byref(context), 0, device)
    call(cuda.cuModuleLoadData, ctypes.byref(module), PTX)
    call(cuda.cuModuleGetFunction, ctypes.byref(kernel), module, b"on_device_kernel")
    call(cuda.cuMemAlloc_v2, ctypes.byref(memory), ctypes.c_size_t(BYTES))
    took = {"copy_ns": 0, "launch_ns": 0, "wait_ns": 0}
    work(cuda, kernel, memory, ctypes.create_string_buffer(BYTES), rounds, launches, took)
    print(json.dumps({"launches": rounds * launches, "blocks": 6 * rounds * launches, "copies": rounds, "bytes": rounds * BYTES, "waits": rounds, **took}))


main()
