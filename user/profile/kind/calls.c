// SPDX-License-Identifier: BSD-2-Clause
/* Calls of chosen functions by the stacks that called them, in a profile. */
#include "profile/kind_table.h"

const struct kind_ops kind_calls = {
	.name = "calls",
	.title = "Calls by stack",
	.count_unit = "calls",
	.folded_unit = "us",
	.folded_divisor = 1000,
	.weight = PROFILE_WEIGHT_NS,
	.no_memory = PKBPF_COUNTER_EVENTS_NO_MEMORY,
	.explained_by_programs = true,
};
