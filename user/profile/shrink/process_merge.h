/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes room in a profile of a host where processes and threads come and go for hours.
 *
 * Each process has rows, sums and percentiles of its own, two to three KiB, and is told by its pid.
 * Beyond some thousands that have ended nobody asks for the pid: they can be told in one group for
 * each name and cgroup, and what ended threads of others have waited for with their process. No sum
 * changes.
 */
#ifndef PKBPF_PROFILE_SHRINK_PROCESS_MERGE_H
#define PKBPF_PROFILE_SHRINK_PROCESS_MERGE_H

#include "profile/profile.h"

/*
 * Tells ended threads with their process, and in groups the processes that ended before this time,
 * but those of the slowest block requests. Records about them must have been fed in. The profile's
 * own process ids change: (*ret_numbers)[old] is the new one, in an array that the caller frees;
 * ids that changed may be given to later processes, so the caller uses the new ones from then on.
 * Takes time and memory in proportion to the profile. -ENOMEM: no figure is lost, but some may be
 * told in a group already; the ids are as they were.
 */
int profile_merge_processes(struct profile *profile, uint64_t before_ns, uint32_t **ret_numbers);
/* Ended processes that are told by their pids. */
size_t profile_ended_processes(const struct profile *profile);
/* Those, and all threads that have ended so far before their process. */
uint64_t profile_ended_tasks(const struct profile *profile);
/* Processes that are told in groups. */
uint64_t profile_grouped_processes(const struct profile *profile);

#endif
