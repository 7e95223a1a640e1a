# SPDX-License-Identifier: BSD-2-Clause
"""A client of `pkbpf mcp`: requests in the current revision, or after `initialize` in an earlier one."""
import json
import subprocess

MODERN = "2026-07-28"


class Client:
    def __init__(self, pkbpf, *arguments, version=MODERN):
        self.process = subprocess.Popen([pkbpf, "mcp", *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.version, self.asked, self.calls = version, 0, 0
        if version != MODERN:
            self.greeting = self.ask("initialize", protocolVersion=version, capabilities={}, clientInfo={"name": "test", "version": "1"})
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.write(json.dumps(message).encode() + b"\n")

    def write(self, line):
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def receive(self):
        line = self.process.stdout.readline()
        if not line:
            raise EOFError(f"pkbpf mcp ended with status {self.process.wait()}")
        return json.loads(line)

    def request(self, method, **params):
        """Sends it, and returns its id."""
        self.asked += 1
        if self.version == MODERN:
            params["_meta"] = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
        self.send({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params})
        return self.asked

    def ask(self, method, **params):
        number = self.request(method, **params)
        answer = self.receive()
        if answer.get("id") != number:
            raise ValueError(f"the answer to {number} is {answer}")
        return answer

    def call(self, tool, **arguments):
        """The text; raises what the tool complains of."""
        # `from` is a word of Python.
        arguments = {name.rstrip("_"): value for name, value in arguments.items()}
        self.calls += 1
        answer = self.ask("tools/call", name=tool, arguments=arguments)
        if "error" in answer:
            raise ValueError(answer["error"]["message"])
        text = answer["result"]["content"][0]["text"]
        if answer["result"]["isError"]:
            raise RuntimeError(text)
        return text

    def pages(self, tool, **arguments):
        """All of its pages."""
        offset, pages = 0, []
        while offset is not None:
            text = self.call(tool, offset=offset, **arguments)
            pages.append(text)
            more = [line for line in text.splitlines() if line.startswith("more: ")]
            offset = int(more[0].rsplit("=", 1)[1]) if more else None
        return pages

    def close(self):
        """Its exit status."""
        self.process.stdin.close()
        rest = self.process.stdout.read()
        if rest:
            raise ValueError(f"more than was asked for: {rest[:200]}")
        return self.process.wait()
