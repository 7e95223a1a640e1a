/* SPDX-License-Identifier: BSD-2-Clause */
/* Divides the page faults of processes of one name among the stacks that were sampled of any of
 * them. */
#ifndef PKBPF_PROFILE_ACCOUNT_FAULT_POOL_H
#define PKBPF_PROFILE_ACCOUNT_FAULT_POOL_H

#include "profile/profile.h"

/* A process, with all programs it has been, or a group of processes; and what kind of
 * fault. */
struct fault_key {
	uint64_t number; /* pid, or id of a group or of what is not known */
	uint64_t born_ns;
	uint8_t state;
};

struct fault_owner {
	struct fault_key key;
	uint32_t process; /* incarnation, the one with most of them */
	const char *comm;
	uint64_t cgroup_id;
	uint64_t exact, most;
	uint64_t announced; /* of exact; what a sample may have hit */
	double variance;
	bool knows_announced;
	size_t first, row_count; /* among the rows' places */
};

struct fault_places {
	uint32_t *rows; /* places in profile_rows(), those of one owner together */
	size_t count;
	uint32_t *scratch; /* as many */
	uint64_t *counts;  /* likewise */
};

/* How many of the exact number the kernel has fetched itself: 0, unless that is certain. */
uint64_t fault_count_unannounced(uint64_t exact, uint64_t announced, double variance);
/* Faults that are nobody's stack: those the kernel has fetched itself, and those of which nothing
 * is known. -ENOMEM. */
int fault_add_unannounced(struct profile *profile, const struct fault_owner *owner, uint64_t count);
int fault_add_without_stack(struct profile *profile, const struct fault_owner *owner,
			    uint64_t count);

/*
 * Owners of one name and state whose own samples are too few to say where they fault. -ENOMEM.
 *
 * A sample stands for as many faults as have come since the one before, whoever had them: the
 * faults of one stack that samples stand for are expected to be as many as there were, of all
 * processes together, but not of a process with fewer faults than a sample stands for. It has none,
 * or more than its own. So the samples of all owners together are scaled to the sum of their exact
 * numbers, which keeps the share of each stack what was expected of it. What an owner then has
 * beyond its own number, of each of its stacks as much as it has of it, goes to the owners that
 * lack some: where the kernel says that somebody of this name had faults, and the sample says what
 * stacks are left. In the order of both lists, so that each place and each owner is passed once:
 * there are at most as many new rows as owners and rows together, and owners of one cgroup, which
 * are neighbours, get most of one another.
 */
int fault_pool_divide(struct profile *profile, const struct fault_owner *owners, size_t owner_count,
		      const struct fault_places *places);

#endif
