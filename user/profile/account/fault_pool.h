/* SPDX-License-Identifier: BSD-2-Clause */
/* Divides the page faults of processes with the same name among the stacks sampled in any of
 * them. */
#ifndef PKBPF_PROFILE_ACCOUNT_FAULT_POOL_H
#define PKBPF_PROFILE_ACCOUNT_FAULT_POOL_H

#include "profile/profile.h"

/* An owner of faults: a process with all programs it has run, or a group of processes; and the
 * kind of fault. */
struct fault_key {
	uint64_t number; /* pid, or id of a group or of an unknown process */
	uint64_t born_ns;
	uint8_t state;
};

struct fault_owner {
	struct fault_key key;
	uint32_t process; /* the incarnation with the most faults */
	const char *comm;
	uint64_t cgroup_id;
	uint64_t exact, most;
	uint64_t announced; /* part of exact that sampling may have hit */
	double variance;
	bool knows_announced;
	size_t first, row_count; /* range in the list of rows */
};

struct fault_places {
	uint32_t *rows; /* indexes in profile_rows(), adjacent for one owner */
	size_t count;
	uint32_t *scratch; /* same size */
	uint64_t *counts;  /* same size */
};

/* Number of faults that the kernel itself fetched: 0 unless that is certain. */
uint64_t fault_count_unannounced(uint64_t exact, uint64_t announced, double variance);
/* Add faults without a stack: those that the kernel itself fetched, and those of which nothing
 * is known. -ENOMEM. */
int fault_add_unannounced(struct profile *profile, const struct fault_owner *owner, uint64_t count);
int fault_add_without_stack(struct profile *profile, const struct fault_owner *owner,
			    uint64_t count);

/* Divides faults of owners of one name and state whose own samples are too few. -ENOMEM.
 *
 * A sample represents all faults since the previous one, in whatever process. So the expected
 * weight of a stack is right for all processes together, but not for a process with fewer faults
 * than a sampling period: it has no sample, or a sample with more than its own faults. Therefore
 * the samples of all owners are scaled to the sum of their exact counts, which keeps the
 * expected share of each stack.
 *
 * An owner's surplus beyond its exact count, taken from its stacks in proportion, goes to owners
 * that lack faults. Both lists are passed once, in order: there are at most as many new rows as
 * owners and rows together, and owners of one cgroup, which are adjacent, mostly exchange among
 * themselves. */
int fault_pool_divide(struct profile *profile, const struct fault_owner *owners, size_t owner_count,
		      const struct fault_places *places);

#endif
