#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# JavaScript functions of Node without any flag: each stack has the chain of functions and lines that V8's own stack traces
# have, in the interpreter, in baseline and in optimized code. Functions that die while others take their memory keep their
# names, and waits have the time that the program measures.
# PKBPF_NODES: other programs, separated by colons. PKBPF_SECONDS: how long for each.
. "$(dirname "$0")/prelude.sh"

IFS=: read -ra nodes <<<"${PKBPF_NODES:-$(command -v node)}"
[ -n "${nodes[0]:-}" ] || skip "needs node"
[ "$(uname -m)" = x86_64 ] || skip "JavaScript functions are known on x86-64"

# One stack of about 20,000 had the name of another function, for a reason that is not known.
dying=('_\[' '\[unknown\]' 10 1)
for node in "${nodes[@]}"; do
	version=$("$node" --version)
	case $version in
	v18.* | v20.* | v22.* | v24.*) ;;
	*) not_checked "Node $version: its layout is not known" && continue ;;
	esac
	begin "Node $version: known chains"
	record -e cpu -F 999 --lines -o stacks.folded --full -o stacks.txt -- "$node" "$here/workload/node_scenarios.js" \
		"${PKBPF_SECONDS:-3}" chains.json &&
		checker "$here/node_scenarios_check.py" stacks.folded chains.json
	# Stubs and functions of V8 itself count as proven, too.
	checker - stacks.txt <<-'P'
		import re
		import sys

		import checks

		text = open(sys.argv[1]).read()
		line = re.search(r"stacks:\s+([0-9.]+)% of user stacks complete", text)
		checks.check(line and float(line[1]) >= 95, f"stacks with unverified frames: {line and line[0]}")
		print(f"  {line and line[0]}")
		checks.end()
	P
	begin "Node $version: functions that die"
	record -e cpu -F 999 -o dying.folded -- "$node" "$here/workload/node_dying.js" "${PKBPF_SECONDS:-3}" &&
		checker "$here/dying_check.py" dying.folded "${dying[@]}"
	begin "Node $version: functions that die while everything moves"
	record -e cpu -F 999 -o moving.folded -- "$node" --stress-compaction "$here/workload/node_dying.js" "${PKBPF_SECONDS:-3}" &&
		checker "$here/dying_check.py" moving.folded "${dying[@]}"
	begin "Node $version: waits"
	record -e offcpu -o waits.folded -- "$node" "$here/workload/node_waits.js" "${PKBPF_SECONDS:-2}" waits.json &&
		checker "$here/node_waits_check.py" waits.folded waits.json
done

conclude
