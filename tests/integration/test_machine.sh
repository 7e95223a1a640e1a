#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Energy, temperature and frequency of a machine that has them, in every output: files of a tree lie over those of this one.
# usage: test_machine.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
evidence=(said)

# A folder below /sys/class of its own, over what is there; seen by the command alone.
mkdir -p class/powercap/intel-rapl:0 class/hwmon/hwmon0
echo package-0 >class/powercap/intel-rapl:0/name
echo 1000000 >class/powercap/intel-rapl:0/energy_uj
echo 262143328850 >class/powercap/intel-rapl:0/max_energy_range_uj
echo coretemp >class/hwmon/hwmon0/name
echo 81000 >class/hwmon/hwmon0/temp1_input
over="mount -t overlay overlay -o lowerdir=$work/class:/sys/class /sys/class"
with_tree() { unshare -m sh -c "$over && exec \"\$@\"" sh "$@"; }
with_tree true 2>/dev/null || skip "no folder can be laid over /sys/class here"

begin "a command, with slices: the energy of all of them"
with_tree "$pkbpf" -q -e cpu --slice 500ms --counters -o out.json -o out.pkbpf -o out.html -o out.full.txt --full -- \
	sh -c "sleep .7; i=0; while [ \$i -lt 100000 ]; do i=\$((i + 1)); done; echo 7000000 >$work/class/powercap/intel-rapl:0/energy_uj; sleep .6" >said 2>&1 || fail "status $?"
"$pkbpf" report -q out.pkbpf -o again.json >said 2>&1 || fail "report: status $?"
checker - <<'CHECK'
import json
one, again = (json.load(open(name))["machine"] for name in ("out.json", "again.json"))
assert one == again, (one, again)
assert one["energy_joules"] == 6, one
assert one["energy_source"] == "package-0" and 0 < one["power_watts"] < 6, one
# A real sensor may be hotter.
assert one["temperature_max_celsius"] >= 81, one
assert "energy" not in one["missing"] and "temperature" not in one["missing"], one
assert ("counts" in one) != ("counts" in one["missing"]), one
CHECK
grep -q "^machine: .*energy 6 J (.* W, package-0)" out.full.txt || fail "the report lacks it: $(head -n 20 out.full.txt)"
grep -q '"energy_joules"' out.html || grep -q machineTile out.html || fail "the page lacks it"

conclude
