#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# The action of GitHub and the job of GitLab, step by step, as these run them.
# usage: test_ci_steps.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"

examples=$here/../../user/manual/examples
# Behind a shim of shells it is seen when it runs already.
interpreter=$(python3 -c 'import sys; print(sys.executable)')

python3 -c 'import yaml' 2>/dev/null || skip "no yaml for Python"
cat >burn.py <<'END'
import sys, time
while time.thread_time() < float(sys.argv[1]):
    sum(range(1000))
END
mkdir -p fake && printf '#!/bin/sh\necho "$0 $*" >>%s/asked\n' "$PWD" >fake/gh && cp fake/gh fake/curl && chmod +x fake/*
python3 "$here/ci_steps.py" "$examples" "$pkbpf" "$interpreter burn.py" fake >said 2>&1 || fail "$(cat said)"
conclude
