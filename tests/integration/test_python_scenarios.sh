#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Python functions come to run in many ways: each stack has the chain of functions and lines that the program knows. Those
# that die while others take their memory keep their names, and waits have the time that the program measures.
# Waits have the frames and lines that Python's own faulthandler says.
# PKBPF_PYTHONS: other interpreters, separated by colons. PKBPF_SECONDS: how long for each.
. "$(dirname "$0")/prelude.sh"

IFS=: read -ra pythons <<<"${PKBPF_PYTHONS:-$(python3 -c 'import sys; print(sys.executable)')}"
[ -n "${pythons[0]:-}" ] || skip "needs python3"

for python in "${pythons[@]}"; do
	begin "$("$python" -V): known chains"
	record -e cpu -F 499 --lines -o stacks.folded -- "$python" "$here/workload/python_scenarios.py" "${PKBPF_SECONDS:-2}" chains.json &&
		checker "$here/python_scenarios_check.py" stacks.folded chains.json
	begin "$("$python" -V): functions that die"
	record -e cpu -F 997 -o dying.folded -- "$python" "$here/workload/python_dying.py" "${PKBPF_SECONDS:-1}" &&
		checker "$here/dying_check.py" dying.folded ' \(dying\.py' '\[python\]' 1 0
	begin "$("$python" -V): waits"
	stolen=$(stolen_us)
	record -e offcpu -o waits.folded -- "$python" "$here/workload/python_waits.py" "${PKBPF_SECONDS:-1}" waits.json &&
		checker "$here/python_waits_check.py" waits.folded waits.json $(($(stolen_us) - stolen))
	begin "$("$python" -V): as faulthandler says"
	record -e offcpu --lines -o stopped.folded -- "$python" "$here/workload/python_stopped.py" tracebacks &&
		checker "$here/python_stopped_check.py" stopped.folded tracebacks
done

conclude
