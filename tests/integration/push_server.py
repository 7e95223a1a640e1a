#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Stands in for Pyroscope and an OTLP receiver: checks what comes, refuses the first of each kind, keeps the rest.

    push_server.py FOLDER    writes its port to FOLDER/port, and a line for each request to FOLDER/requests
"""
import base64
import gzip
import http.server
import json
import os
import sys

import otlp_shape

folder = sys.argv[1]
refused = set()


def check_pyroscope(body):
    """Names of series and the number of profiles, as push.v1 has them."""
    names = []
    for series in body["series"]:
        labels = {label["name"]: label["value"] for label in series["labels"]}
        assert set(labels) == {"__name__", "service_name", "host"}, labels
        for sample in series["samples"]:
            profile = gzip.decompress(base64.b64decode(sample["rawProfile"], validate=True))
            assert profile
            names.append(f'{labels["__name__"]}/{labels["service_name"]}')
            with open(f'{folder}/{labels["service_name"].replace("/", "_")}.pb.gz', "wb") as file:
                file.write(base64.b64decode(sample["rawProfile"]))
    return " ".join(names)


def check_otlp(body):
    """Names of metrics."""
    (resource,) = body["resourceMetrics"]
    attributes = {a["key"]: a["value"]["stringValue"] for a in resource["resource"]["attributes"]}
    assert attributes["service.name"] == "pkbpf", attributes
    names = []
    for metric in resource["scopeMetrics"][0]["metrics"]:
        points = (metric.get("sum") or metric["gauge"])["dataPoints"]
        for point in points:
            assert int(point["timeUnixNano"]) > 0 and isinstance(point["asDouble"], (int, float))
        if "sum" in metric:
            assert metric["sum"]["aggregationTemporality"] == 2 and metric["sum"]["isMonotonic"]
        names.append(metric["name"])
    return " ".join(names)


def check_otlp_profiles(body):
    """Functions of CPU samples with their times, after following every index."""
    tables = body["dictionary"]
    strings = tables["stringTable"]
    assert strings[0] == "" and not tables["mappingTable"][0] and not tables["stackTable"][0]
    times = {}
    for resource in body["resourceProfiles"]:
        assert any(a["key"] == "host.name" for a in resource["resource"]["attributes"])
        for profile in resource["scopeProfiles"][0]["profiles"]:
            assert len(profile["profileId"]) == 32 and int(profile["timeUnixNano"]) > 0 and int(profile["durationNano"]) > 0
            kind, unit = (strings[profile["sampleType"].get(key, 0)] for key in ("typeStrindex", "unitStrindex"))
            assert (kind, unit) == ("cpu", "nanoseconds"), (kind, unit)
            for sample in profile["samples"]:
                keys = [strings[tables["attributeTable"][i]["keyStrindex"]] for i in sample["attributeIndices"]]
                assert keys[0] == "thread.name" and "process.pid" in keys[:2] + ["process.pid"], keys
                names = set()
                for index in tables["stackTable"][sample.get("stackIndex", 0)].get("locationIndices", []):
                    location = tables["locationTable"][index]
                    assert location.get("mappingIndex", 0) < len(tables["mappingTable"])
                    names |= {strings[tables["functionTable"][line.get("functionIndex", 0)].get("nameStrindex", 0)] for line in location.get("lines", [])}
                for name in names:
                    times[name] = times.get(name, 0) + int(sample["values"][0])
    return " ".join(f"{name.replace(' ', '_')}={time}" for name, time in sorted(times.items()))


REQUESTS = {"/v1/metrics": "MetricsRequest", "/v1development/profiles": "ProfilesRequest"}
CHECKS = {"/v1development/profiles": check_otlp_profiles, "/push.v1.PusherService/Push": check_pyroscope, "/v1/metrics": check_otlp}


class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, status, text=b"{}"):
        self.send_response(status)
        if status == 503:
            self.send_header("Retry-After", "1")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        path, _, of_protobuf = self.path.partition("?")
        check = CHECKS.get(path)
        wanted = "application/x-protobuf" if of_protobuf else "application/json"
        if not check or self.headers["Content-Type"] != wanted:
            return self.answer(404)
        encoding = self.headers.get("Content-Encoding", "plain")
        # Profiles are taken as they are only.
        if encoding == "gzip" and path == "/v1development/profiles":
            return self.answer(415)
        if encoding == "gzip":
            body = gzip.decompress(body)
        if self.path not in refused:
            refused.add(self.path)
            return self.answer(503, b"not yet")
        try:
            request = otlp_shape.decode(REQUESTS[path], body) if of_protobuf else json.loads(body)
            line = f'{self.path} {self.headers.get("X-Scope-OrgID")} {check(request)} {encoding}'
        except (AssertionError, IndexError, KeyError, ValueError) as error:
            line = f"{self.path} wrong: {error!r}"
        with open(f"{folder}/requests", "a") as file:
            file.write(line + "\n")
        return self.answer(200)

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(f"{folder}/port.new", "w") as file:
    file.write(str(server.server_port))
os.rename(f"{folder}/port.new", f"{folder}/port")
server.serve_forever()
