// SPDX-License-Identifier: BSD-2-Clause
/* Allocations that were not freed by the end of the interval, or by the end of their process. */
#include "profile/kind_table.h"

const struct kind_ops kind_live = {
	.name = "live",
	.title = "Live memory",
	.count_unit = "live allocations",
	.folded_unit = "bytes",
	.folded_divisor = 1,
	.weight = PROFILE_WEIGHT_BYTES,
	.no_memory = PKBPF_COUNTER_ALLOC_NO_MEMORY,
	.is_level = true,
	.explained_by_programs = true,
};
