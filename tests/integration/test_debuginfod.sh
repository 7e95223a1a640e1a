#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Names of a stripped program from a debuginfod server on this machine: only when asked for, and never at the price of waiting for
# a server that does not answer.
# usage: test_debuginfod.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

command -v debuginfod >/dev/null || skip "there is no debuginfod server on this machine"
servers=()
cleanup() {
	kill "${servers[@]}" 2>/dev/null
	wait "${servers[@]}" 2>/dev/null
}

cat >program.c <<'C'
#include <time.h>
static volatile unsigned long sink;
static __attribute__((noinline)) void hidden_burn(void) { for (int i = 0; i < 1000000; i++) sink += i; }
static __attribute__((noinline)) void hidden_outer(void) { for (clock_t end = clock() + CLOCKS_PER_SEC / 2; clock() < end;) hidden_burn(); }
int main(void) { hidden_outer(); return sink == 1; }
C
mkdir served
gcc -O1 -g -Wl,--build-id -o program program.c && objcopy --only-keep-debug program served/program.debug && strip program ||
	give_up "the program could not be built"

port=$((20000 + $$ % 20000))
unset DEBUGINFOD_URLS # which the server would ask in turn
timeout 120 debuginfod -F -p $port -d :memory: -t 1 served >server.log 2>&1 &
servers+=($!)
id=$(readelf -n program | sed -n 's/.*Build ID: //p')
wait_until 60 curl -sf -m 2 -o /dev/null "http://127.0.0.1:$port/buildid/$id/debuginfo" || give_up "the server has not found the debug file"
export DEBUGINFOD_URLS=http://127.0.0.1:$port DEBUGINFOD_CACHE_PATH=$work/cache

begin "not asked for"
record -e cpu -F 199 -o out.folded -- ./program
grep -q 'hidden' out.folded && fail "there are names"
[ ! -e cache ] || fail "the cache was made"

begin "asked for"
record -e cpu -F 199 --debuginfod -o out.folded -o out.txt -- ./program
grep -q 'hidden_outer;hidden_burn ' out.folded || fail "there are no names: $(head -n 3 out.folded)"
[ -e "cache/$id/debuginfo" ] || fail "DEBUGINFOD_CACHE_PATH was not honored"
grep -q 'debuginfod:' out.txt && fail "a failure is told: $(grep debuginfod out.txt)"

begin "a server that answers with something else"
rm -rf cache
python3 - "$((port + 1))" <<'P' &
import http.server, sys

class Garbage(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"no ELF file")
    def log_message(self, *_):
        pass

http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Garbage).serve_forever()
P
servers+=($!)
wait_until 60 curl -s -m 2 -o /dev/null "http://127.0.0.1:$((port + 1))/"
DEBUGINFOD_URLS=http://127.0.0.1:$((port + 1)) record -e cpu -F 199 --debuginfod -o out.txt -- ./program
grep -q 'not the debug file asked for' out.txt || fail "it is not told: $(grep -A1 names: out.txt)"

begin "without servers"
DEBUGINFOD_URLS='' "$pkbpf" -q -d 0.1 --debuginfod -o out.txt 2>err && fail "it is no error"
grep -q 'requires DEBUGINFOD_URLS' err || fail "said: $(cat err)"

conclude
