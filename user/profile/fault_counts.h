/* SPDX-License-Identifier: BSD-2-Clause */
/* Brings the stacks of sampled page faults to the numbers that the tasks' own counters say. */
#ifndef PKBPF_PROFILE_FAULT_COUNTS_H
#define PKBPF_PROFILE_FAULT_COUNTS_H

#include "profile/profile.h"

/*
 * Once, when all records are in. Stacks of page faults are a sample; the number of faults of each process is known exactly. Each
 * process's stacks are scaled so that their sum is that number, those of all programs together that it has been one after the
 * other; faults of a process of which none was sampled get a row without a stack. Where many more are counted than any sample can
 * stand for, the rest are pages that the kernel has fetched itself: a row of their own, whose only frame says so. -ENOMEM. Before
 * frames get their names.
 */
int profile_scale_faults(struct profile *profile);
/* false: of a row of page faults that was made of the exact number alone. */
bool profile_fault_was_sampled(const struct profile *profile, const struct profile_row *row);

#endif
