#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Files for other tools, opened by those tools: the same sums as the folded stacks, the same function on top.
# shellcheck source=prelude.sh
. "$(dirname "$0")/prelude.sh"

begin "one profile in every format"
record -F 499 -e cpu -o app.folded -o app.pb.gz -o app.speedscope.json -- "$workloads/spin" 1 || give_up "no profile"
samples=$(total . app.folded)

begin "all kinds in every format"
kinds="cpu offcpu blockio faults"
record -F 499 -o all.pkbpf -- bash -c "'$workloads/spin' 0.3; for i in 1 2 3; do dd if=/dev/zero of=file bs=1M count=1 conv=fsync; sleep 0.01; done" ||
	give_up "no recording"
"$pkbpf" report -q all.pkbpf -o all.folded -o all.pb.gz -o all.speedscope.json -o all.firefox.json -o all.trace.json -o all.svg -o all.html -o all.json -o all.csv >said 2>&1 || give_up "$(cat said)"
"$pkbpf" report -q all.pkbpf --tree -o tree.txt >said 2>&1 || give_up "$(cat said)"

for kind in $kinds; do
	if [ -s "all.$kind.folded" ]; then recorded="${recorded-} $kind"; else not_checked "$kind: there was none"; fi
done
# shellcheck disable=SC2086 # one word each
checker "$here/formats_check.py" "$work" ${recorded-}

begin "formats with a time axis"
# shellcheck disable=SC2086 # one word each
checker "$here/timeline_check.py" "$work" ${recorded-}

begin "formats with a time axis, from a trace"
mkdir traced
record -F 499 --trace -o traced.pkbpf -- bash -c "'$workloads/spin' 0.3; for i in 1 2 3; do dd if=/dev/zero of=file bs=1M count=1 conv=fsync; sleep 0.01; done" ||
	give_up "no recording"
"$pkbpf" report -q traced.pkbpf -o traced/all.folded -o traced/all.firefox.json -o traced/all.trace.json -o traced/all.events.txt >said 2>&1 || give_up "$(cat said)"
# shellcheck disable=SC2086 # one word each
checker "$here/timeline_check.py" --trace "$work/traced" ${recorded-}
checker "$here/events_check.py" traced/all.events.txt traced/all.cpu.folded
"$pkbpf" report -q all.pkbpf -o none.events.txt >said 2>&1
grep -q '^# No single events\|blockio-' none.events.txt || fail "without a trace: $(head -3 none.events.txt)"

begin "pprof"
if command -v go >/dev/null && go tool pprof -h 2>&1 | grep -q usage; then
	export PPROF_TMPDIR=$work HOME=$work
	go tool pprof -raw app.pb.gz >raw 2>&1 || give_up "go tool pprof does not read it: $(head -n 3 raw)"
	counted=$(awk '/^Samples:/ { on = 1 } /^Locations/ { on = 0 } on && /^ *[0-9]+ +[0-9]+: / { sum += $1 } END { print sum }' raw)
	[ "$counted" = "$samples" ] || fail "$counted samples, $samples in the folded stacks"
	go tool pprof -top -sample_index=samples app.pb.gz >top 2>&1
	awk -v least=$((samples * 4 / 5)) '$6 == "spin_here" { found = $1 } END { exit !(found > least) }' top || fail "spin_here is not on top: $(head -n 8 top)"
	go tool pprof -top -diff_base=app.pb.gz app.pb.gz 2>&1 | grep -q "Showing nodes accounting for 0, 0%" ||
		fail "the difference to itself is not nothing"
	go tool pprof -top -tagroot=comm app.pb.gz 2>&1 | grep -q " spin$" || fail "the label comm is missing"
else
	not_checked "go tool pprof is not here"
fi

begin "speedscope"
checker - "$samples" <<'END'
import json, sys
from checks import check
document = json.load(open("app.speedscope.json"))
profile = document["profiles"][0]
names = [frame["name"] for frame in document["shared"]["frames"]]
check(profile["endValue"] == sum(profile["weights"]) == int(sys.argv[1]), f"{profile['endValue']} samples, as in the folded stacks")
spinning = sum(weight for stack, weight in zip(profile["samples"], profile["weights"]) if "spin_here" in [names[frame] for frame in stack])
named = sum(weight for stack, weight in zip(profile["samples"], profile["weights"]) if names[stack[0]] == "spin")
check(min(spinning, named) > 0.8 * int(sys.argv[1]), f"{spinning} of them in spin_here, {named} below the thread's name")
END
begin "Firefox Profiler"
if command -v profiler-cli >/dev/null; then
	mkdir firefox
	record -F 499 -e cpu,offcpu,faults -o firefox/app.folded -o firefox/app.firefox.json -- bash -c "'$workloads/spin' 0.3; sleep 0.01" &&
		checker "$here/firefox_check.py" firefox cpu offcpu faults
else
	not_checked "profiler-cli is not here: npm has it as @firefox-devtools/profiler-cli, and tools/test installs it"
fi
conclude
