#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The package of Python: installed by pip without a network, each example of its README, a process that profiles itself, a script.
# usage: test_python_package.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
evidence=(said)

package=$here/../../include/python
# A shim would become the interpreter unseen.
python=$(python3 -c 'import sys; print(sys.executable)')
export PKBPF=$pkbpf PYTHONDONTWRITEBYTECODE=1

begin "pip installs it from the tree and from what the program unpacks, without a network"
if "$python" -m pip --version >/dev/null 2>&1; then
	"$pkbpf" unpack pkbpf-python.zip
	for source in "$package" ./pkbpf-python.zip; do
		rm -rf site
		"$python" -m pip install --quiet --no-index --no-deps --disable-pip-version-check --target site "$source" \
			>said 2>&1 || fail "$source: $(tail -n 3 said)"
		PYTHONPATH=site "$python" -c 'import pkbpf; print(pkbpf.__version__, pkbpf.__file__)' >said 2>&1
		grep -q "^$("$pkbpf" --version | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p') $work/site/pkbpf/__init__.py" said || fail "$source: $(cat said)"
	done
else
	not_checked "$python has no pip"
fi
export PYTHONPATH=$package

begin "each example of the README runs"
awk -v RS='```' 'NR % 2 == 0 && sub(/^python\n/, "") { print > sprintf("example%02d.py", ++count) } END { print count }' "$package/README.md" >count
[ "$(cat count)" -ge 7 ] || fail "only $(cat count) examples"
for example in example*.py; do
	"$python" "$example" >said 2>&1 || fail "$example: $(tail -n 3 said)"
	cp said "$example.said"
done
[ -s x.html ] && [ -s x.cpu.svg ] || fail "nothing was saved: $(ls)"
grep -q 'cannot find the program /nowhere/pkbpf' ./*.said || fail "no error was raised"

begin "a process has its own figures while it runs"
cat >itself.py <<'END'
import threading, time
import pkbpf

def hot(end):
    while time.thread_time() < end:
        sum(i for i in range(1000))

def sleeps():
    for _ in range(20):
        with pkbpf.region("sleep", items=2):
            time.sleep(0.01)

hot(time.thread_time() + 0.3)  # is not in the profile
with pkbpf.profile(options=["-e", "cpu,offcpu"]) as p:
    thread = threading.Thread(target=sleeps)
    thread.start()
    began = time.monotonic_ns()
    with pkbpf.region("hot"):
        hot(time.thread_time() + 1)
    took = time.monotonic_ns() - began
    thread.join()
regions = {region["region"]: region for region in p.regions}
assert set(regions) == {"hot", "sleep"}, regions
assert regions["sleep"]["count"] == 20 and regions["sleep"]["items"] == 40, regions["sleep"]
assert regions["sleep"]["sleep_ns"] >= 150e6, regions["sleep"]
# What a host takes of a CPU is no CPU time, and the thread is on it.
assert 0.98e9 <= regions["hot"]["on_cpu_ns"] <= took, (regions["hot"], took)
functions = {row["function"].split(" ")[0]: row for row in p.functions if row["kind"] == "cpu"}
assert functions["hot"]["total_percent"] > 70, functions["hot"]
assert len(p.threads) >= 2 and max(thread["cpu.total_ns"] for thread in p.threads) > 0.9e9, p.threads
assert any(line["text"] == "sum(i for i in range(1000))" for line in p.lines), p.lines
assert "hot" in str(p) and "<iframe" in p._repr_html_()
assert p.report["rows"][0]["pid"] == __import__("os").getpid()
p.save("again.pkbpf")
END
"$python" itself.py >said 2>&1 || fail "$(tail -n 3 said)"
"$pkbpf" report -q again.pkbpf -f text >said 2>&1 || fail "the recording that it saves: $(cat said)"

begin "a user without rights is refused with a reason"
cat >refused.py <<'END'
import pkbpf
try:
    pkbpf.profile(duration=0.1)
except pkbpf.Error as error:
    print(error)
END
chmod 755 .
cp -r "$package/pkbpf" . && cp "$pkbpf" pkbpf-copy # the tree may be out of that user's reach
as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/ PKBPF="$work/pkbpf-copy" PYTHONPATH="$work" "$@"; }
reachable=$python
as_nobody "$python" -c '' 2>/dev/null || reachable=/usr/bin/python3
if as_nobody "$reachable" -c 'import pkbpf' 2>/dev/null; then
	as_nobody "$reachable" refused.py >said 2>&1
	grep -q 'status 5: pkbpf: ' said || fail "$(cat said)"
else
	not_checked "no interpreter that another user may run"
fi

begin "a script is a command, with its status and its regions"
cat >script.py <<'END'
import sys, pkbpf
for _ in range(3):
    with pkbpf.region("mine"):
        pass
sys.exit(int(sys.argv[1]))
END
"$python" -m pkbpf -q -o script.json -- script.py 7 >said 2>&1
status=$?
[ $status = 7 ] || fail "status $status: $(tail -n 3 said)"
checker - <<-'CHECK'
	import json
	from checks import check
	with open("script.json", encoding="utf-8") as file:
	    regions = json.load(file)["regions_by_name"]
	check([(region["name"], region["count"]) for region in regions] == [("mine", 3)], f"{regions}")
CHECK
"$python" -m pkbpf -o x.json script.py >said 2>&1
[ $? = 2 ] && grep -q 'end with --' said || fail "wrong usage: $(cat said)"

begin "a notebook goes through a recording"
record -e cpu,offcpu,memory --frequency 999 --regions --lines -o app.pkbpf -- "$python" "$here/../../user/manual/examples/training_step.py" 2000 20
cat >cells.py <<'END'
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    notebook = json.load(file)
assert notebook["nbformat"] == 4
names = {}
for cell in notebook["cells"]:
    if cell["cell_type"] == "code":
        exec("".join(cell["source"]), names)
assert names["p"]._repr_html_().startswith("<iframe")
END
RECORDING=app.pkbpf "$python" cells.py "$here/../../user/manual/examples/analysis.ipynb" >said 2>&1 || fail "$(tail -n 3 said)"
for expected in '^  compute ' '^step ' 'training_step.py:[0-9]' '^python.* MiB'; do
	grep -q "$expected" said || fail "no line of $expected: $(cat said)"
done

begin "a notebook profiles a cell"
if "$python" -c 'import IPython' 2>/dev/null; then
	cat >cell.ipy <<-'END'
		%load_ext pkbpf
		def work(): return sum(i * i for i in range(3000000))
		p = get_ipython().run_cell_magic("pkbpf", "-e cpu", "work()")
		assert any(row["function"].startswith("work ") for row in p.functions), p.functions
		assert _pkbpf is p
	END
	"$python" -m IPython --no-banner cell.ipy >said 2>&1 || fail "$(tail -n 3 said)"
else
	not_checked "$python has no IPython"
fi

conclude
