#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The table of README.md: which share of the user stacks of stock programs is whole.
# usage (root): bench_programs.sh PKBPF [PROGRAM…]
here=$(dirname "$(readlink -f "$0")")
pkbpf=$1
shift
[ $# -gt 0 ] || set -- postgres nginx redis python3 perl cc1plus clang node java sqlite3 ripgrep rust fzf go
PKBPF_TABLE=1 exec bash "$here/../integration/test_programs.sh" "$pkbpf" . "$@"
