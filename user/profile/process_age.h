/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a process of the account of resources is new. */
#ifndef PKBPF_PROFILE_PROCESS_AGE_H
#define PKBPF_PROFILE_PROCESS_AGE_H

#include "profile/profile.h"

/*
 * Has it begun in the interval, or the program it runs now? That of a COMMAND has: the process
 * itself was made before, and waited for the start. The tables of stacks tell programs, and shall
 * say the same.
 */
bool process_is_new(const struct profile *profile, const struct resource_process *process);

#endif
