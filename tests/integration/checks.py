# SPDX-License-Identifier: BSD-2-Clause
"""What the Python parts of the integration tests share: outcomes, and the JSON report.

A check says what it has looked at. The process ends with `status` when one did not hold; nobody has to ask at the end.
"""
import atexit
import json
import os
import sys

failures = 0
status = 1


def check(holds, what):
    global failures
    print(("ok: " if holds else "FAILED: ") + what)
    failures += not holds


def fail(what):
    check(False, what)
    sys.exit(status)


def not_checked(why):
    """tools/test counts it as skipped, and tells it at its end."""
    print("NOT CHECKED: " + why)


def close(value, true, percent, slack=0):
    return abs(value - true) <= true * percent / 100 + slack


def read_report(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def counters(report):
    """name -> count; those that are 0 are not in a report."""
    return {counter["name"]: counter["count"] for counter in report.get("counters", [])}


@atexit.register
def end():
    if failures:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
