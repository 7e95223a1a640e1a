// SPDX-License-Identifier: BSD-2-Clause
/* Held leases in a profile. */
#include "profile/kind_table.h"

const struct kind_ops kind_leases = {
	.name = "leases",
	.title = "Leases",
	.count_unit = "leases",
	.folded_unit = "us",
	.folded_divisor = 1000,
	.weight = PROFILE_WEIGHT_NS,
	.no_memory = PKBPF_COUNTER_EVENTS_NO_MEMORY,
};
