// SPDX-License-Identifier: BSD-2-Clause
/* Block requests in a profile. */
#include "profile/account/device_names.h"
#include "profile/kind_table.h"

static int finish(struct profile *profile)
{
	profile_name_devices(profile, "/sys");
	return 0;
}

const struct kind_ops kind_blockio = {
	.name = "blockio",
	.title = "Block I/O",
	.count_unit = "requests",
	.folded_unit = "us",
	.folded_divisor = 1000,
	.weight = PROFILE_WEIGHT_NS,
	.no_memory = PKBPF_COUNTER_EVENTS_NO_MEMORY,
	.losses = {PKBPF_COUNTER_BLOCKIO_LOST},
	.finish = finish,
};
