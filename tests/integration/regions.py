# SPDX-License-Identifier: BSD-2-Clause
"""Marks regions in every way that pkbpf.py has, and says what came out of it.

usage: regions.py FOLDER_OF_PKBPF_PY [SECONDS]
"""
import asyncio
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import pkbpf  # noqa: E402

LOAD = pkbpf.region("load", items=32)


@pkbpf.region("predict")
def predict(x):
    return x + 1


@pkbpf.region("answer")
async def answer(x):
    await asyncio.sleep(0.001)
    return x


def steps(count):
    done = 0
    for i in range(count):
        with pkbpf.region("step"):
            with LOAD:
                done += predict(i) - i
            try:
                with pkbpf.region("raises"):
                    raise KeyError(i)
            except KeyError:
                done += 1
            pkbpf.items(2)
    return done


async def requests(count):
    async def one(i):
        async with pkbpf.region("request"):
            return await answer(i)

    return sum(await asyncio.gather(*[one(i) for i in range(count)]))


def main():
    if len(sys.argv) > 2:
        print("ready", flush=True)
        end = time.monotonic() + float(sys.argv[2])
        while time.monotonic() < end:
            steps(1)
            time.sleep(0.001)
        return
    print("steps", steps(100))
    print("requests", asyncio.run(requests(50)))
    threads = [threading.Thread(target=steps, args=(50,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


main()
