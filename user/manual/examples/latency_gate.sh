#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A gate for CI: fails (status 3) when requests are slower, or steps fewer, than we allow. Keeps the figures as JSON.
# usage: latency_gate.sh PKBPF [LIMIT]
here=$(dirname "$0")
limit=${2:-500ms}

"$1" -q -e offcpu --regions -o latency.json \
	--fail-if "region[request].p99>$limit" \
	--fail-if "region[database].mean>$limit" \
	--fail-if 'region[request].not_left>0' \
	-- python3 "$here/web_request.py" 100
