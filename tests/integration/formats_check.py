# SPDX-License-Identifier: BSD-2-Clause
"""One recording in all formats, as their readers' rules have it, and with the same sums: formats_check.py FOLDER KIND…"""
import base64
import csv
import gzip
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import zlib

from checks import check, not_checked

folder, kinds = sys.argv[1], sys.argv[2:]
here = os.path.dirname(os.path.abspath(__file__))
TITLES = {"CPU": "cpu", "Off-CPU": "offcpu", "Block I/O": "blockio", "Page faults": "faults"}
IS_TIME = {"offcpu": True, "blockio": True, "cpu": False, "faults": False}


def decode(kind):
    """The messages of a pprof file as lists of (field, value or message)."""
    packed = open(f"{folder}/all.{kind}.pb.gz", "rb").read()
    shown = subprocess.run(["protoc", f"--proto_path={here}", "--decode=shape.Profile", "profile_shape.proto"], input=gzip.decompress(packed), capture_output=True, check=True).stdout.decode()
    open_messages = [[]]
    for line in shown.splitlines():
        line = line.strip()
        if line.endswith("{"):
            message = []
            open_messages[-1].append((line[:-2], message))
            open_messages.append(message)
        elif line == "}":
            open_messages.pop()
        else:
            name, value = line.split(": ", 1)
            # An unknown field has a number instead of a name.
            check(not name.isdigit(), f"pprof {kind}: unknown field {line}") if name.isdigit() else None
            open_messages[-1].append((name, value if value.startswith('"') else value == "true" if value in ("true", "false") else int(value)))
    return open_messages[0]


def all_of(message, name):
    return [value for field, value in message if field == name]


def one(message, name):
    return (all_of(message, name) or [0])[0]


def check_pprof(kind):
    profile = decode(kind)
    strings = all_of(profile, "string_table")
    check(strings[0] == '""', f"pprof {kind}: string 0 is empty")
    types, samples = all_of(profile, "sample_type"), all_of(profile, "sample")
    check(all(len(all_of(sample, "value")) == len(types) for sample in samples), f"pprof {kind}: {len(samples)} samples, each with {len(types)} values")
    ids = {name: [one(item, "id") for item in all_of(profile, name)] for name in ("mapping", "location", "function")}
    check(all(len(set(numbers)) == len(numbers) and 0 not in numbers for numbers in ids.values()), f"pprof {kind}: ids are distinct and not 0")
    check({location for sample in samples for location in all_of(sample, "location_id")} <= set(ids["location"]), f"pprof {kind}: stacks have locations that are there")
    mappings = {one(item, "id"): item for item in all_of(profile, "mapping")}
    for location in all_of(profile, "location"):
        lines, mapping = all_of(location, "line"), mappings.get(one(location, "mapping_id"))
        if not lines or not {one(line, "function_id") for line in lines} <= set(ids["function"]):
            check(False, f"pprof {kind}: location {one(location, 'id')} has no function that is there")
        if mapping and one(location, "address") and not one(mapping, "memory_start") <= one(location, "address") < one(mapping, "memory_limit"):
            check(False, f"pprof {kind}: address {one(location, 'address'):#x} is outside of its mapping {mapping}")
    keys = {strings[one(label, "key")].strip('"') for sample in samples for label in all_of(sample, "label")}
    check({"pid", "comm"} <= keys, f"pprof {kind}: labels {sorted(keys)}")
    sums = [sum(values) for values in zip(*(all_of(sample, "value") for sample in samples))]
    units = [strings[one(kind_type, "unit")].strip('"') for kind_type in types]
    return dict(zip(units, sums)), sums


def check_speedscope():
    """The sum of each kind, after the rules of speedscope's file format, as its documentation has them."""
    document = json.load(open(f"{folder}/all.speedscope.json"))
    check(document["$schema"] == "https://www.speedscope.app/file-format-schema.json", f"speedscope: names its schema")
    check(set(document) <= {"$schema", "shared", "profiles", "name", "activeProfileIndex", "exporter"}, f"speedscope: only keys that the format has: {sorted(document)}")
    frames = document["shared"]["frames"]
    for frame in frames:
        rest = {"file": str, "line": int, "col": int}
        if not frame.get("name") or any(key != "name" and not isinstance(value, rest.get(key, type(None))) for key, value in frame.items()):
            check(False, f"speedscope: frame {frame}")
    for profile in document["profiles"]:
        check(set(profile) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"} and profile["type"] == "sampled", f"speedscope: keys of a sampled profile")
        check(profile["unit"] in ("none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"), f"speedscope: unit {profile['unit']}")
        check(len(profile["samples"]) == len(profile["weights"]) and all(0 <= frame < len(frames) for stack in profile["samples"] for frame in stack), f"speedscope: {len(profile['samples'])} samples of {len(frames)} frames")
        check(profile["endValue"] - profile["startValue"] == sum(profile["weights"]), f"speedscope: the values add up to the end")
    return {TITLES[profile["name"]]: sum(profile["weights"]) for profile in document["profiles"]}


def check_markup():
    for kind in kinds:
        said = subprocess.run(["xmllint", "--noout", "--nonet", f"{folder}/all.{kind}.svg"], capture_output=True, text=True)
        check(said.returncode == 0, f"xmllint reads the svg of {kind}: {said.stderr[:300]}")
    said = subprocess.run(["xmllint", "--html", "--huge", "--noout", "--nonet", f"{folder}/all.html"], capture_output=True, text=True).stderr
    # It knows no elements of HTML 5.
    errors = [line for line in said.splitlines() if re.search(r": (HTML parser )?error : ", line) and not re.search(r"Tag (header|nav|main|section|dialog|figure|figcaption) invalid", line)]
    check(not errors, f"xmllint reads the page: {errors[:3]}")


def page_sums():
    """The sum of each kind in the page, from its columns: page_data.h has them."""
    packed = re.search(r'<script type="text/plain" id="data">([^<]*)</script>', open(f"{folder}/all.html", encoding="utf-8").read())[1]
    raw = zlib.decompress(base64.b64decode(packed), -15)
    length = struct.unpack_from("<I", raw)[0]
    at, sums = (4 + length + 7) // 8 * 8, {}
    for name, kind in json.loads(raw[4:4 + length])["data"]["kinds"].items():
        for size, count in [(4, "nodes"), (2, "nodes"), (4, "values"), (4, "values"), (1, "values"), (8, "values"), (4, "parts"), (2, "parts"), (4, "parts")]:
            if size == 8:
                sums[name] = sum(struct.unpack_from(f"<{kind[count]}d", raw, at))
            at += (size * kind[count] + 7) // 8 * 8
    return sums


def check_counts(kind, expected):
    """Of kinds that are counted, what pictures and reports say: as whole numbers."""
    number = lambda text: int(text.replace(",", ""))
    title = re.search(r"<title>all\n([\d,]+) ", open(f"{folder}/all.{kind}.svg", encoding="utf-8").read())
    check(title and number(title[1]) == expected, f"{kind}: the svg has {title and title[1]}, speedscope {expected}")
    name = {"cpu": "CPU", "faults": "Page faults"}[kind]
    tree = re.search(rf"^{name}: call tree of ([\d,]+) ", open(f"{folder}/tree.txt").read(), re.M)
    check(tree and number(tree[1]) == expected, f"{kind}: the tree has {tree and tree[1]}, speedscope {expected}")


def check_samples(expected):
    report = json.load(open(f"{folder}/all.json"))
    check(report["samples"]["recorded"] == report["total"]["cpu"]["samples"] == expected, f"cpu: the json has {report['samples']['recorded']}, speedscope {expected}")
    rows = list(csv.DictReader(open(f"{folder}/all.csv", newline="")))
    counted = sum(int(row["cpu.samples"] or 0) for row in rows)
    check(counted == expected, f"cpu: the csv has {counted}, speedscope {expected}")


scopes = check_speedscope()
pages = page_sums()
for kind in kinds:
    folded = [int(line.rsplit(" ", 1)[1]) for line in open(f"{folder}/all.{kind}.folded", encoding="utf-8")]
    scope = scopes.get(kind)
    if shutil.which("protoc"):
        by_unit, values = check_pprof(kind)
        check(scope == (by_unit["nanoseconds"] if IS_TIME[kind] else values[0]), f"{kind}: speedscope has {scope}, pprof {by_unit}")
    else:
        not_checked(f"pprof {kind}: protoc is not here")
    check(pages.get(kind) == scope, f"{kind}: the page has {pages.get(kind)}, speedscope {scope}")
    if not IS_TIME[kind]:
        check_counts(kind, scope)
    if kind == "cpu":
        check_samples(scope)
    # Times are whole microseconds in folded stacks, each rounded to the nearest.
    if IS_TIME[kind]:
        check(abs(sum(folded) * 1000 - scope) <= 500 * len(folded), f"{kind}: folded stacks have {sum(folded)} us, speedscope {scope} ns")
    else:
        check(sum(folded) == scope, f"{kind}: folded stacks have {sum(folded)}, speedscope {scope}")
if shutil.which("xmllint"):
    check_markup()
else:
    not_checked("xmllint is not here")
