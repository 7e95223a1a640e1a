# SPDX-License-Identifier: BSD-2-Clause
"""Prints code objects of the standard library with the line of each of their instructions, as the
interpreter itself says: minor version, first line, table in hex, lines in units of two bytes
(run-length: count:line, 0 none)."""
import dis
import importlib
import sys
import types

MODULES = """argparse ast asyncio.base_events base64 bdb calendar cmd codecs collections configparser csv
ctypes datetime decimal difflib dis email.message enum fractions functools glob gzip heapq html.parser
http.client inspect io json.decoder logging mailbox mimetypes multiprocessing.pool optparse os pathlib
pdb pickle pickletools platform plistlib pprint pydoc random re sched shutil smtplib socket sqlite3
statistics string subprocess tarfile tempfile textwrap threading tokenize traceback typing unittest.mock
urllib.request uuid xml.dom.minidom zipfile _pydecimal turtle""".split()


def codes_of(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_of(constant)


def lines_of(code):
    if sys.version_info >= (3, 10):
        for start, end, line in code.co_lines():
            yield (end - start) // 2, line or 0
        return
    # A line number of co_lnotab holds up to the next one.
    starts = list(dis.findlinestarts(code))
    units = [code.co_firstlineno] * (len(code.co_code) // 2)
    for (start, line), (end, _) in zip(starts, starts[1:] + [(len(code.co_code), 0)]):
        units[start // 2:end // 2] = [line] * ((end - start) // 2)
    for line in units:
        yield 1, line


def main():
    for module in MODULES:
        try:
            spec = importlib.util.find_spec(module)
            code = spec.loader.get_code(module)
        except (ImportError, AttributeError):
            continue
        for each in codes_of(code):
            table = each.co_linetable if hasattr(each, "co_linetable") else each.co_lnotab
            runs = " ".join("%d:%d" % run for run in lines_of(each) if run[0])
            print(sys.version_info[1], each.co_firstlineno, table.hex() or "-", runs)


import importlib.util
main()
