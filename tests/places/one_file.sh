#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The program of one file in places that have nothing: roots without libraries, read-only ones, without devices; users that no
# file knows, terminals that nothing describes, servers by https, programs of another C library. As root.
# usage: one_file.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=../integration/prelude.sh
. "$(dirname "$(readlink -f "$0")")/../integration/prelude.sh" "$@"
here=$(readlink -f "$here/../integration")
root=$work/root
mounted=()
jobs_started=()
cleanup() {
	local i
	for job in "${jobs_started[@]}"; do kill "$job" 2>/dev/null; done
	for ((i = ${#mounted[@]} - 1; i >= 0; i--)); do umount -l "${mounted[$i]}" 2>/dev/null; done
}
attach() { # SOURCE FOLDER [OPTIONS…]
	mkdir -p "$2"
	mount --bind "$1" "$2" && mounted+=("$2")
}

begin "a file that needs no other"
readelf -d "$pkbpf" | grep -q NEEDED && fail "it needs libraries: $(readelf -d "$pkbpf" | grep NEEDED)"
readelf -l "$pkbpf" | grep -q INTERP && fail "it needs a loader"
size=$(stat -c %s "$pkbpf")
[ "$size" -lt 9000000 ] || fail "$size bytes"

"$workloads/spin" 600 >/dev/null 2>&1 &
spin=$!
jobs_started+=($!)

begin "a root with nothing but /proc and /sys"
mkdir -p "$root"
cp "$pkbpf" "$root/pkbpf"
attach /proc "$root/proc"
attach /sys "$root/sys"
chroot "$root" /pkbpf -q -p $spin -d 1 -f folded -e cpu >folded 2>err || fail "status $?: $(cat err)"
grep -q '^spin;.*main' folded || fail "no names: $(head -n 3 folded)"
chroot "$root" /pkbpf doctor >doctor 2>&1 || fail "doctor: $(cat doctor)"
grep -q 'profiling will work' doctor || fail "doctor: $(tail -n 3 doctor)"

chroot "$root" /pkbpf unpack --to / pkbpf.h pkbpf.1 || fail "unpack: status $?"
cmp -s "$root/pkbpf.h" "$here/../../include/pkbpf/pkbpf.h" || fail "unpack: another pkbpf.h"

begin "terminals that nothing describes"
for terminal in vt100 xterm-kitty; do
	{ sleep 2; echo q; } | TERM=$terminal timeout 30 script -qec "chroot $root /pkbpf top -d 1" /dev/null >screen 2>&1
	grep -q 'pkbpf top' screen || fail "$terminal: $(head -c 300 screen)"
done

begin "a read-only root"
attach "$root" "$root.read"
mount -o remount,bind,ro "$root.read" || give_up "cannot be made read-only"
attach /proc "$root.read/proc"
attach /sys "$root.read/sys"
chroot "$root.read" /pkbpf -q -p $spin -d 1 -f folded -e cpu >folded 2>err || fail "status $?: $(cat err)"
grep -q '^spin;.*main' folded || fail "no names: $(head -n 3 folded)"

begin "a user that no file knows"
# Modules of name services would bring a second C library along.
SUDO_UID=54321 SUDO_GID=54321 SUDO_USER=nobody-knows "$pkbpf" -q -d 200ms -- id -u >out 2>err || fail "status $?: $(cat err)"
grep -qx 54321 out || fail "it ran as $(cat out)"

begin "allocations of programs of each C library"
cat >allocate.c <<'C'
#include <stdlib.h>
static void *volatile here;
int main(void) { for (int i = 0; i < 4000; i++) free(here = malloc(20000)); return 0; }
C
mkdir "$work/alone" && cp "$pkbpf" "$work/alone/pkbpf"
for compiler in cc musl-gcc; do
	"$compiler" -O1 -fno-builtin -o allocate allocate.c || exit 1
	"$work/alone/pkbpf" -q -e alloc --alloc --alloc-rate 4K -o out.json -- ./allocate 2>err || fail "status $?: $(cat err)"
	checker - out.json <<'PYTHON'
import sys
import checks

total = sum(row["allocated"]["bytes"] for row in checks.read_report(sys.argv[1])["heap"])
checks.check(78e6 < total < 82e6, f"{total} bytes in 4,000 blocks of 20,000")
PYTHON
done

begin "servers by https, with their authority and without"
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost >/dev/null 2>&1 ||
	give_up "no certificate: openssl"
# What sends has no rights of root.
chmod 755 "$work" && chmod 644 cert.pem
cat >server.py <<'P'
import http.server, ssl, sys
class Server(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        size = int(self.headers["Content-Length"])
        got = len(self.rfile.read(size))
        print(self.path, size, got, flush=True)
        self.send_response(200)
        self.end_headers()
    def log_message(self, *ignored):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Server)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("cert.pem", "key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
P
python3 server.py >posts 2>&1 &
jobs_started+=($!)
wait_until 10 test -s posts || give_up "the server does not start: $(cat posts)"
port=$(head -n 1 posts)
cat >serve.conf <<END
listen = 127.0.0.1:0
store = store
interval = 1s
max-cpu = off
[push https]
otlp = https://localhost:$port/v1/metrics
END
for authority in "$work/cert.pem" /etc/ssl/certs/ca-certificates.crt; do
	SSL_CERT_FILE=$authority "$pkbpf" serve --config serve.conf >serve.out 2>&1 &
	serve=$!
	jobs_started+=("$serve")
	if [ "$authority" = "$work/cert.pem" ]; then
		wait_until 60 grep -q /v1/metrics posts || fail "nothing was pushed: $(cat serve.out)"
	else
		wait_until 60 grep -qi 'certificate is refused' serve.out || fail "a certificate of nobody was taken: $(cat serve.out)"
	fi
	kill -TERM $serve
	wait $serve
done

conclude
