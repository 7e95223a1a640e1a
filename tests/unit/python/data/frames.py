# SPDX-License-Identifier: BSD-2-Clause
"""A program whose frames are known: prints the address of a code object, its name, file and line for
each frame, innermost first, then "end", and waits to be looked at."""
import sys
import time


def report(frame, waits_at):
    while frame:
        code = frame.f_code
        print("%d\t%s\t%s\t%d\t%d" % (id(code), getattr(code, "co_qualname", code.co_name), code.co_filename,
                                     code.co_firstlineno, waits_at or frame.f_lineno))
        waits_at = 0
        frame = frame.f_back
    print("end", flush=True)


def generator(depth):
    yield callback(depth)


def callback(depth):
    if depth:
        return next(generator(depth - 1))
    report(sys._getframe(), sys._getframe().f_lineno + 1)
    return time.sleep(60)


class Grüße:
    def __lt__(self, other):
        return callback(3) or True

    def 日本語(self):
        return sorted([Grüße(), self])


def long_name(depth):
    names = {}
    exec(compile("def %s(f):\n\n  return f()\n" % ("ü" * 300), "/" + "d" * 300 + "/fü.py", "exec"), names)
    return names["ü" * 300](lambda: Grüße().日本語())


long_name(1)
