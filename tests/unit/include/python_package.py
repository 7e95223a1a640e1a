# SPDX-License-Identifier: BSD-2-Clause
"""Tests for include/python: what does not need the kernel. A script takes the place of pkbpf.

usage: python_package.py FOLDER_OF_THE_PACKAGE VERSION
"""
import asyncio
import importlib.util
import os
import pathlib
import sys
import tempfile
import tracemalloc
import types
import unittest
import unittest.mock
import zipfile

FOLDER, VERSION = sys.argv[1:3]
sys.dont_write_bytecode = True
sys.path.insert(0, FOLDER)
import pkbpf  # noqa: E402
from pkbpf.__main__ import words  # noqa: E402

# Says that it profiles, waits for SIGTERM, and writes what a report of that format may have.
PROGRAM = """#!/bin/sh
if [ "$1" = report ]; then
	while [ "$1" != -o ]; do shift; done
	case $2 in
	*.functions.csv) printf 'kind,function,self,self_percent\\r\\ncpu,f,3,42.857\\r\\ncpu,"g, h",,\\r\\n' ;;
	*.json) printf '{"findings": [{"text": "computes"}]}' ;;
	*.svg) printf '<svg>"&"</svg>' ;;
	*.txt) printf 'report of <f>\\n' ;;
	*.pdf) echo 'unknown suffix' >&2; exit 2 ;;
	esac >"$2"
	exit
fi
echo "$@" >"$FAKE_FOLDER/arguments"
[ -z "$FAKE_FAILS" ] || { echo "pkbpf: $FAKE_FAILS" >&2; exit 5; }
while [ "$1" != -o ]; do shift; done
trap 'echo recording >"$recording"; exit 0' TERM
recording=$2
echo "pkbpf: profiling since 1 ms after the start" >&2
case $* in *--duration*) echo recording >"$recording"; exit 0 ;; esac
while :; do sleep 0.01; done
"""


class Profiles(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.program = os.path.join(self.folder.name, "pkbpf")
        with open(self.program, "w", encoding="ascii") as file:
            file.write(PROGRAM)
        os.chmod(self.program, 0o755)
        os.environ.update(FAKE_FOLDER=self.folder.name, FAKE_FAILS="", PKBPF=self.program)

    def tearDown(self):
        self.folder.cleanup()

    def arguments(self):
        return pathlib.Path(self.folder.name, "arguments").read_text(encoding="ascii").split()

    def test_block_has_its_figures(self):
        with pkbpf.profile(options=["-e", "cpu"]) as p:
            self.assertRaisesRegex(pkbpf.Error, "no profile yet", p.save, "x.json")
        self.assertIn(str(os.getpid()), self.arguments())
        self.assertIn("--regions", self.arguments())
        self.assertEqual(self.arguments()[-2:], ["-e", "cpu"])
        self.assertEqual(p.findings, [{"text": "computes"}])
        self.assertEqual(p.functions[0], {"kind": "cpu", "function": "f", "self": 3, "self_percent": 42.857})
        self.assertEqual(p.functions[1], {"kind": "cpu", "function": "g, h", "self": None, "self_percent": None})
        self.assertEqual(str(p), "report of <f>\n")

    def test_notebook_shows_graph_and_report_escaped(self):
        text = pkbpf.profile(duration=0.5)._repr_html_()
        self.assertIn('srcdoc="&lt;svg&gt;&quot;&amp;&quot;&lt;/svg&gt;"', text)
        self.assertIn("<pre>report of &lt;f&gt;", text)

    def test_duration_needs_no_block(self):
        p = pkbpf.profile(duration=0.5, regions=False)
        self.assertEqual(self.arguments()[-2:], ["--duration", "0.5"])
        self.assertNotIn("--regions", self.arguments())
        self.assertRaisesRegex(pkbpf.Error, "cannot write .*x.pdf: unknown suffix", p.save, f"{self.folder.name}/x.pdf")
        self.assertRaisesRegex(ValueError, "no table 'stacks'", p.to_pandas, "stacks")

    def test_recordings_are_profiles(self):
        path = os.path.join(self.folder.name, "app.pkbpf")
        self.assertRaisesRegex(pkbpf.Error, "cannot read .*app.pkbpf: no such file", pkbpf.load, path)
        pathlib.Path(path).touch()
        p = pkbpf.load(path)
        self.assertEqual(p.findings[0]["text"], "computes")
        del p
        self.assertTrue(os.path.exists(path))

    def test_folder_goes_with_the_profile(self):
        p = pkbpf.profile(duration=0.5)
        folder = p._folder
        self.assertTrue(os.path.exists(folder))
        del p
        self.assertFalse(os.path.exists(folder))

    def test_folder_stays_when_a_child_exits(self):
        code = (
            "import os, sys, pkbpf\np = pkbpf.profile(duration=0.5)\nchild = os.fork()\nif not child: sys.exit(0)\n"
            "os.waitpid(child, 0)\nsys.exit(0 if os.path.exists(p._folder) else 'the folder is gone')"
        )
        environment = {**os.environ, "PYTHONPATH": FOLDER, "PYTHONDONTWRITEBYTECODE": "1"}
        self.assertEqual(os.spawnve(os.P_WAIT, sys.executable, [sys.executable, "-c", code], environment), 0)

    def test_ctrl_c_while_it_starts_ends_the_profiler(self):
        p = pkbpf.profile()
        p._await_start = unittest.mock.Mock(side_effect=KeyboardInterrupt)
        self.assertRaises(KeyboardInterrupt, p.__enter__)
        p._process.wait(30)

    def test_ctrl_c_in_a_duration_ends_the_profiler(self):
        with unittest.mock.patch.object(pkbpf.Profile, "_finish", side_effect=KeyboardInterrupt):
            with unittest.mock.patch.object(pkbpf.Profile, "_stop") as stop:
                self.assertRaises(KeyboardInterrupt, pkbpf.profile, 3600)
        stop.assert_called_once_with()

    def test_an_error_of_the_profiler_hides_no_exception(self):
        for raised, seen in ((KeyError, KeyError), (None, pkbpf.Error)):
            with self.assertRaises(seen):
                with pkbpf.profile() as p:
                    p._process.kill()
                    if raised:
                        raise raised

    def test_names_are_no_numbers(self):
        rows = 'kind,function,self,self_percent\r\ncpu,nan,3,42.5\r\ncpu,1_000,-1,1e5\r\ncpu,7,0,\r\n'
        p = pkbpf.profile(duration=0.5)
        with unittest.mock.patch.object(pkbpf.Profile, "save", lambda self, path, *_: pathlib.Path(path).write_text(rows)):
            table = p.functions
        self.assertEqual([row["function"] for row in table], ["nan", "1_000", "7"])
        self.assertEqual([row["self"] for row in table], [3, -1, 0])
        self.assertEqual([row["self_percent"] for row in table], [42.5, "1e5", None])

    def test_errors_have_the_reason(self):
        os.environ["FAKE_FAILS"] = "cannot profile: needs root"
        with self.assertRaisesRegex(pkbpf.Error, "status 5: pkbpf: cannot profile: needs root"):
            with pkbpf.profile():
                self.fail("it is not profiled")
        os.environ["PKBPF"] = "/nowhere/pkbpf -x"
        self.assertRaisesRegex(pkbpf.Error, "cannot find the program /nowhere/pkbpf", pkbpf.profile)

    def test_an_exception_ends_the_profile(self):
        with self.assertRaises(KeyError):
            with pkbpf.profile() as p:
                raise KeyError
        self.assertEqual(p.findings[0]["text"], "computes")

    def test_magics_run_what_they_are_given(self):
        magics, shown = {}, {}
        shell = types.SimpleNamespace(
            register_magic_function=lambda function, magic_kind, magic_name: magics.update({magic_name: function}),
            run_cell=lambda code: exec(code, shown) or types.SimpleNamespace(error_in_exec=None, error_before_exec=None),
            push=shown.update,
        )
        pkbpf.load_ipython_extension(shell)
        p = magics["pkbpf"]("-e cpu", "a = 1")
        self.assertEqual(self.arguments()[-2:], ["-e", "cpu"])
        self.assertEqual((shown["a"], shown["_pkbpf"]), (1, p))
        magics["pkbpf"]("a = 2")
        self.assertEqual(shown["a"], 2)

    def test_scripts_are_commands(self):
        start = [self.program, "--regions"]
        self.assertEqual(words(["x.py", "-o", "a"]), [*start, "--", sys.executable, "x.py", "-o", "a"])
        self.assertEqual(words(["-o", "a", "--", "x.py", "--"]), [*start, "-o", "a", "--", sys.executable, "x.py", "--"])
        self.assertEqual(words(["-m", "json.tool"]), [*start, "--", sys.executable, "-m", "json.tool"])
        for wrong in ([], ["-o", "a", "x.py"], ["-q", "--"], ["-m"]):
            self.assertRaises(ValueError, words, wrong)


class Memory(unittest.TestCase):
    def test_growth_has_the_place(self):
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        before = pkbpf.snapshot()
        kept = [bytes(100_000) for _ in range(50)]
        growth = pkbpf.snapshot() - before
        place, size, blocks = growth.places[0]
        self.assertRegex(place, r"python_package\.py:\d+$")
        self.assertTrue(5_000_000 < size < 5_100_000 and blocks >= 50, growth)
        self.assertGreater(growth.heap_used or 5_000_000, 4_900_000)
        self.assertIn(place, str(growth))
        self.assertEqual(len(kept), 50)

    def test_figures_fit_each_other(self):
        now = pkbpf.snapshot()
        self.assertTrue(0 < now.private <= now.rss <= now.peak_rss, now)
        self.assertTrue(now.fragmentation is None or 0 <= now.fragmentation < 1, now)
        self.assertEqual((now - now).rss, 0)
        self.assertEqual((now - now).places, [])
        self.assertRaises(AttributeError, getattr, now - now, "nothing")


class Regions(unittest.TestCase):
    def test_functions_are_regions_by_themselves(self):
        @pkbpf.region
        def plain(x):
            return x

        @pkbpf.region
        def generator():
            yield 1

        @pkbpf.region
        async def coroutine():
            return 2

        self.assertEqual((plain(3), plain.__name__, list(generator()), asyncio.run(coroutine())), (3, "plain", [1], 2))
        self.assertIs(pkbpf.region("a"), pkbpf.region("a"))

    def test_marks_alone_load_nothing_else(self):
        code = "import pkbpf, sys; pkbpf.region('a'); sys.exit('pkbpf.profiling' in sys.modules)"
        self.assertEqual(os.spawnve(os.P_WAIT, sys.executable, [sys.executable, "-c", code], {"PYTHONPATH": FOLDER, "PYTHONDONTWRITEBYTECODE": "1"}), 0)

    def test_all_names_are_there(self):
        for name in pkbpf.__all__:
            self.assertTrue(callable(getattr(pkbpf, name)), name)
        self.assertRaises(AttributeError, getattr, pkbpf, "nothing")


class Wheel(unittest.TestCase):
    def test_wheel_has_the_package(self):
        spec = importlib.util.spec_from_file_location("build_wheel", os.path.join(FOLDER, "build_wheel.py"))
        backend = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(backend)
        self.assertEqual(pkbpf.__version__, VERSION)
        with tempfile.TemporaryDirectory() as folder:
            name = backend.build_wheel(folder)
            with zipfile.ZipFile(os.path.join(folder, name)) as wheel:
                names = wheel.namelist()
                record = wheel.read(names[-1]).decode()
            self.assertEqual(name, f"pkbpf-{VERSION}-py3-none-any.whl")
            self.assertLess({"pkbpf/__init__.py", "pkbpf/py.typed", "pkbpf/regions.py"}, set(names))
            self.assertEqual([line.split(",")[0] for line in record.splitlines()], names)


unittest.main(argv=sys.argv[:1])
