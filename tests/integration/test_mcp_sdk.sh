#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# The reference client of the Model Context Protocol, from npm, lists and calls every tool of `pkbpf mcp`.
# usage: test_mcp_sdk.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
for program in npm node; do
	command -v $program >/dev/null || skip "there is no $program"
done
# PKBPF_NPM_CACHE keeps it for the next run.
npm install --no-audit --no-fund --no-package-lock --cache "${PKBPF_NPM_CACHE:-$work/cache}" "@modelcontextprotocol/sdk@1.32" >npm.log 2>&1 \
	|| skip "npm cannot install the client: $(grep -m 1 -i error npm.log | cut -c1-200)"

begin "recordings"
record -e cpu,offcpu -F 499 --regions -o base.pkbpf -- "$workloads/spin" 0.3 || give_up "no recording"
record -e cpu,offcpu -F 499 --regions -o more.pkbpf -- "$workloads/spin" 0.6 || give_up "no recording"

begin "the reference client"
cp "$here/mcp_sdk_check.mjs" . || give_up "no script"
timeout 300 node mcp_sdk_check.mjs "$pkbpf" base.pkbpf more.pkbpf || fail "the client is not content"
conclude
