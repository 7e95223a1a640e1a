#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# Planted bottlenecks that a program finds by asking `pkbpf mcp` alone, in two calls each.
# usage: test_mcp_zoo.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

"$here/../zoo/run" --mcp --quiet "$pkbpf" cgroup_limit yield_spin byte_reader byte_writer mutex_slow flock_wait leak slow_backend fsync_log rwlock_writer \
	|| fail "findings of planted bottlenecks"
conclude
