# SPDX-License-Identifier: BSD-2-Clause
"""What `pkbpf mcp` answers, against reports of the same recordings.
usage: mcp_check.py recordings|messages|history|profile PKBPF FOLDER"""
import glob
import json
import os
import re
import subprocess
import sys
import time

from checks import check
from mcp_client import MODERN, Client

what, pkbpf, folder = sys.argv[1:4]
os.chdir(folder)
BYTES = 2000 * 3


def number(text, pattern):
    found = re.search(pattern, text, re.MULTILINE)
    return float(found[1].replace(",", "")) if found else None


def bounded(client, tools, **arguments):
    for tool, given in tools.items():
        pages = client.pages(tool, **given, **arguments)
        longest = max(len(page.encode()) for page in pages)
        check(longest <= BYTES, f"{tool}: {len(pages)} pages, the longest has {longest} bytes")


def recordings():
    report = json.load(open("more.json"))
    tools = {"sources": {}, "findings": {}, "processes": {"by": "container"}, "functions": {"kind": "cpu", "sort": "total"}, "lines": {},
             "function": {"name": "compute"}, "regions": {}, "diff": {"base": "base.pkbpf"}, "machine": {}}
    for version in MODERN, "2025-11-25", "2024-11-05":
        client = Client(pkbpf, "base.pkbpf", "more.pkbpf", version=version)
        if version != MODERN:
            check(client.greeting["result"]["protocolVersion"] == version, f"version {version} is spoken")
        offered = {tool["name"] for tool in client.ask("tools/list")["result"]["tools"]}
        check(offered == set(tools) | {"series"}, f"{version}: {sorted(offered)}")
        check(client.call("sources").count("recording of command") == 2, f"{version}: two recordings")
        check(client.close() == 0, f"{version}: ends with its input")
    client = Client(pkbpf, "base.pkbpf", "more.pkbpf")
    bounded(client, tools)

    text = client.call("findings", source="more.pkbpf")
    check(all(f["text"][:60] in text for f in report["findings"]), f"{len(report['findings'])} findings are those of the report")
    text = client.call("processes", source="more.pkbpf")
    rows = [line for line in text.splitlines() if ", pid " in line]
    check(len(rows) == len(report["rows"]), f"{len(rows)} rows of {len(report['rows'])}")

    samples = report["samples"]["recorded"]
    text = client.call("functions", source="more.pkbpf")
    check(number(text, r"^cpu: ([\d,]+) samples") == samples, f"{samples} samples: {text.splitlines()[1]}")
    selves = [number(line, r"self ([\d,]+) samples?") for page in client.pages("functions", source="more.pkbpf") for line in page.splitlines()[2:]]
    total = sum(s for s in selves if s is not None)
    check(total == samples, f"functions have {total} of {samples} samples in themselves")
    text = client.call("function", source="more.pkbpf", name="compute")
    share = number(text, r"^cpu of compute \(steps\.py\).*?: total .*? \(([\d.]+)%\) of all")
    check(share is not None and share > 50, f"compute() has {share} % of the samples")
    check("called by <module> (steps.py)" in text, "it is called by the module")
    slept = sum(r["offcpu"]["sleep_ns"] for r in report["rows"]) / 1e9
    text = client.call("function", source="more.pkbpf", name="rest")
    rest = re.search(r"^offcpu of rest .*?: total ([\d.]+) (ms|s) ", text, re.MULTILINE)
    seconds = float(rest[1]) / (1000 if rest[2] == "ms" else 1)
    done = int(open("more.done").read())
    check(seconds >= done // 10 * 0.01 * 0.98, f"rest() waits {seconds} s in {done // 10} sleeps of 10 ms, of {slept:.3f} s")
    check("ends in [sleep]" in text, "it sleeps")

    text = client.call("regions", source="more.pkbpf")
    check(number(text, r"^step: ([\d,]+) times") == done, f"{done} steps: {text.splitlines()[1]}")
    check("slow: step in python3" in text, "slow ones have lines of their own")
    text = client.call("diff", source="more.pkbpf", base="base.pkbpf")
    check("base  base.pkbpf" in text and "new   more.pkbpf" in text, text.splitlines()[0])
    cut = client.call("findings", source="more.pkbpf", to="1s")
    check(cut.splitlines()[0] != client.call("findings", source="more.pkbpf").splitlines()[0], f"a range: {cut.splitlines()[0]}")

    for tool, given, complaint in (("findings", {"source": "x"}, "no source 'x'"), ("series", {}, "is a recording"), ("diff", {"base": "hour"}, "no recording 'hour'"),
                                   ("findings", {"from_": "yesterday"}, "yesterday"), ("function", {"name": "no_such_function"}, "no function of this source"),
                                   ("findings", {"comm": "nobody"}, "nobody"), ("findings", {"pid": "1"}, "'pid' has to be a number")):
        try:
            text = client.call(tool, **given)
        except RuntimeError as error:
            text = str(error)
        check(complaint in text, f"{tool} {given}: {text.splitlines()[0][:120]}")
    check(client.close() == 0, "ends with its input")
    small = Client(pkbpf, "--answer-tokens", 1000, "more.pkbpf")
    pages = small.pages("functions")
    check(len(pages) > 1 and max(len(p.encode()) for p in pages) <= 3000, f"a smaller bound: {len(pages)} pages")
    check(small.close() == 0, "ends with its input")


def messages():
    client = Client(pkbpf, "base.pkbpf")
    for line, code in ((b"nonsense\n", -32700), (b"[]\n", -32600), (b'{"jsonrpc":"2.0","id":1,"method":"rm"}\n', -32601),
                       (b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n', -32602), (b"\xff\xfe{}\n", -32700), (b"[" * 100000 + b"\n", -32700),
                       (b"x" * (20 << 20) + b"\n", -32600)):
        client.write(line)
        answer = client.receive()
        check(answer.get("error", {}).get("code") == code, f"{line[:30]}: {answer}"[:200])
    answer = client.ask("tools/call", name="function", arguments={"name": "x" * (10 << 20)})
    check(answer["error"]["code"] == -32602, f"10 MB of arguments: {answer['error']['message']}")
    client.send({"jsonrpc": "2.0", "method": "notifications/nothing"})
    client.write(b"\n\n")
    check("result" in client.ask("ping"), "after all of it, there is an answer")
    check(client.close() == 0, "ends with its input")
    # All that was sent is answered, also without a line's end.
    said = subprocess.run([pkbpf, "mcp", "base.pkbpf"], input=b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n{"jsonrpc":"2.0","id":2,"method":"ping"}', capture_output=True)
    check(said.stdout.count(b'"result"') == 2 and not said.stderr, f"two answers: {said.stdout}")
    closed = subprocess.Popen([pkbpf, "mcp", "base.pkbpf"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    closed.stdout.close()
    closed.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n' * 3)
    closed.stdin.close()
    check(closed.wait() == 0 and closed.stderr.read() == b"", "a client that is gone is no failure")


def history():
    busy = subprocess.Popen([sys.executable, "-c", "while True: sum(range(10000))"])
    try:
        windows = []
        while len(windows) < 4:
            time.sleep(0.5)
            said = subprocess.run([pkbpf, "query", "windows", "--store", "store", "-f", "json"], capture_output=True, text=True)
            windows = json.loads(said.stdout)["windows"] if said.returncode == 0 else []
    finally:
        busy.kill()
        busy.wait()
    client = Client(pkbpf, "store", os.path.abspath("socket"))
    text = client.call("sources")
    check("store: history of pkbpf serve;" in text and "asked over HTTP" in text, text)
    # A range that has ended is the same for both.
    stamp = lambda seconds: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
    span = {"from_": stamp(int(windows[0][0]) + 1), "to": stamp(int(windows[3][0]))}
    both = [client.call("functions", source=source, **span) for source in ("store", os.path.abspath("socket"))]
    check(both[0] == both[1] and "samples" in both[0], f"the same functions in both: {both[0].splitlines()[1]} | {both[1].splitlines()[1]}")
    for source in "store", os.path.abspath("socket"):
        check("recorded: cpu" in client.call("findings", source=source, **span), f"{source}: findings")
        text = client.call("series", source=source, figure="cpu.share", **span)
        check(re.search(r"^python3\S*: least ", text, re.MULTILINE), f"{source}: python3 in {text.splitlines()[0]}")
        text = client.call("machine", source=source, **span)
        check("kernel Linux" in text, f"{source}: the machine")
        try:
            text = client.call("findings", source=source, from_="1990-01-01T00:00:00Z", to="1990-01-02T00:00:00Z")
        except RuntimeError as error:
            text = str(error)
        check("no history" in text, f"{source}: long ago: {text}")
    check(client.close() == 0, "ends with its input")


def profile():
    program = subprocess.Popen([sys.executable, "-c", "def spin():\n  while True: sum(range(10000))\nspin()"])
    try:
        client = Client(pkbpf, "--allow-profile", "base.pkbpf")
        text = client.call("profile", pid=program.pid, seconds=3)
        check("new source 'profile-1'" in text, text.splitlines()[0])
        text = client.call("function", source="profile-1", name="spin")
        share = number(text, r"^cpu of spin.*?\(([\d.]+)%\) of all")
        check(share is not None and share > 90, f"spin() has {share} % of its samples")
        folders = [os.path.dirname(path) for path in glob.glob("/tmp/pkbpf-mcp-*/profile-1.pkbpf")]
        check(folders and all(os.stat(f).st_mode & 0o77 == 0 for f in folders), f"recordings are for their owner alone: {folders}")
        cancelled = client.request("tools/call", name="profile", arguments={"pid": program.pid, "seconds": 300})
        time.sleep(1)
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": cancelled}})
        check("result" in client.ask("ping"), "a cancelled profile has no answer, and ends")
        check("profile-2" not in client.call("sources"), "it is no source")
        try:
            text = client.call("profile", pid=4194303, seconds=1)
        except RuntimeError as error:
            text = str(error)
        check("4194303" in text, f"no such process: {text}")
        check(client.close() == 0, "ends with its input")
        check(not any(map(os.path.exists, folders)), "its recordings are gone")
    finally:
        program.kill()
        program.wait()


{"recordings": recordings, "messages": messages, "history": history, "profile": profile}[what]()
