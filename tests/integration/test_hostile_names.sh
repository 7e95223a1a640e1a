#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# beside: others
# A program whose names mean something to whoever shows them, in every format: nothing is run, nothing breaks, nothing is lost.
# shellcheck source=prelude.sh
. "$(dirname "$0")/prelude.sh"

begin "a recording"
record -F 499 -e cpu,faults -o all.pkbpf -- "$workloads/hostile_names" || give_up "no profile"
report() { "$pkbpf" report -q all.pkbpf "$@" >said 2>&1 || give_up "pkbpf report $*: $(cat said)"; }
report -e cpu -o all.folded -o all.pb.gz -o all.speedscope.json -o all.firefox.json -o all.trace.json -o all.svg -o all.html -o all.json -o all.csv -o all.txt
report -e cpu --full -o full.txt
report --tree -o tree.txt

begin "in every format"
checker "$here/hostile_check.py" "$work"

begin "in Chromium"
if command -v chromium >/dev/null && command -v chromedriver >/dev/null; then
	checker "$here/hostile_browser_check.py" "$work/all.html" "$work/all.svg"
else
	not_checked "chromium or chromedriver is not here"
fi
conclude
