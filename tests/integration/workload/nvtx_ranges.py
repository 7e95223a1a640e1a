#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Ranges of NVTX 2 in a program that runs already: nvtx_ranges.py LIBRARY GO ROUNDS. Begins when the file GO is there."""
import ctypes
import os
import sys
import time

ASCII, WIDE = 1, 2


class Attributes(ctypes.Structure):
    """As nvToolsExt.h has them."""
    _fields_ = [("version", ctypes.c_uint16), ("size", ctypes.c_uint16), ("category", ctypes.c_uint32),
                ("color_type", ctypes.c_int32), ("color", ctypes.c_uint32), ("payload_type", ctypes.c_int32),
                ("reserved", ctypes.c_int32), ("payload", ctypes.c_uint64), ("message_type", ctypes.c_int32),
                ("message", ctypes.c_void_p)]


def record(kind, text):
    kept = ctypes.create_string_buffer(text) if kind == ASCII else ctypes.create_unicode_buffer(text)
    attributes = Attributes(version=2, size=ctypes.sizeof(Attributes), message_type=kind,
                            message=ctypes.cast(kept, ctypes.c_void_p))
    return attributes, kept


def main():
    library, go, rounds = ctypes.CDLL(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    named, wide = record(ASCII, b"layer"), record(WIDE, "wide")
    print("ready", flush=True)
    while not os.path.exists(go):
        time.sleep(0.01)
    for _ in range(rounds):
        library.nvtxRangePushA(b"train_step")
        library.nvtxRangePushA(b"load")
        time.sleep(0.001)
        library.nvtxRangePop()
        library.nvtxRangePushEx(ctypes.byref(named[0]))
        library.nvtxDomainRangePushEx(None, ctypes.byref(wide[0]))
        library.nvtxDomainRangePop(None)
        library.nvtxRangePop()
        library.nvtxRangePop()


main()
