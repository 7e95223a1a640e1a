# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# What every test begins with: sourced with its arguments, it names them, and skips the test where nobody can profile.
# It leaves $pkbpf, $workloads (their folder), $here (that of the tests), $failures and skip.
set -u

pkbpf=$(readlink -f "$1")
workloads=$(readlink -f "$2")
here=$(dirname "$(readlink -f "$0")")
failures=0

# skip WHY…
skip() {
	echo "skipped: $*"
	exit 77
}

[ "$(id -u)" = 0 ] || skip "needs root"
[ -r /sys/kernel/btf/vmlinux ] || skip "needs a kernel with BTF"
# What a user behind sudo would get is a test of its own.
unset SUDO_UID SUDO_GID SUDO_USER SUDO_COMMAND
