#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# Another viewer of Chrome's trace format, speedscope from npm, opens a trace in Chromium and lists each of its tracks by name.
# usage: test_trace_viewer.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
evidence=(npm.log)
for program in npm chromium python3; do
	command -v $program >/dev/null || skip "there is no $program"
done
# PKBPF_NPM_CACHE keeps it for the next run.
npm install --no-audit --no-fund --no-package-lock --cache "${PKBPF_NPM_CACHE:-$work/cache}" speedscope@1.25 >npm.log 2>&1 \
	|| skip "npm cannot install the viewer: $(grep -m 1 -i error npm.log | cut -c1-200)"
server=
cleanup() {
	[ -n "$server" ] && kill "$server" 2>/dev/null
}

begin "a trace of two programs"
record -e cpu,offcpu -F 499 --trace -o all.trace.json -- bash -c '"$0" 0.3 & "$0" 0.2; wait' "$workloads/spin"
cp all.trace.json node_modules/speedscope/dist/release/
python3 -u -m http.server 0 --bind 127.0.0.1 --directory node_modules/speedscope/dist/release >server.log 2>&1 &
server=$!
wait_until 20 grep -q 'port [0-9]' server.log || give_up "no server: $(cat server.log)"
port=$(sed -n 's/.*port \([0-9]*\).*/\1/p' server.log)

begin "the viewer lists each track"
timeout 120 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/browser" --virtual-time-budget=20000 --dump-dom \
	"http://127.0.0.1:$port/index.html#profileURL=http://127.0.0.1:$port/all.trace.json" >page.html 2>browser.log || fail "$(tail -n 3 browser.log)"
checker - <<-'CHECK'
	import html, json, re
	from checks import check
	with open("all.trace.json", encoding="utf-8") as file:
	    events = json.load(file)["traceEvents"]
	names = {(event["pid"], event["tid"]): event["args"]["name"] for event in events if event["name"] == "thread_name"}
	tracks = {(event["pid"], event["tid"]) for event in events if event["ph"] == "X"}
	with open("page.html", encoding="utf-8") as file:
	    shown = {html.unescape(title) for title in re.findall(r'<tr title="([^"]*)"', file.read())}
	missing = [names[track] for track in tracks if not any(f"{names[track]} (tid {track[1]})" in title for title in shown)]
	check(len(tracks) > 3, f"{len(tracks)} tracks with spans")
	check(not missing, f"{len(shown)} of them are shown, missing: {missing}")
	check(any("spin" in title for title in shown), f"by their names: {sorted(shown)[:3]}")
CHECK
conclude
