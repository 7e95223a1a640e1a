/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes room in a profile of a host where processes and threads come and go for hours.
 *
 * Each process has rows, sums and percentiles of its own, two to three KiB, and is told by its pid.
 * Beyond some thousands that exited nobody asks for the pid: they can be told in one group for
 * each name and cgroup, and what exited threads of others have waited for with their process. No
 * sum changes.
 */
#ifndef PKBPF_PROFILE_SHRINK_PROCESS_MERGE_H
#define PKBPF_PROFILE_SHRINK_PROCESS_MERGE_H

#include "profile/profile.h"

/*
 * Merges exited threads into their process and older exited processes into groups, except those the
 * slow-request list refers to. Their records must have been fed in. Process ids of the profile
 * change: (*ret_numbers)[old] is the new id, in an array that the caller frees; old ids may be
 * reused. Time and memory are proportional to the profile. -ENOMEM: no figure is lost, some
 * processes may already be in a group, ids are unchanged.
 */
int profile_merge_processes(struct profile *profile, uint64_t before_ns, uint32_t **ret_numbers);
/* Exited processes that are told by their pids. */
size_t profile_ended_processes(const struct profile *profile);
/* Those, and all threads that exited so far before their process. */
uint64_t profile_ended_tasks(const struct profile *profile);
/* Processes that are told in groups. */
uint64_t profile_grouped_processes(const struct profile *profile);

#endif
