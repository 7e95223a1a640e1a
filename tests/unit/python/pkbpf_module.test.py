# SPDX-License-Identifier: BSD-2-Clause
"""Regions of pkbpf.py end as they began, whoever closes them. usage: pkbpf_module.test.py FOLDER_OF_PKBPF_PY"""
import asyncio
import contextlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv.pop(1))
import pkbpf  # noqa: E402

events = []
sys.addaudithook(lambda event, arguments: events.append((event, arguments[0])) if event.startswith("pkbpf.") else None)


async def numbers():
    async with pkbpf.region("stream"):
        for i in range(3):
            yield i


def taken():
    """What happened, and whether each mark that was begun is done once."""
    happened, names = list(events), [(event[6:], text.split(b"\0")[0].decode()) for event, text in events]
    events.clear()
    begun = [id(mark) for event, mark in happened if event == "pkbpf.begin"]
    done = [id(mark) for event, mark in happened if event == "pkbpf.done"]
    return names, sorted(begun) == sorted(done)


class Regions(unittest.TestCase):
    def setUp(self):
        events.clear()

    def test_a_generator_may_be_closed_by_another_task(self):
        async def run():
            generator = numbers()
            await asyncio.create_task(first(generator))
            async with pkbpf.region("other"):
                await generator.aclose()

        async def first(generator):
            return await generator.__anext__()

        asyncio.run(run())
        self.assertEqual(taken(), ([("begin", "stream"), ("begin", "other"), ("done", "stream"), ("done", "other")], True))

    def test_a_generator_may_be_left_to_the_end_of_the_loop(self):
        async def run():
            self.generator = numbers()
            await self.generator.__anext__()

        asyncio.run(run())
        self.assertEqual(taken(), ([("begin", "stream"), ("done", "stream")], True))

    def test_a_generator_is_a_region_from_its_first_value_to_its_end(self):
        @pkbpf.region("echo")
        def echo():
            heard = None
            while heard != "end":
                try:
                    heard = yield heard
                except ValueError:
                    heard = "caught"
            return "result"

        left, generator = echo(), echo()
        self.assertEqual(taken(), ([], True))
        next(left), next(generator)
        self.assertEqual((generator.send("one"), generator.throw(ValueError)), ("one", "caught"))
        left.close()
        with self.assertRaises(StopIteration) as end:
            generator.send("end")
        self.assertEqual(end.exception.value, "result")
        self.assertEqual(taken(), ([("begin", "echo"), ("begin", "echo"), ("done", "echo"), ("done", "echo")], True))

    def test_an_asynchronous_generator_is_a_region_and_hears_what_is_sent(self):
        closed = []

        @pkbpf.region("echo")
        async def echo():
            heard = None
            try:
                while heard != "end":
                    try:
                        heard = yield heard
                    except ValueError:
                        heard = "caught"
            finally:
                closed.append(heard)

        async def run():
            generator, left = echo(), echo()
            await generator.__anext__()
            await left.__anext__()
            self.assertEqual(await generator.asend("one"), "one")
            self.assertEqual(await generator.athrow(ValueError("x")), "caught")
            with self.assertRaises(StopAsyncIteration):
                await generator.asend("end")
            await left.aclose()
            self.assertEqual([value async for value in numbers()], [0, 1, 2])

        asyncio.run(run())
        self.assertEqual(closed, ["end", None])
        begun, is_whole = taken()
        self.assertEqual((begun.count(("begin", "echo")), begun.count(("done", "echo")), is_whole), (2, 2, True))

    def test_tasks_of_one_region_end_their_own(self):
        async def work(pause):
            async with pkbpf.region("work"):
                mark = events[-1][1]
                await asyncio.sleep(pause)
            self.assertIs(events[-1][1], mark)

        async def run():
            await asyncio.gather(work(.03), work(.01), work(.02))

        asyncio.run(run())
        self.assertTrue(taken()[1])

    def test_an_exit_stack_ends_what_it_entered(self):
        async def run():
            async with contextlib.AsyncExitStack() as stack:
                await stack.enter_async_context(pkbpf.region("outer"))
                await stack.enter_async_context(pkbpf.region("inner"))

        asyncio.run(run())
        self.assertEqual(taken(), ([("begin", "outer"), ("begin", "inner"), ("done", "inner"), ("done", "outer")], True))

    def test_nothing_is_kept_of_what_has_ended(self):
        async def run():
            for _ in range(3):
                async for _ in numbers():
                    pass

        asyncio.run(run())
        self.assertEqual(pkbpf.region("stream")._marks, {})

    def test_an_exception_under_way_goes_on(self):
        async def run():
            async with pkbpf.region("fails"):
                raise KeyError("x")

        with self.assertRaises(KeyError):
            asyncio.run(run())
        self.assertEqual(taken(), ([("begin", "fails"), ("done", "fails")], True))

    def test_names_are_cut_between_characters(self):
        for name in ("x" * 62 + "é", "é" * 40, "x" * 61 + "😀"):
            with pkbpf.region(name):
                pass
            text = events[0][1].split(b"\0")[0]
            self.assertLessEqual(len(text), 63)
            self.assertTrue(name.startswith(text.decode()))
            self.assertGreaterEqual(len(text), 60)
            events.clear()


unittest.main()
