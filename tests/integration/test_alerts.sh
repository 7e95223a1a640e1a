#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Alerts of `pkbpf serve`: a configuration with errors, a rule that fires and ends, who is told, what is kept, SIGHUP.
# usage: test_alerts.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

spinner=
server=
manager=
cleanup() { kill -9 $spinner $server $manager 2>/dev/null; }

until_true() { wait_until 60 "$@"; }
has() { grep -q "$2" "$1" 2>/dev/null; }
asked() { curl -s --max-time 20 "$url$1" >out && grep -q "$2" out; }

port=$((20000 + RANDOM % 10000))
# Commands run as the user of the front, which is not root.
chmod 755 .
: >told
: >confined
chmod 666 told confined
cat >hook <<END
#!/bin/sh
{ id -u; grep -E '^(CapEff|NoNewPrivs|Seccomp):' /proc/self/status; } >$PWD/confined
{ echo "\$PKBPF_ALERT_STATUS \$PKBPF_ALERT_RULE \$PKBPF_ALERT_WHO"; cat; } >>$PWD/told
END
chmod +x hook
cat >serve.conf <<END
listen = 127.0.0.1:0
store = store
interval = 1s
max-cpu = off
default-alerts = no
[alert hog]
when = alertspin:cpu.share > 1%	# of one CPU
for = 1s
clear-for = 1s
keep = 1s
severity = page
[alert function]
when = function[spin_here].total > 1%
clear-for = 1s
notify = hook
[notify hook]
command = $PWD/hook
[notify manager]
alertmanager = http://127.0.0.1:$port
END

begin "errors are found before anything runs"
"$pkbpf" serve --config serve.conf --check-config 2>err || fail "a good one: $(cat err)"
sed 's/severity/sevirity/' serve.conf >bad.conf
"$pkbpf" serve --config bad.conf --check-config 2>err
[ $? = 2 ] && has err 'bad.conf: line 11: unknown key .sevirity.*did you mean severity?' || fail "a wrong key: $(cat err)"
sed 's/notify = hook/notify = hok/' serve.conf >bad.conf
"$pkbpf" serve --config bad.conf 2>err
[ $? = 2 ] && has err 'no \[notify hok\]' || fail "nobody of that name: $(cat err)"

if command -v prometheus-alertmanager >/dev/null; then
	printf 'route: {receiver: none, group_wait: 1s}\nreceivers: [{name: none}]\n' >manager.yml
	prometheus-alertmanager --config.file=manager.yml --web.listen-address=127.0.0.1:$port \
		--cluster.listen-address= --storage.path=manager >manager.log 2>&1 &
	manager=$!
fi

begin "a rule that holds is told"
"$pkbpf" serve --config serve.conf 2>said &
server=$!
until_true has said 'http://' || give_up "it does not answer: $(cat said)"
url=$(grep -o 'http://[0-9.:]*' said)
cp "$workloads/spin" alertspin
./alertspin 600 &
spinner=$!
until_true has told '^firing hog alertspin$' || fail "the command was not called: $(cat said)"
until_true has told '^firing function spin_here$' || fail "no word of the function"
[ "$(id -u)" != 0 ] || [ "$(head -n 1 confined)" != 0 ] || fail "the command runs as root"
has confined '^CapEff:	0*$' && has confined '^NoNewPrivs:	1$' && has confined '^Seccomp:	2$' || fail "the command is not confined: $(cat confined)"
has told '"status":"firing","rule":"hog","who":"alertspin","severity":"page"' || fail "no JSON: $(cat told)"
has said 'alert hog fires: alertspin: cpu.share is' || fail "nothing in the journal: $(cat said)"
asked /api/v1/alerts '"name":"hog".*"who":"alertspin","state":"firing"' || fail "no state: $(cat out)"
asked /metrics '^pkbpf_alerts{rule="hog"} 1$' || fail "no metric"
if [ -n "$manager" ]; then
	managed() { amtool --alertmanager.url=http://127.0.0.1:$port alert query -o json >alerts.json 2>/dev/null && has alerts.json "$1"; }
	until_true managed '"who":"alertspin"' || fail "the Alertmanager has no alert: $(cat alerts.json)"
fi
until_true has said 'alert hog: kept in store/kept/' || fail "nothing was kept: $(cat said)"
"$pkbpf" report store/kept/hog-*.pkbpf -f folded -e cpu 2>err | grep -q '^alertspin;.*spin_here' ||
	fail "what was kept has no stacks: $(cat err)"

begin "it ends"
kill -9 $spinner
until_true has told '^resolved hog alertspin$' || fail "no word of its end: $(cat told)"

begin "the configuration is read again"
front=$(pgrep -P $server -x pkbpf-front)
sed -i 's/cpu.share > 1%/cpu.share > 2%/' serve.conf
kill -HUP $server
until_true asked /api/v1/alerts '"when":"alertspin:cpu.share > 2%"' || fail "the rule is as it was: $(cat said)"
echo '[alret x]' >>serve.conf
kill -HUP $server
until_true asked /metrics '^pkbpf_config_last_reload_successful 0$' || fail "no metric of the error"
has said 'stays as it was.*unknown section \[alret\]; did you mean alert' || fail "no word of the error: $(cat said)"
sed -i '$d; s/interval = 1s/interval = 1s\nfrequency = 49/' serve.conf
kill -HUP $server
until_true asked /metrics '^pkbpf_config_last_reload_successful 1$' || fail "it is not read any more"
until_true asked '/api/v1/report?from=-10s' '"frequency_hz": 49' || fail "the rate is as it was: $(cat said)"
[ "$front" = "$(pgrep -P $server -x pkbpf-front)" ] || fail "the front is another one"
kill -TERM $server
wait $server || fail "it ended with $?"

conclude
