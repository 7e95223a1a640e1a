#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The page and the flame graph, opened from disk in headless Chromium: they work, say what the other formats say, complain of
# nothing and ask nobody for anything.
# shellcheck source=prelude.sh
. "$(dirname "$0")/prelude.sh"
for program in chromium chromedriver; do
	command -v $program >/dev/null || skip "there is no $program"
done

begin "a profile of a command"
record -F 499 --trace -o all.pkbpf -o page.html -o all.json -f svg -o graph.svg -f folded -o stacks.folded -- "$workloads/spin" 2 || give_up "no profile"
"$pkbpf" report -q all.pkbpf -e cpu --reverse -f svg -o reversed.svg || give_up "no reversed graph"
"$pkbpf" report -q all.pkbpf -e cpu --modules -f svg -o modules.svg || give_up "no graph of modules"
begin "in Chromium"
checker "$here/browser_check.py" "$work/page.html" "$work/graph.cpu.svg" "$work/reversed.svg" "$work/modules.svg" "$work/all.json" "$work/stacks.cpu.folded" spin_here
conclude
