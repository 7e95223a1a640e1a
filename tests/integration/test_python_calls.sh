#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Calls and lines of Python programs, to the call, against cProfile and sys.settrace; also of processes that are killed.
# PKBPF_PYTHONS: interpreters, separated by spaces; else python3 and Debian's own.
# usage: test_python_calls.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
evidence=(said)

subject=$here/python_calls_subject.py
# A shim would become the interpreter unseen. One each.
pythons=$(for python in ${PKBPF_PYTHONS:-python3 /usr/bin/python3}; do
	"$python" -c 'import sys; print(sys.executable) if (3, 8) <= sys.version_info < (3, 14) else None' 2>/dev/null
done | sort -u)
[ -n "$pythons" ] || skip "there is no CPython 3.8 to 3.13"
export PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1

count() { # PSTATS KEYWORD: calls of the functions of this name
	"$python" -c 'import pstats, sys; print(sum(row[1] for key, row in pstats.Stats(sys.argv[1]).stats.items() if key[2] == sys.argv[2]))' \
		"$1" "$2"
}

for python in $pythons; do
	begin "ten programs have as many calls as cProfile counts, by function and caller: $python"
	rm -f truth* ours.*
	"$python" "$subject" --cprofile truth 2>said || fail "$(tail -n 3 said)"
	record -e cpu --python-calls -o ours.pstats -o ours.pkbpf -o ours.python-calls.csv -o ours.json -- "$python" "$subject"
	"$python" "$here/python_calls_check.py" counts ours.pstats truth truth.[0-9] >said 2>&1 || fail "$(cat said)"

	begin "each line has as many hits as sys.settrace sees: $python"
	programs="recursion generators exceptions builtins lambdas comprehensions"
	# shellcheck disable=SC2086 # words
	"$python" "$subject" --lines lines.json $programs 2>said || fail "$(tail -n 3 said)"
	# shellcheck disable=SC2086
	record -e cpu --python-lines -o ours.python-lines.csv -- "$python" "$subject" $programs
	"$python" "$here/python_calls_check.py" lines ours.python-lines.csv lines.json "$subject" >said 2>&1 || fail "$(cat said)"
done

begin "a recording, JSON and CSV say the same"
"$pkbpf" report -q ours.pkbpf -o again.pstats -o again.python-calls.csv 2>said || fail "$(cat said)"
cmp ours.pstats again.pstats && cmp ours.python-calls.csv again.python-calls.csv || fail "the recording has others"
python3 - >said 2>&1 <<'END' || fail "$(cat said)"
import csv, json, pstats
stats = pstats.Stats("ours.pstats").stats
with open("ours.json", encoding="utf-8") as file:
    report = json.load(file)["python_calls"]
# The process itself and four of multiprocessing's.
assert report["processes"] == 5, report["processes"]
assert sum(row["calls"] for row in report["functions"]) == report["calls"] == sum(row[1] for row in stats.values())
with open("ours.python-calls.csv", newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
assert len(rows) == report["function_count"] == len(report["functions"])
assert {row["function"]: (int(row["calls"]), int(row["primitive_calls"])) for row in rows}["fib"] == \
    next((row["calls"], row["primitive_calls"]) for row in report["functions"] if row["function"] == "fib")
END
"$pkbpf" report -q ours.pkbpf -f text --full >out.txt 2>said || fail "$(cat said)"
grep -q '^Python calls' out.txt && grep -q 'calls are exact; times are sampled' out.txt || fail "$(cat out.txt)"

begin "times are those of samples: of two functions that are called as often, the longer one has most"
cat >uneven.py <<'END'
import time
def busy(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
def short():
    busy(0.001)
def long():
    busy(0.02)
for _ in range(20):
    short()
    long()
END
record -e cpu -F 999 --python-calls -o uneven.pstats -- "$python" uneven.py
"$python" - >said 2>&1 <<'END' || fail "$(cat said)"
import pstats
rows = {key[2]: row for key, row in pstats.Stats("uneven.pstats").stats.items()}
assert rows["short"][1] == rows["long"][1] == 20 and rows["busy"][1] == 40
assert rows["long"][3] > 5 * rows["short"][3], (rows["long"][:4], rows["short"][:4])
assert 0.2 < rows["long"][3] <= rows["busy"][3] + 0.1, rows
callers = {key[2]: row for key, row in rows["busy"][4].items()}
assert callers["long"][0] == callers["short"][0] == 20 and callers["long"][3] > callers["short"][3], callers
END

begin "what was counted is there after SIGKILL and os._exit, in children too"
cat >killed.py <<'END'
import os, signal, subprocess, sys
def counted():
    pass
for _ in range(1000):
    counted()
if len(sys.argv) < 2:
    subprocess.run([sys.executable, __file__, "exit"], check=True)
    if os.fork() == 0:
        for _ in range(10):
            counted()
        os.kill(os.getpid(), signal.SIGKILL)
    os.wait()
    os.kill(os.getpid(), signal.SIGKILL)
os._exit(0)
END
"$pkbpf" -q -e cpu --python-calls -o killed.pstats -- "$python" killed.py >said 2>&1
[ $? = 137 ] || fail "another status"
[ "$(count killed.pstats counted)" = 2010 ] || fail "$(count killed.pstats counted) calls: $(cat said)"

begin "functions beyond the limit are counted as lost"
cat >many.py <<'END'
calls = 0
for i in range(66000):
    space = {}
    exec(f"def f(): pass", space)
    space["f"]()
END
record -e cpu --python-calls -o many.json -- "$python" many.py
python3 - >said 2>&1 <<'END' || fail "$(cat said)"
import json
report = json.load(open("many.json"))["python_calls"]
# Each round: exec, the module's code, f.
assert report["lost_calls"] > 0 and report["calls"] + report["lost_calls"] >= 3 * 66000, report["lost_calls"]
assert report["calls"] + report["lost_calls"] < 3 * 66000 + 20000
END

begin "an audit hook of the program that refuses sees its own errors alone; later threads are said"
cat >hooked.py <<'END'
import sys, threading
def work():
    pass
first = threading.Thread(target=work)
first.start()
first.join()
def hook(event, arguments):
    if event == "sys.setprofile":
        raise RuntimeError("refused")
sys.addaudithook(hook)
for _ in range(3):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
print("through", file=open("through", "w"))
END
record -e cpu --python-calls -o hooked.json -o hooked.pstats -- "$python" hooked.py
[ -s through ] || fail "the program did not end: $(cat said)"
python3 -c 'import json; print(json.load(open("hooked.json"))["python_calls"]["uncounted_threads"])' >said 2>&1
[ "$(cat said) $(count hooked.pstats work)" = "3 1" ] || fail "$(cat said) uncounted, $(count hooked.pstats work) calls"

begin "what a program puts into the folder does no harm, and is said"
cat >hostile.py <<'END'
import os
folder = os.environ["PKBPF_PYTHON_CALLS"]
print(folder, file=open("folder", "w"))
os.mkfifo(f"{folder}/calls-1-0")
os.symlink("/etc/passwd", f"{folder}/calls-2-0")
open(f"{folder}/calls-3-0", "wb").write(b"x" * 10000)
open(f"{folder}/calls-4-0", "wb").write(b"PYCALLC1" + b"\xff" * 100)
own = [name for name in os.listdir(folder) if name.startswith(f"calls-{os.getpid()}-")]
data = bytearray(open(f"{folder}/{own[0]}", "rb").read(4096 + 4096))
data[20:36] = b"\xff" * 16  # as many rows as can be said
open(f"{folder}/calls-5-0", "wb").write(data)
END
record -e cpu --python-calls -o hostile.json -- "$python" hostile.py
python3 -c 'import json; report = json.load(open("hostile.json"))["python_calls"]; print(report["unreadable_processes"], report["processes"])' \
	>said 2>&1
[ "$(cat said)" = "4 2" ] || fail "$(cat said)"
[ -s folder ] && [ ! -e "$(cat folder)" ] || fail "$(cat folder) is left"

begin "it is refused with a reason where it cannot be"
"$pkbpf" --python-calls -p $$ 2>said && fail "--pid is taken"
grep -q 'requires a command: calls are counted inside the interpreter' said || fail "$(cat said)"
"$pkbpf" -e cpu --python-calls -o none.json -- true 2>said
grep -q 'no Python calls were counted' said || fail "$(cat said)"
conclude
