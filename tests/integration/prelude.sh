# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# What every test begins with: sourced with its arguments, it names them, and skips the test where nobody can profile.
# It leaves $pkbpf, $workloads (their folder), $here (that of the tests), $failures, skip and stolen_us.
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

# What the host has kept from this machine's CPUs. Threads stay on them meanwhile, but the kernel's account of their CPU
# time leaves it out.
stolen_us() {
	awk '/^cpu / { print $9 * 10000 }' /proc/stat
}

[ "$(id -u)" = 0 ] || skip "needs root"
[ -r /sys/kernel/btf/vmlinux ] || skip "needs a kernel with BTF"
# What a user behind sudo would get is a test of its own.
unset SUDO_UID SUDO_GID SUDO_USER SUDO_COMMAND
