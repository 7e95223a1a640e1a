/* SPDX-License-Identifier: BSD-2-Clause */
/* Scales the stacks of sampled page faults to the counts in the task counters. */
#ifndef PKBPF_PROFILE_ACCOUNT_FAULT_COUNTS_H
#define PKBPF_PROFILE_ACCOUNT_FAULT_COUNTS_H

#include "profile/profile.h"

/* Call once, when all records are in and before frames are symbolized. Stacks of page faults are
 * sampled, but the number of faults of each process is exact. Each process's stacks, of all
 * programs it has run, are scaled to that number. Processes with too few faults for their own
 * samples are pooled by name (fault_pool.h): some get stacks sampled in another process. Faults
 * counted beyond the announced ones are pages that the kernel fetched itself; they get a row of
 * their own, whose only frame says so. When no process of a name has a sample, a row without a
 * stack has the rest. -ENOMEM. */
int profile_scale_faults(struct profile *profile);
/* false: the row was made from the exact count, without samples. */
bool profile_fault_was_sampled(const struct profile *profile, const struct profile_row *row);

#endif
