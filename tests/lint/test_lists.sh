#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The table of integration tests in tests/README.md is what tools/test --list prints.
# usage: test_lists.sh ROOT
root=$1
difference=$(diff <(sed -n '/^| test | runs in /,$p' "$root/tests/README.md") <("$root/tools/test" --list)) && exit 0
printf 'FAILED: tests/README.md is not what tools/test --list prints:\n%s\n' "$difference"
exit 1
