# SPDX-License-Identifier: BSD-2-Clause
"""A page with as many single events as are asked for, made of another page: lanes_many.py PAGE.html OUT.html EVENTS THREADS

Its data is packed as user/export/page/page_data.h says; only its lanes are new: threads that wait again and again, for times of all lengths."""
import array
import base64
import json
import random
import re
import struct
import sys
import zlib

SECONDS = 60
STACKS = 500


def column(kind, values):
    data = array.array(kind, values).tobytes()
    return data + bytes(-len(data) % 8)


def lanes_of(events, threads, functions, rows):
    """Some threads have much more to do than others. Every tenth event is a sample."""
    rng = random.Random(1)
    weights = [1 / (1 + i) ** 0.5 for i in range(threads)]
    samples = events // 10
    described, columns = [], {name: array.array(kind) for name, kind in (("begin", "d"), ("length", "d"), ("queue", "d"), ("ran", "d"), ("kind", "B"), ("wait", "I"), ("sample", "d"))}
    for number, weight in enumerate(weights):
        waits = max(1, round((events - samples) * weight / sum(weights)))
        step, at = SECONDS * 1e9 / waits, 0.0
        for i in range(waits):
            ran, length, queue = step * rng.random() * 0.3, step * 0.5, step * rng.choice((0, 0, 0.1))
            columns["begin"].append(at + ran)
            columns["length"].append(length)
            columns["queue"].append(queue)
            columns["ran"].append(ran)
            columns["kind"].append(3 + (number + i // 50) % 7)
            at = (i + 1) * step
        taken = round(samples * weight / sum(weights))
        columns["sample"].extend(i * SECONDS * 1e9 / max(1, taken) for i in range(taken))
        described.append([100 + number // 8, 1000 + number, f"worker-{number}", f"server-{number // 8}", number % rows, 0, SECONDS * 1e9, 0, 1, waits, taken])
    count, taken = len(columns["begin"]), len(columns["sample"])
    depth = 20
    text = {"waits": count, "samples": taken, "stacks": STACKS, "functions": STACKS * depth, "least_ns": 1, "missing": 0, "causes": ["waits for a lock"], "threads": described, "regions": []}
    zeros = lambda kind: column(kind, array.array(kind, bytes(count * array.array(kind).itemsize)))
    data = [column("d", columns[name]) for name in ("begin", "length", "queue", "ran")] + [column("B", columns["kind"]), column("B", bytes([2]) * count), zeros("B"), zeros("B")]
    data += [column("I", (i % STACKS for i in range(count)))] + [zeros("I")] * 4
    data += [column("d", columns["sample"]), column("I", (i % STACKS for i in range(taken))), column("I", (depth * (i + 1) for i in range(STACKS))), column("I", (rng.randrange(functions) for _ in range(STACKS * depth)))]
    return text, b"".join(data)


page, out, events, threads = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
before, packed, after = re.split(r'(?<=id="data">)([^<]*)', open(page).read(), maxsplit=1)
raw = zlib.decompress(base64.b64decode(packed), -15)
(length,) = struct.unpack_from("<I", raw)
text = json.loads(raw[4:4 + length])
data, at = text["data"], 4 + length + -(4 + length) % 8
padded = lambda size: size + -size % 8
for kind in data["kinds"].values():
    at += padded(4 * kind["nodes"]) + padded(2 * kind["nodes"]) + 2 * padded(4 * kind["values"]) + padded(kind["values"]) + 8 * kind["values"] + 2 * padded(4 * kind["parts"]) + padded(2 * kind["parts"])
begin = 4 + length + -(4 + length) % 8
at += 2 * padded(4 * data["samples"]["count"]) + padded(2 * data["samples"]["count"])
data["lanes"], lanes = lanes_of(events, threads, len(data["functions"]), len(text["report"]["rows"]))
document = json.dumps(text).encode()
head = struct.pack("<I", len(document)) + document
packer = zlib.compressobj(6, zlib.DEFLATED, -15)
packed = packer.compress(head + bytes(-len(head) % 8) + raw[begin:at] + lanes) + packer.flush()
open(out, "w").write(before + base64.b64encode(packed).decode() + after)
