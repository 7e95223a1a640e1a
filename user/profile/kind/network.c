// SPDX-License-Identifier: BSD-2-Clause
/* Network messages in a profile. */
#include "profile/account/message_counts.h"
#include "profile/kind_table.h"

const struct kind_ops kind_network = {
	.name = "network",
	.title = "Network",
	.count_unit = "messages",
	.folded_unit = "bytes",
	.folded_divisor = 1,
	.weight = PROFILE_WEIGHT_BYTES,
	.no_memory = PKBPF_COUNTER_EVENTS_NO_MEMORY,
	.losses = {PKBPF_COUNTER_NETWORK_LOST},
	.explained_by_programs = true,
	.finish = profile_scale_messages,
};
