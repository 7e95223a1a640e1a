// SPDX-License-Identifier: BSD-2-Clause
/* CPU samples in a profile. */
#include "profile/kind_table.h"

const struct kind_ops kind_cpu = {
	.name = "cpu",
	.title = "CPU",
	.count_unit = "samples",
	.folded_unit = "samples",
	.folded_divisor = 1,
	.weight = PROFILE_WEIGHT_COUNT,
	.is_expected = true,
	.no_memory = PKBPF_COUNTER_LOST_NO_MEMORY,
};
