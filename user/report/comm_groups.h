/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of threads that differ in their numbers only, "pool-1-thread-3" and "pool-1-thread-8": the
 * threads of a pool do the same work, and their paths are one. */
#ifndef PKBPF_REPORT_COMM_GROUPS_H
#define PKBPF_REPORT_COMM_GROUPS_H

#include "profile/profile.h"

struct comm_group {
	uint32_t comm, first; /* profile_string(): a name, and the name that stands for its group */
	char pattern[PKBPF_COMM_SIZE + 1]; /* "pool-*-thread-*" */
	bool has_several;
};

/* By comm; all zero: no name has a group. */
struct comm_groups {
	struct comm_group *items;
	size_t count;
};

/* Of all rows of the profile. -ENOMEM. */
int comm_groups_init(struct comm_groups *groups, const struct profile *profile);
void comm_groups_done(struct comm_groups *groups);
/* The name that stands for this one's group; itself where there is no other. */
uint32_t comm_groups_first(const struct comm_groups *groups, uint32_t comm);
/* The text for the group of a name; valid until comm_groups_done(), or as long as the profile. */
const char *comm_groups_text(const struct comm_groups *groups, const struct profile *profile,
			     uint32_t comm);

#endif
