// SPDX-License-Identifier: BSD-2-Clause
/* Held locks in a profile. */
#include "profile/kind_table.h"

const struct kind_ops kind_locks = {
	.name = "locks",
	.title = "Locks",
	.count_unit = "locks",
	.folded_unit = "us",
	.folded_divisor = 1000,
	.weight = PROFILE_WEIGHT_NS,
	.no_memory = PKBPF_COUNTER_EVENTS_NO_MEMORY,
};
