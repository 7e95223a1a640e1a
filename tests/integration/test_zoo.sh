#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# A few of the planted bottlenecks of tests/zoo: the first finding names cause and place. All of them: tests/zoo/run.
# usage: test_zoo.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

"$here/../zoo/run" --short --quiet "$pkbpf" || fail "findings of planted bottlenecks"
conclude
