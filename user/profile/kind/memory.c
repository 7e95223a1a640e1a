// SPDX-License-Identifier: BSD-2-Clause
/* Resident memory in a profile: pages that are there at the end, by who wrote to them first. */
#include "profile/kind_table.h"

const struct kind_ops kind_memory = {
	.name = "memory",
	.title = "Resident memory",
	.count_unit = "pages",
	.folded_unit = "bytes",
	.folded_divisor = 1,
	.weight = PROFILE_WEIGHT_BYTES,
	.no_memory = PKBPF_COUNTER_MEMORY_NO_MEMORY,
	.losses = {PKBPF_COUNTER_MEMORY_LOST},
	.is_level = true,
	.explained_by_programs = true,
};
