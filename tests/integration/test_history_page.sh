#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The page of `pkbpf serve`, played in headless Chromium: an interval is chosen, marked, compared with another; alerts and
# objectives are shown; the address holds all of it.
# usage: test_history_page.sh PKBPF WORKLOAD_FOLDER [PICTURES]
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
for program in chromium chromedriver; do
	command -v $program >/dev/null || skip "there is no $program"
done

spinner=
server=
cleanup() { kill -9 $spinner $server 2>/dev/null; }

# Urgent, so that it stands in a report of one second beside whatever else is busy.
nice -n -15 "$workloads/spin" 600 &
spinner=$!
cat >serve.conf <<END
listen = 127.0.0.1:0
store = store
interval = 1s
max-cpu = off
events = cpu
frequency = 999
comm = spin
default-alerts = no
[alert hog]
when = spin:cpu.share > 1%
[objective quick]
when = machine.busy < 1000%
over = 1m
target = 99%
END
"$pkbpf" serve --config serve.conf 2>said &
server=$!
wait_until 60 grep -q 'http://' said || give_up "no server: $(cat said)"
url=$(grep -o 'http://[0-9.:]*' said | head -n 1)
windows() { curl -s --max-time 10 "$url/api/v1/windows?from=-1m" | grep -q '\(\[[0-9.]*,[0-9.]*\],\)\{6\}'; }
wait_until 60 windows || give_up "no history: $(cat said)"

begin "in Chromium"
checker "$here/history_browser_check.py" "$url" "${3:-$work}"
conclude
