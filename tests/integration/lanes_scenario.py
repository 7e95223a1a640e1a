# SPDX-License-Identifier: BSD-2-Clause
"""A program that says what it does and when: lines of TID UNIX_NS KIND, or cpu TID BEGIN_UNIX_NS END_UNIX_NS CPU_NS, or woken TID UNIX_NS WAKER.

Its moments lie amid what takes long, so that no clock has to agree with another to the millisecond."""
import ctypes
import os
import threading
import time

LONG = 0.12
own = threading.get_native_id


def amid(kind, begin_ns):
    print(own(), begin_ns + int(LONG * 1e9 / 2), kind)


def name_thread(name):
    ctypes.CDLL(None).prctl(15, name, 0, 0, 0)


def sleeps():
    name_thread(b"<b>&\"sleeps")
    begin = time.time_ns()
    time.sleep(LONG)
    amid("sleep", begin)


def computes():
    name_thread(b"computes")
    begin, cpu = time.time_ns(), time.thread_time_ns()
    while time.thread_time_ns() - cpu < LONG * 1e9:
        pass
    print("cpu", own(), begin, time.time_ns(), time.thread_time_ns() - cpu)


def reads_pipe():
    name_thread(b"reads")
    reader, writer = os.pipe()
    written = []

    def write():
        name_thread(b"writes")
        time.sleep(LONG)
        written.append(own())
        os.write(writer, b"x")

    other = threading.Thread(target=write)
    begin = time.time_ns()
    other.start()
    os.read(reader, 1)
    amid("peer", begin)
    other.join()
    print("woken", own(), begin + int(LONG * 1e9 / 2), written[0])


def waits_for_lock():
    name_thread(b"locks")
    lock = threading.Lock()
    lock.acquire()
    threading.Timer(LONG, lock.release).start()
    begin = time.time_ns()
    lock.acquire()
    amid("another thread", begin)


for act in (sleeps, computes, reads_pipe, waits_for_lock):
    thread = threading.Thread(target=act)
    thread.start()
    thread.join()
