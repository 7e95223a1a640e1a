#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# `pkbpf top`: a table for a script, and the live picture, played through tmux as a user would.
# usage: test_top.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

spinner=
server=
cleanup() {
	kill $spinner $server 2>/dev/null
	tmux -L "pkbpf$$" kill-server 2>/dev/null
}

"$workloads/spin" 600 &
spinner=$!

begin "a table for each interval"
"$pkbpf" top -b -n 2 -s 1s -p $spinner --width 120 >out 2>err || fail "it ended with $?"
[ "$(grep -c '^pkbpf top' out)" = 2 ] || fail "not two tables: $(grep -c '^pkbpf top' out)"
grep -qE "^ *$spinner +spin +.* spin_here [0-9.]+%" out || fail "no row of the process with its hottest function"
[ "$(grep -cE "^ *$spinner +spin" out)" = 2 ] || fail "the process is not in both tables"

begin "a reader that has seen enough"
"$pkbpf" top -b -n 5 -s 500ms | head -n 1 >out
[ "${PIPESTATUS[0]}" = 0 ] || fail "it ended with an error"

begin "wrong values"
"$pkbpf" top --sort nothing 2>err
[ $? = 2 ] || fail "an unknown column is accepted"
"$pkbpf" top -n 1 -p 4194000 2>err && fail "a pid that is nobody's is accepted"

begin "slices of a running serve"
echo 'a-token-that-nobody-guesses' >token
chmod 600 token
"$pkbpf" serve --store "$work/store" -s 1s --max-cpu off -e cpu -F 499 -p $spinner --listen 127.0.0.1:0 --token-file token 2>said &
server=$!
wait_until 60 grep -q 'http://' said || give_up "no server: $(cat said)"
url=$(grep -o 'http://[0-9.:]*' said)
wait_until 60 curl -sf "$url/readyz" || fail "it is not ready: $(cat said)"
"$pkbpf" top --connect "$url" 2>err >out
[ $? = 1 ] && grep -q 'asks for its token' err || fail "without the token: $(cat err)"
chmod 755 . && install -o 65534 -m 400 token nobodys
setpriv --reuid 65534 --regid 65534 --clear-groups "$pkbpf" top --connect "${url#http://}" --token-file nobodys -b -n 2 --comm spin --width 120 \
	>out 2>err || fail "it ended with $?: $(cat err)"
[ "$(grep -cE "^ *$spinner +spin " out)" = 2 ] || fail "the process is not in two slices: $(cat out)"
grep -qE "^ *$spinner +spin +.* spin_here [0-9.]+%" out || fail "no hottest function: $(cat out)"
"$pkbpf" top --connect "$url" --token-file token -F 99 2>err
[ $? = 2 ] && grep -q 'omit --frequency' err || fail "a rate of one's own: $(cat err)"
kill -INT $server
wait $server
"$pkbpf" top --connect "$url" --token-file token -b 2>err
[ $? = 1 ] && grep -q "cannot ask $url" err || fail "a server that is gone: $(cat err)"

# screen TEXT…: waits until all of it is shown.
screen() {
	local text missing
	for _ in $(seq 300); do
		tmux -L "pkbpf$$" capture-pane -p >picture 2>/dev/null
		missing=
		for text; do
			grep -qF -- "$text" picture || missing=$text
		done
		[ -z "$missing" ] && return
		sleep 0.1
	done
	fail "not on the screen: $missing"
	cat picture
}
press() { tmux -L "pkbpf$$" send-keys -- "$@"; }

begin "the picture"
tmux -L "pkbpf$$" -f /dev/null new-session -d -x 110 -y 30 "$pkbpf top -p $spinner; echo status \$?; sleep 600"
screen "pkbpf top" "PID COMM" "spin_here" "lost 0"
press Enter
screen "spin pid $spinner  CPU" "main" "spin_here"
press Tab
screen "Off-CPU"
press Escape
screen "PID COMM"
press Space
screen "[frozen]"
press Space c
screen "by comm"
press "\\" nobody Enter
screen "no row passes the filter"
press "\\" Enter
screen "spin_here"
press "?"
screen "keys (any key goes back)"
press x
tmux -L "pkbpf$$" resize-window -x 80 -y 12
screen "spin_here"
press w "$work/shown.folded" Enter
wait_until 60 test -s shown.cpu.folded
grep -q '^spin;.*spin_here [0-9]*$' shown.cpu.folded || fail "what was shown is not in the file"
press q
screen "status 0"

conclude
