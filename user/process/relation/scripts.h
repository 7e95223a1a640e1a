/* SPDX-License-Identifier: BSD-2-Clause */
/* Which argument of an interpreter is its script. */
#ifndef PKBPF_PROCESS_RELATION_SCRIPTS_H
#define PKBPF_PROCESS_RELATION_SCRIPTS_H

#include <stddef.h>

/*
 * The script, module or class that a process named comm runs, in its arguments: size bytes as in
 * /proc/PID/cmdline, with a NUL behind the last. NULL: no interpreter, or its program is its input
 * or an argument ("bash -lc COMMAND"), which may hold a password and belongs into no report.
 */
const char *script_of(const char *comm, const char *arguments, size_t size);

#endif
