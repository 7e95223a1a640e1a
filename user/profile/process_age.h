/* SPDX-License-Identifier: BSD-2-Clause */
/* Decides whether an accounted process is new. */
#ifndef PKBPF_PROFILE_PROCESS_AGE_H
#define PKBPF_PROFILE_PROCESS_AGE_H

#include "profile/profile.h"

/* True when the process, or the program it runs now, started in the interval. A profiled COMMAND
 * is new in this sense: its process existed before and waited for the start. Stack tables are by
 * program and must agree. */
bool process_is_new(const struct profile *profile, const struct resource_process *process);

#endif
