# SPDX-License-Identifier: BSD-2-Clause
"""A server that answers requests, and the client that asks. Every tenth answer is not in the cache.

usage: web_request.py [REQUESTS]
"""
import http.client
import http.server
import os
import sys
import threading
import time

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, "../../../include/python"), "/usr/share/pkbpf"]
import pkbpf  # noqa: E402


@pkbpf.region("database")
def ask_database():
    time.sleep(0.02)
    return "row"


@pkbpf.region("render")
def render(row):
    return ("<p>%s</p>" % row).encode() * 100


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        with pkbpf.region("request"):
            row = ask_database() if self.path.endswith("0") else "cached"
            page = render(row)
            self.send_response(200)
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            with pkbpf.region("send"):
                self.wfile.write(page)

    def log_message(self, *arguments):
        pass


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    client = http.client.HTTPConnection(*server.server_address)
    for i in range(count):
        client.request("GET", "/%d" % i)
        client.getresponse().read()
    client.close()
    server.shutdown()


main()
