/* SPDX-License-Identifier: BSD-2-Clause */
/* Bounds a profile of a host where processes and threads start and exit for hours.
 *
 * Each process has rows, sums and percentiles of its own, two to three KiB, and a row with its
 * pid. Beyond some thousands of exited processes the pids are of no use: these processes can be
 * merged into one group per name and cgroup, and the waits of exited threads into those of their
 * process. Sums stay the same. */
#ifndef PKBPF_PROFILE_SHRINK_PROCESS_MERGE_H
#define PKBPF_PROFILE_SHRINK_PROCESS_MERGE_H

#include "profile/profile.h"

/* Merges exited threads into their process and older exited processes into groups, except those
 * the slow-request list refers to. Their records must have been fed in. Process ids of the
 * profile change: (*ret_numbers)[old] is the new id, in an array that the caller frees; old ids
 * may be reused. Time and memory are proportional to the profile. -ENOMEM: no figure is lost,
 * some processes may already be in a group, ids are unchanged. */
int profile_merge_processes(struct profile *profile, uint64_t before_ns, uint32_t **ret_numbers);
/* Number of exited processes with rows of their own. */
size_t profile_ended_processes(const struct profile *profile);
/* Those, plus all threads that exited before their process. */
uint64_t profile_ended_tasks(const struct profile *profile);
/* Number of processes in groups. */
uint64_t profile_grouped_processes(const struct profile *profile);

#endif
