# SPDX-License-Identifier: BSD-2-Clause
"""Decodes OTLP in protocol buffers by otlp_shape.proto, into what the same is in JSON. What the shape does not have, or has
with another type of the wire, is an error."""
import os
import re
import struct

VARINT, FIXED64, BYTES = 0, 1, 2
WIRES = {"int32": VARINT, "int64": VARINT, "uint64": VARINT, "bool": VARINT, "fixed64": FIXED64, "double": FIXED64}


def read_shape():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "otlp_shape.proto")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    messages = {}
    for name, body in re.findall(r"^message (\w+) \{(.*?)\}$", text, re.M):
        messages[name] = {int(number): (field, kind, bool(repeated))
                          for repeated, kind, field, number in re.findall(r"(repeated )?(\w+) (\w+) = (\d+);", body)}
    return messages


SHAPE = read_shape()


def json_name(field):
    return re.sub(r"_(\w)", lambda match: match[1].upper(), field)


def varint(data, at):
    number, shift = 0, 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return number, at


def scalar(kind, raw):
    if kind == "bool":
        return bool(raw)
    if kind == "double":
        return struct.unpack("<d", raw)[0]
    if kind == "fixed64":
        return str(struct.unpack("<Q", raw)[0])
    return raw if kind == "int32" else str(raw)


def value_of(kind, raw):
    if kind == "string":
        return raw.decode()
    if kind == "bytes":
        return raw.hex()
    return decode(kind, raw)


def packed(kind, raw):
    values, at = [], 0
    while at < len(raw):
        number, at = varint(raw, at)
        values.append(scalar(kind, number))
    return values


def decode(message, data):
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        field, kind, repeated = SHAPE[message][key >> 3]
        wire = key & 7
        if wire == VARINT:
            raw, at = varint(data, at)
        else:
            size, at = (8, at) if wire == FIXED64 else varint(data, at)
            assert at + size <= len(data), f"{message}.{field} ends beyond the request"
            raw, at = data[at:at + size], at + size
        assert wire == (BYTES if repeated else WIRES.get(kind, BYTES)), f"{message}.{field} has type {wire}"
        name = json_name(field)
        if repeated and kind in WIRES:
            found.setdefault(name, []).extend(packed(kind, raw))
        elif repeated:
            found.setdefault(name, []).append(value_of(kind, raw))
        else:
            assert name not in found, f"{message}.{field} twice"
            found[name] = scalar(kind, raw) if kind in WIRES else value_of(kind, raw)
    return found
