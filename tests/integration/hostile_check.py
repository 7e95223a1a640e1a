# SPDX-License-Identifier: BSD-2-Clause
"""Every format of a profile of hostile_names: hostile_check.py FOLDER"""
import csv
import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as tree

from checks import check, not_checked

folder = sys.argv[1]


def read(name):
    with open(f"{folder}/{name}", "rb") as file:
        return file.read()


def text(name):
    """The file as UTF-8, which it has to be."""
    try:
        return read(name).decode()
    except UnicodeDecodeError as error:
        check(False, f"{name} is no UTF-8: {error}")
        return read(name).decode(errors="replace")


def control_characters(content):
    return sorted({hex(ord(c)) for c in content if (ord(c) < 32 and c not in "\t\n\r") or 127 <= ord(c) < 160 or c in "\u202a\u202b\u202d\u202e\u2066\u2067\u2068"})


# What each function of the program has at least, of a tenth of a second at 499 Hz: its name counts, not how many there are.
LEAST = 1
FUNCTIONS = ["a:b::c", "</script><script>", "<img src=", "]]>&amp:<!--", "{{DATA}}", "red", "cmd|'/c calc'!A1", "say `hello", "ends in a number_12", "utf-8", "gnp.exe", "__proto__",
             "constructor", "last"]

lines = text("all.folded").splitlines()
matched = [re.fullmatch(r"(\S.*) (\d+)", line) for line in lines]
check(lines and all(matched), f"{len(lines)} folded stacks, each with one number")
weights = [(match[1], int(match[2])) for match in matched if match]
samples = sum(number for _, number in weights)
for function in FUNCTIONS:
    found = sum(number for stack, number in weights if any(function in frame for frame in stack.split(";")))
    check(found >= LEAST, f"folded: {found} samples in {function}")
check(all(frame for stack, _ in weights for frame in stack.split(";")), "folded: no frame is empty")
check(not any(re.search(r" \d+$", stack) for stack, _ in weights), "folded: no frame ends in a number that is read as a weight")

MORE = [name for name in ("symbols.folded", "diff.cpu.folded", "diff.folded", "diff.cpu.svg", "diff.svg", "diff.txt", "diff.md", "diff.xml", "diff.json", "bench.csv", "bench.txt", "bench.md", "bench.xml", "bench.json")
        if os.path.exists(f"{folder}/{name}")]
check(len(MORE) >= 12, f"comparisons and benchmarks: {MORE}")
named = sum(int(line.rsplit(" ", 1)[1]) for line in text("symbols.folded").splitlines() if "</script><script>" in line)
check(named >= LEAST, f"names from a file: {named} samples below markup")
for name in MORE + ["symbols.json"]:
    if name.endswith(".json"):
        json.loads(text(name))
        if shutil.which("jq"):
            check(subprocess.run(["jq", "-e", ".", f"{folder}/{name}"], stdout=subprocess.DEVNULL).returncode == 0, f"{name}: jq reads it")
    if name.endswith((".svg", ".xml")) and shutil.which("xmllint"):
        check(subprocess.run(["xmllint", "--noout", "--nonet", f"{folder}/{name}"]).returncode == 0, f"{name}: xmllint reads it")
for name in ("diff.md", "bench.md", "all.md"):
    # Markup counts outside of code only.
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text(name))
    check(not re.search(r"<(script|b|img)\b|hacked=1", outside), f"{name}: names are code: {outside[:300]}")
rows = list(csv.reader(io.StringIO(text("bench.csv"), newline="")))
check(len({len(row) for row in rows}) == 1 and not any(cell[:1] in "=+-@\t" for row in rows for cell in row[:3]), f"bench.csv: {len(rows)} rows of {len(rows[0])} cells, no formula")
marked = [element.get("name") for element in tree.fromstring(text("diff.xml")).iter("testcase")]
check(any("</script><script>hacked=1</script>" in name for name in marked), f"junit: markup in a name is text: {marked}")

for name in MORE + ["all.txt", "full.txt", "tree.txt", "all.folded", "all.csv", "all.functions.csv", "all.md", "all.sarif", "all.svg"]:
    check(not control_characters(text(name)), f"{name}: no control characters: {control_characters(text(name))}")

for name in "all.firefox.json", "all.trace.json", "all.sarif":
    json.loads(text(name))
document = json.loads(text("all.speedscope.json"))
profile = document["profiles"][0]
check(profile["endValue"] == sum(profile["weights"]) == samples, f"speedscope: {profile['endValue']} samples of {samples}")
report = json.loads(text("all.json"))
check(report["samples"]["recorded"] == samples, f"json: {report['samples']['recorded']} samples of {samples}")

for name in "all.csv", "all.functions.csv":
    rows = list(csv.reader(io.StringIO(text(name), newline="")))
    check(len({len(row) for row in rows}) == 1 and len(rows) > 1, f"{name}: {len(rows)} rows of {len(rows[0])} cells")
    check(not any(cell[:1] in "=+-@\t" and not re.fullmatch(r"-?[\d.]+", cell) for row in rows for cell in row if cell), f"{name}: no cell is a formula")

root = tree.fromstring(text("all.svg"))
titles = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}title")]
check(any("</script><script>hacked=1</script>" in title for title in titles), "svg: markup in a name is text")
scripts = [element for element in root.iter() if element.tag.endswith("}script")]
check(len(scripts) <= 1 and not any(attribute.startswith("on") for element in root.iter() for attribute in element.attrib), "svg: no script but its own")

try:
    raw = subprocess.run(["go", "tool", "pprof", "-raw", f"{folder}/all.pb.gz"], capture_output=True, check=True, env={"PATH": "/usr/bin:/bin:/usr/local/go/bin", "HOME": folder, "PPROF_TMPDIR": folder}).stdout.decode(errors="replace")
    counted = sum(int(match[1]) for match in re.finditer(r"^ *(\d+) +\d+: ", raw.split("Locations")[0], re.M))
    check(counted == samples, f"pprof: {counted} samples of {samples}")
    check("</script><script>hacked=1</script>" in raw, "pprof: names stay as they are")
except (OSError, subprocess.CalledProcessError) as error:
    not_checked(f"go tool pprof: {error}")
gzip.decompress(read("all.pb.gz"))
