// SPDX-License-Identifier: BSD-2-Clause
/* Off-CPU waits in a profile. */
#include "profile/account/wait_state.h"
#include "profile/kind_table.h"

_Static_assert(PKBPF_WAIT_STATES <= KIND_STATES, "each wait state has weights of its own");

const struct kind_ops kind_offcpu = {
	.name = "offcpu",
	.title = "Off-CPU",
	.count_unit = "waits",
	.folded_unit = "us",
	.folded_divisor = 1000,
	.weight = PROFILE_WEIGHT_NS,
	.no_memory = PKBPF_COUNTER_EVENTS_NO_MEMORY,
	.losses = {PKBPF_COUNTER_OFFCPU_RING_FULL},
	.is_idle = true,
	.explained_by_programs = true,
	.state_mask = 0xff,
	.state_name = wait_state_name,
};
