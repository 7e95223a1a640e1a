#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Makes a running pkbpf believe that it has not seen how requests of an idle device ended.

One that the device has and that is free, one whose memory is gone: both issued a while ago. And one that is gone as well,
of which only was seen that it waited.

usage: blockio_unseen.py PID MAJOR:MINOR
"""
import glob
import json
import re
import struct
import subprocess
import sys
import time

REQUEST = struct.Struct("<QQQIIII")  # struct pkbpf_blockio_request
NO_ROW = 0xFFFFFFFF
GONE = (8, 16)  # addresses where nothing ever is


def bpftool(*words):
    return json.loads(subprocess.run(["bpftool", "-j", *words], check=True, capture_output=True, text=True).stdout or "{}")


def maps_of(pid):
    """Names (of which the kernel keeps 15 characters) -> ids."""
    maps = {}
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        try:
            with open(path, encoding="ascii") as file:
                number = re.search(r"^map_id:\s*(\d+)", file.read(), re.M)
        except OSError:  # closed since
            continue
        if number:
            maps[bpftool("map", "show", "id", number[1])["name"]] = number[1]
    return maps


def raw(values):
    return bytes(int(value, 16) for value in values)


def update(number, key, *fields):
    words = [f"{byte:#04x}" for byte in struct.pack("<Q", key)], [f"{byte:#04x}" for byte in REQUEST.pack(*fields)]
    bpftool("map", "update", "id", number, "key", *words[0], "value", *words[1])


def main():
    maps = maps_of(sys.argv[1])
    device = int(sys.argv[2].split(":")[0]) << 20 | int(sys.argv[2].split(":")[1])
    since_ns = time.monotonic_ns() - 1_000_000_000
    requests = maps["blockio_requests"[:15]]
    for entry in bpftool("map", "dump", "id", requests):
        address = struct.unpack("<Q", raw(entry["key"]))[0]
        inserted, issued, _, _, _, row, tid = REQUEST.unpack(raw(entry["value"]))
        if inserted or issued or row == NO_ROW:
            continue
        key = bpftool("map", "lookup", "id", maps["blockio_rows"], "key", *(f"{byte:#04x}" for byte in struct.pack("<I", row)))
        if struct.unpack_from("<I", raw(key["value"]), 16)[0] == device:
            update(requests, address, 0, since_ns, 0, 0, 4096, row, tid)
            update(requests, GONE[0], 0, since_ns, 0, 0, 4096, row, tid)
            update(requests, GONE[1], since_ns, 0, 0, 0, 4096, row, tid)
            return
    sys.exit("the device has no free request that pkbpf knows")


main()
