#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Bytes through pipes and waits for them by the process at the other end; connections of UNIX sockets and their errors.
# usage: test_network_pipes.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
python3 -c 'import os; os.splice' 2>/dev/null || skip "no python3 of 3.10 or later here"
grep -q sock_send_length /sys/kernel/btf/vmlinux || skip "this kernel has no tracepoint sock_send_length"

begin "pipes by their other ends, and connections of UNIX sockets"
record -e network -o report.json -o report.pkbpf -- python3 "$here/network_pipes.py" "$work"
checker "$here/network_pipes.py" "$work" report.json
"$pkbpf" report -q report.pkbpf -f text --full --top 30 >text 2>&1 || fail "pkbpf report: $(cat text)"
grep -q 'pipe of python' text || fail "people do not read of it: $(cat text)"

"$pkbpf" report -q report.pkbpf >page
grep -qF "; without 6.84 KiB that splice() received" page || fail "the page does not say what no row has: $(grep ^Network page)"

conclude
