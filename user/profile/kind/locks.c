// SPDX-License-Identifier: BSD-2-Clause
/* Waits for locks in a profile: those of the off-CPU account that are at a lock. */
#include "profile/kind_table.h"

const struct kind_ops kind_locks = {
	.name = "locks",
	.title = "Locks",
	.count_unit = "waits",
	.folded_unit = "us",
	.folded_divisor = 1000,
	.weight = PROFILE_WEIGHT_NS,
	.no_memory = PKBPF_COUNTER_EVENTS_NO_MEMORY,
	.explained_by_programs = true,
};
