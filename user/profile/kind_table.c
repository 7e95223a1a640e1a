// SPDX-License-Identifier: BSD-2-Clause
// Names and units of the profile kinds.
#include "profile/kind_table.h"

static const struct profile_kind_row kind_rows[PKBPF_PROFILE_KINDS] = {
	[PKBPF_PROFILE_CPU] =
		{
			.name = "cpu",
			.title = "CPU",
			.count_unit = "samples",
			.folded_unit = "samples",
			.folded_divisor = 1,
			.weight = PROFILE_WEIGHT_COUNT,
		},
	[PKBPF_PROFILE_OFFCPU] =
		{
			.name = "offcpu",
			.title = "Off-CPU",
			.count_unit = "waits",
			.folded_unit = "us",
			.folded_divisor = 1000,
			.weight = PROFILE_WEIGHT_NS,
		},
	[PKBPF_PROFILE_BLOCKIO] =
		{
			.name = "blockio",
			.title = "Block I/O",
			.count_unit = "requests",
			.folded_unit = "us",
			.folded_divisor = 1000,
			.weight = PROFILE_WEIGHT_NS,
		},
	[PKBPF_PROFILE_FAULTS] =
		{
			.name = "faults",
			.title = "Page faults",
			.count_unit = "faults",
			.folded_unit = "faults",
			.folded_divisor = 1,
			.weight = PROFILE_WEIGHT_COUNT,
		},
};

static const struct profile_kind_row unknown_kind = {
	.name = "unknown",
	.title = "Unknown kind",
	.count_unit = "events",
	.folded_unit = "events",
	.folded_divisor = 1,
	.weight = PROFILE_WEIGHT_COUNT,
};

const struct profile_kind_row *profile_kind_row(enum pkbpf_profile_kind kind)
{
	if ((unsigned int)kind >= PKBPF_PROFILE_KINDS)
		return &unknown_kind;
	return &kind_rows[kind];
}

uint64_t profile_kind_folded(enum pkbpf_profile_kind kind, uint64_t weight)
{
	uint64_t divisor = profile_kind_row(kind)->folded_divisor;

	/* Not (weight + divisor / 2) / divisor: a hostile recording may hold a weight near the
	 * maximum. */
	return weight / divisor + (weight % divisor >= (divisor + 1) / 2 ? 1 : 0);
}
