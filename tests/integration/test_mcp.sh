#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Programs that ask by the Model Context Protocol: recordings, a history, a server and a new profile give the same figures as reports, in bounded answers.
# usage: test_mcp.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
evidence=(said)

server=
cleanup() {
	[ -n "$server" ] && kill "$server" 2>/dev/null && wait "$server" 2>/dev/null
}

begin "recordings"
cat >steps.py <<-'END'
	import sys, time
	sys.path.insert(0, sys.argv[1])
	import pkbpf

	def compute(n):
	    total = 0
	    for i in range(n):
	        total += i * i
	    return total

	def rest():
	    time.sleep(0.01)

	began = time.process_time()
	done = 0
	# By its own CPU time: a machine that is taken away in between changes nothing.
	while time.process_time() - began < float(sys.argv[2]):
	    with pkbpf.region("step"):
	        compute(20000)
	        done += 1
	        if done % 10 == 0:
	            rest()
	print(done)
END
python=$(type -P /usr/bin/python3 || type -P python3)
run() { "$pkbpf" -q -F 499 --regions --slow-region 5ms -o "$1.pkbpf" -o "$1.json" -- "$python" steps.py "$here/../../include/pkbpf" "$2" >"$1.done" 2>said || give_up "$1: status $?"; }
run base 0.5
run more 1.5

begin "tools on recordings"
checker "$here/mcp_check.py" recordings "$pkbpf" "$work"

begin "messages that are none"
checker "$here/mcp_check.py" messages "$pkbpf" "$work"

begin "what cannot be a source"
for wrong in nothing.pkbpf /dev/null/x "$work/bin" http://127.0.0.1:7747/path; do
	mkdir -p bin
	"$pkbpf" mcp "$wrong" </dev/null >out 2>said && fail "$wrong is accepted"
	[ -s out ] && fail "$wrong: something is said to the client: $(head -c 200 out)"
	[ "$(wc -l <said)" = 1 ] || fail "$wrong: $(cat said)"
done
"$pkbpf" mcp --answer-tokens 10 base.pkbpf </dev/null >out 2>said
[ $? = 2 ] || fail "a bound that holds no answer is accepted"

begin "a history, and the server that writes it"
mkdir store
"$pkbpf" serve -q --store store --listen "$work/socket" --interval 1s >serve.log 2>&1 &
server=$!
checker "$here/mcp_check.py" history "$pkbpf" "$work"

begin "a new profile, and one that is cancelled"
checker "$here/mcp_check.py" profile "$pkbpf" "$work"
conclude
