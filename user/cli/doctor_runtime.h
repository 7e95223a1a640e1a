/* SPDX-License-Identifier: BSD-2-Clause */
/* `pkbpf doctor --pid PID`: which names an interpreter or a run-time compiler gives its code. */
#ifndef PKBPF_CLI_DOCTOR_RUNTIME_H
#define PKBPF_CLI_DOCTOR_RUNTIME_H

#include <stdint.h>

/* Prints a paragraph for each run-time that the process is known to have: none for other
 * programs. */
void doctor_runtime(uint32_t pid);

#endif
