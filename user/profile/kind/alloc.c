// SPDX-License-Identifier: BSD-2-Clause
/* Sampled allocations in a profile: each stands for many. */
#include "profile/kind_table.h"

const struct kind_ops kind_alloc = {
	.name = "alloc",
	.title = "Allocations",
	.count_unit = "allocations",
	.folded_unit = "bytes",
	.folded_divisor = 1,
	.weight = PROFILE_WEIGHT_BYTES,
	.no_memory = PKBPF_COUNTER_ALLOC_NO_MEMORY,
	.losses = {PKBPF_COUNTER_ALLOC_LOST},
	.explained_by_programs = true,
};
