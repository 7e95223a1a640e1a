/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a program where it has room for its variables although somebody has set a small limit
 * ("ulimit -s 64"), which may be no one's to raise: the libraries that read BTF and DWARF need
 * more, in some of what they read.
 */
#ifndef PKBPF_BASE_ROOMY_STACK_H
#define PKBPF_BASE_ROOMY_STACK_H

/* What run() returns. In a thread of its own where the limit is small, with the signal mask that
 * the caller has; the caller then takes no signals, and threads started meanwhile have room,
 * too. */
int roomy_stack_run(int (*run)(int argc, char **argv), int argc, char **argv);

#endif
