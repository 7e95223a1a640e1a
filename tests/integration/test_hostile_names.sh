#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A program whose names mean something to whoever shows them, in every format: nothing is run, nothing breaks, nothing is lost.
# shellcheck source=prelude.sh
. "$(dirname "$0")/prelude.sh"

begin "a recording"
record -F 499 -e cpu,faults --trace -o all.pkbpf -- "$workloads/hostile_names" || give_up "no profile"
report() { "$pkbpf" report -q all.pkbpf "$@" >said 2>&1 || give_up "pkbpf report $*: $(cat said)"; }
report -e cpu -o all.folded -o all.pb.gz -o all.speedscope.json -o all.firefox.json -o all.trace.json -o all.svg -o all.html -o all.json -o all.csv -o all.functions.csv -o all.md -o all.sarif -o all.txt
report -e cpu --full -o full.txt
report --tree -o tree.txt

begin "a comparison, names from files, a benchmark"
# Names of the program alone: from a file beside a copy that has none.
mkdir symbols
cp "$workloads/hostile_names" symbols
strip -o stripped symbols/hostile_names
record -F 499 -e cpu -o stripped.pkbpf -- ./stripped || give_up "no profile"
"$pkbpf" report -q stripped.pkbpf --symbols symbols -o symbols.folded -o symbols.json -o symbols.html >said 2>&1 || give_up "report: $(cat said)"
# No function has a name on both sides: all of them are gone, and stand in the tables.
"$pkbpf" diff -q --full all.pkbpf stripped.pkbpf --fail-if 'cpu.function[</script><script>hacked=1</script>].total>+1%' --fail-if $'cpu.function[?a;"\n\e[31m]]>].self>+1%' \
	-o diff.html -o diff.svg -o diff.folded -o diff.json -o diff.txt -f markdown -o diff.md -f junit -o diff.xml >said 2>&1
case $? in
0 | 1 | 3) ;;
*) fail "pkbpf diff: $(cat said)" ;;
esac
mkdir bin
ln -s "$(type -P true)" 'bin/=1+1'
PATH=$work/bin:$PATH "$pkbpf" bench -q -r 2 --warmup 0 --bare --fail-if 'wall>1h' -o bench.csv -o bench.txt -o bench.json -f markdown -o bench.md -f junit -o bench.xml \
	-- '=1+1' $'<b>]]>|"\n`x`&</script>\e[31m\xff' >said 2>&1 || fail "pkbpf bench: $(cat said)"

begin "in every format"
checker "$here/hostile_check.py" "$work"

begin "in Chromium"
if command -v chromium >/dev/null && command -v chromedriver >/dev/null; then
	checker "$here/hostile_browser_check.py" "$work/all.html" "$work/all.svg" "$work/diff.html"
else
	not_checked "chromium or chromedriver is not here"
fi
conclude
