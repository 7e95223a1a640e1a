// SPDX-License-Identifier: BSD-2-Clause
/* Page faults in a profile. */
#include <pkbpf/faults.h>

#include "profile/account/fault_counts.h"
#include "profile/kind_table.h"

const struct kind_ops kind_faults = {
	.name = "faults",
	.title = "Page faults",
	.count_unit = "faults",
	.folded_unit = "faults",
	.folded_divisor = 1,
	.weight = PROFILE_WEIGHT_COUNT,
	.no_memory = PKBPF_COUNTER_EVENTS_NO_MEMORY,
	.losses = {PKBPF_COUNTER_FAULTS_RING_FULL},
	.is_thinned = true,
	.explained_by_programs = true,
	.state_mask = PKBPF_FAULT_MASK,
	.finish = profile_scale_faults,
};
