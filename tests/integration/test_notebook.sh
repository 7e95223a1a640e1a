#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# Tables of CSV as pandas loads them in one line, and the notebook of the examples as nbclient executes it.
# usage: test_notebook.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
evidence=(said)

# The distribution's own: what is installed beside another interpreter is not seen by it.
python=/usr/bin/python3
"$python" -c 'import pandas, nbclient, ipykernel' 2>said || skip "$python has no pandas, nbclient or ipykernel: $(tail -n 1 said)"
examples=$here/../../user/manual/examples
export PYTHONPATH=$here/../../include/python PKBPF=$pkbpf PYTHONDONTWRITEBYTECODE=1 HOME=$work

begin "recordings with something in each table"
record -e cpu,offcpu,memory,network,alloc,live --frequency 999 --regions --lines -o app.pkbpf -- \
	"$python" "$examples/training_step.py" 2000 20
record -e cpu,network -o peers.pkbpf -- "$python" -c '
import socket, threading
listener = socket.create_server(("127.0.0.1", 0))
def serve():
    with listener.accept()[0] as other:
        while data := other.recv(100):
            other.sendall(data)
thread = threading.Thread(target=serve)
thread.start()
with socket.create_connection(listener.getsockname()) as client:
    for _ in range(200):
        client.sendall(b"x" * 100)
        client.recv(100)
thread.join()'
"$pkbpf" -q --alloc -e cpu,alloc,live -o heap.pkbpf -- "$python" -c 'kept = [bytearray(1 << 20) for _ in range(20)]' >said 2>&1 || fail "$(cat said)"
"$pkbpf" -q --python-lines -e cpu -o calls.pkbpf -- "$python" -c 'import json
for _ in range(50): json.dumps({"a": [1, 2, 3]}, indent=1)' >said 2>&1 || fail "$(cat said)"

begin "pandas loads each table in one line"
for pair in app.csv app.functions.csv app.lines.csv app.regions.csv peers.peers.csv heap.allocations.csv calls.python-calls.csv calls.python-lines.csv; do
	"$pkbpf" report -q "${pair%%.*}.pkbpf" -o "$pair" >said 2>&1 || fail "$pair: $(cat said)"
done
cat >tables.py <<'END'
import re, sys
import pandas
from checks import check
for name in sys.argv[1:]:
    table = pandas.read_csv(name)
    check(len(table) > 0, f"{name}: {len(table)} rows of {len(table.columns)} columns")
    check(table.columns.is_unique and not [column for column in table.columns if column.startswith("Unnamed")], f"{name}: each column has a name")
    numbers = [column for column in table.columns if re.search(r"_(ns|bytes|percent|count|samples)$|^(pid|count|calls|line)$", column)]
    wrong = [column for column in numbers if not pandas.api.types.is_numeric_dtype(table[column])]
    check(numbers and not wrong, f"{name}: {len(numbers)} columns are numbers, wrong: {wrong}")
regions = pandas.read_csv("app.regions.csv")
means = regions.groupby("region").wall_ns.sum() / regions.groupby("region")["count"].sum()
check((means > 0).all(), f"a mean of each region: {means.round().to_dict()}")
check((regions.rss_max_bytes >= regions.rss_mean_bytes).all(), "resident memory of regions")
END
PYTHONPATH=$here "$python" tables.py app.csv app.functions.csv app.lines.csv app.regions.csv peers.peers.csv heap.allocations.csv \
	calls.python-calls.csv calls.python-lines.csv || fail "a table is not as it should be"

begin "nbclient executes the notebook of the examples"
cat >execute.py <<'END'
import sys
import nbclient, nbformat
notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
text = "".join(output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", []))
shown = [output.data for cell in notebook.cells for output in cell.get("outputs", []) if "data" in output]
print(text)
print(len(shown), "pictures,", sum("text/html" in data for data in shown), "as HTML")
END
RECORDING=$work/app.pkbpf timeout 200 "$python" execute.py "$examples/analysis.ipynb" >said 2>&1 || fail "$(tail -n 5 said)"
for expected in '^  compute ' '^step ' 'training_step.py:[0-9]' '^python.* MiB' '^1 pictures, 1 as HTML'; do
	grep -q "$expected" said || fail "no line of $expected: $(cat said)"
done
conclude
