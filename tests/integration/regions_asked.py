# SPDX-License-Identifier: BSD-2-Clause
"""Collects garbage, imports a module and starts threads; with "asked", in regions and under their names.

usage: regions_asked.py FOLDER_OF_PKBPF_PY [asked]
"""
import gc
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import pkbpf  # noqa: E402


def work():
    end = time.thread_time() + 0.02
    while time.thread_time() < end:
        pass


def ask():
    pkbpf.gc_regions()
    pkbpf.import_regions()
    pkbpf.thread_names()


early_may_end = threading.Event()
early = threading.Thread(target=early_may_end.wait, name="early")
early.start()
for _ in range(2 if len(sys.argv) > 2 else 0):
    ask()  # twice is as once
gc.disable()
import wave  # noqa: E402, F401
for _ in range(7):
    gc.collect()
threads = [threading.Thread(target=work, name=name) for name in ("loader-1", "a-long-name-of-a-worker-12", "aaaaaaa\u00e4-cut-\u00e4bbbbb")]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
early_may_end.set()
early.join()
