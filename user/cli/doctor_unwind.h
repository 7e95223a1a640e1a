/* SPDX-License-Identifier: BSD-2-Clause */
/* `pkbpf doctor --pid PID`: how well the stacks of a living process can be unwound. */
#ifndef PKBPF_CLI_DOCTOR_UNWIND_H
#define PKBPF_CLI_DOCTOR_UNWIND_H

#include <stdint.h>

#include "base/error.h"

/* Prints the executable mappings with their tables, and the stack of every thread as it is now. */
int doctor_unwind(uint32_t pid, struct error *error);

#endif
