#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# alone: it measures, and loads the machine with a browser
# Lanes of threads in the page of a trace, played in headless Chromium: what they draw is the account of each thread, and what a
# program says that it did at a time; they work by pointer, fingers and keys alone, in any width, and with a million events.
# shellcheck source=prelude.sh
. "$(dirname "$0")/prelude.sh"
for program in chromium chromedriver python3; do
	command -v $program >/dev/null || skip "there is no $program"
done

# record_as NAME FOLLOW… : with rows of threads, to NAME.html and NAME.json
record_as() {
	local name=$1
	shift
	record --by thread -e cpu,offcpu,locks -F 99 --trace -o "$name.html" -o "$name.json" "$@"
}

begin "every wait of a program that says what it does"
record_as all --trace-min 1ns -- sh -c "exec '$(command -v python3)' '$here/lanes_scenario.py' >said.txt" || give_up "no profile"
checker "$here/lanes_check.py" "$work/all.html" "$work/all.json" "$work/said.txt"

begin "longer waits, from a recording of some slices"
record -e cpu,offcpu,locks --by thread --slice 200ms -F 99 --trace -o long.pkbpf -- sh -c "timeout 2 '$workloads/locks' contend; true" || give_up "no recording"
"$pkbpf" report -q long.pkbpf --by thread -o long.html -o long.json >said 2>&1 || give_up "no report: $(cat said)"
checker "$here/lanes_check.py" "$work/long.html" "$work/long.json"

for threads in 8 400; do
	begin "a million events of $threads threads"
	python3 "$here/lanes_many.py" "$work/long.html" "$work/many.html" 1000000 $threads || give_up "no page"
	checker "$here/lanes_figures.py" "$work/many.html" 1000000 $threads
done
conclude
