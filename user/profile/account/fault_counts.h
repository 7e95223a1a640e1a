/* SPDX-License-Identifier: BSD-2-Clause */
/* Brings the stacks of sampled page faults to the numbers that the tasks' own counters say. */
#ifndef PKBPF_PROFILE_ACCOUNT_FAULT_COUNTS_H
#define PKBPF_PROFILE_ACCOUNT_FAULT_COUNTS_H

#include "profile/profile.h"

/*
 * Once, when all records are in. Stacks of page faults are a sample; the number of faults of each
 * process is known exactly. Each process's stacks are scaled so that their sum is that number,
 * those of all programs together that it has been one after the other. Processes with so few faults
 * that their own samples say little are divided together with all of their name (fault_pool.h):
 * some get stacks that were sampled of another. Where more are counted than were announced to
 * anybody, the rest are pages that the kernel has fetched itself: a row of their own, whose only
 * frame says so. A row without a stack has what remains, where none was sampled of any process of a
 * name. -ENOMEM. Before frames get their names.
 */
int profile_scale_faults(struct profile *profile);
/* false: of a row of page faults that was made of the exact number alone. */
bool profile_fault_was_sampled(const struct profile *profile, const struct profile_row *row);

#endif
