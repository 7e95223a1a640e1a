#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Ruby methods come to run in many ways: each stack has the chain of methods and lines that the program knows. Those that die
# while others take their memory keep their names, and waits have the time that the program measures. A web application has
# the hottest methods that its own counters say. Reports and doctor say that it is Ruby.
# PKBPF_RUBY: another interpreter. PKBPF_SECONDS: how long for each.
. "$(dirname "$0")/prelude.sh"

ruby=${PKBPF_RUBY:-ruby}
command -v "$ruby" >/dev/null || skip "needs ruby"
case $("$ruby" -e 'print RUBY_VERSION') in
3.1.*) ;;
*) skip "the layout of this Ruby is not known" ;;
esac

begin "known chains"
record -e cpu -F 499 --lines -o stacks.folded -- "$ruby" "$here/workload/ruby_scenarios.rb" "${PKBPF_SECONDS:-2}" chains.json &&
	checker "$here/ruby_scenarios_check.py" stacks.folded chains.json

begin "methods that die"
record -e cpu -F 997 -o dying.folded -- "$ruby" "$here/workload/ruby_dying.rb" "${PKBPF_SECONDS:-1}" &&
	checker "$here/dying_check.py" dying.folded ' \(dying\.rb' '\[ruby\]|\?' 1 0

begin "waits"
stolen=$(stolen_us)
record -e offcpu -o waits.folded -- "$ruby" "$here/workload/ruby_waits.rb" "${PKBPF_SECONDS:-1}" waits.json &&
	checker "$here/ruby_waits_check.py" waits.folded waits.json $(($(stolen_us) - stolen))

begin "a web application"
record -e cpu -F 499 -o shop.folded -- "$ruby" "$here/workload/ruby_shop.rb" "${PKBPF_SECONDS:-2}" shop.json &&
	checker "$here/ruby_shop_check.py" shop.folded shop.json

begin "its language, in reports"
record -e cpu -F 499 -o page.txt -o functions.csv -o page.json -- "$ruby" "$here/workload/ruby_shop.rb" 1 shop.json
grep -q 'Ruby function' page.txt || fail "the report has no Ruby functions: $(cat page.txt)"
! grep -q 'Python function' page.txt || fail "the report has Python functions: $(cat page.txt)"
grep -q ',ruby,' functions.csv || fail "no function of Ruby in the CSV"
checker - page.json <<'END'
import json
import sys

import checks

with open(sys.argv[1], encoding="utf-8") as file:
    text = json.dumps(json.load(file))
checks.check('"ruby": true' in text and '"python": true' not in text, "functions of Ruby are marked in JSON")
END

begin "doctor"
# shellcheck disable=SC2016 # Ruby's, not the shell's
"$ruby" -e 'puts 1; $stdout.flush; sleep' >started &
sleeper=$!
for ((i = 0; i < 200; i++)); do
	[ ! -s started ] || break
	sleep 0.05
done
"$pkbpf" doctor --pid $sleeper >findings 2>&1
kill $sleeper
grep -q 'Ruby 3\.1\..*: its methods are shown in user stacks$' findings || fail "$(cat findings)"

conclude
