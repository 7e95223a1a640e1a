#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The example files beside the manual are taken by those they are for.
# usage: test_examples.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

examples=$here/../../user/manual/examples

begin "configuration of serve"
"$pkbpf" serve --config "$examples/serve.conf" --check-config 2>err || fail "$(cat err)"
# What is commented out is right, too.
sed 's/^# \([a-z-]* = \)/\1/; s/^# \(\[.*\]\)$/\1/' "$examples/serve.conf" >whole.conf
"$pkbpf" serve --config whole.conf --check-config 2>err || fail "with all of it: $(cat err)"

begin "Prometheus"
if command -v promtool >/dev/null; then
	promtool check config "$examples/prometheus.yml" >out 2>&1 || fail "$(cat out)"
fi

begin "nginx"
if command -v nginx >/dev/null; then
	openssl req -x509 -newkey rsa:2048 -nodes -keyout pkbpf.key -out pkbpf.pem -subj /CN=pkbpf.example -days 1 2>err
	touch pkbpf.htpasswd
	{
		echo "error_log $PWD/log; pid $PWD/pid; events {} http { access_log off;"
		sed "s|/etc/[a-z/]*/pkbpf|$PWD/pkbpf|; s|listen 443|listen 127.0.0.1:14443|" "$examples/nginx.conf"
		echo "}"
	} >nginx.conf
	nginx -t -c "$PWD/nginx.conf" 2>err || fail "$(cat err)"
fi

conclude
