// SPDX-License-Identifier: BSD-2-Clause
/* The profile kinds: one row of PKBPF_PROFILE_KIND_LIST each. */
#include "profile/kind_table.h"

static const struct kind_ops *const kinds[PKBPF_PROFILE_KINDS] = {
#define X(constant, number, name) [number] = &kind_##name,
	PKBPF_PROFILE_KIND_LIST(X)
#undef X
};

static const struct kind_ops unknown_kind = {
	.name = "unknown",
	.title = "Unknown kind",
	.count_unit = "events",
	.folded_unit = "events",
	.folded_divisor = 1,
	.weight = PROFILE_WEIGHT_COUNT,
	.no_memory = PKBPF_COUNTER_EVENTS_NO_MEMORY,
};

const struct kind_ops *kind_ops_of(enum pkbpf_profile_kind kind)
{
	return (unsigned int)kind < PKBPF_PROFILE_KINDS ? kinds[kind] : &unknown_kind;
}

uint64_t profile_kind_lost(enum pkbpf_profile_kind kind,
			   const uint64_t counters[PKBPF_COUNTER_COUNT])
{
	const enum pkbpf_counter *loss = kind_ops_of(kind)->losses;
	uint64_t sum = 0;

	while (*loss)
		sum += counters[*loss++];
	return sum;
}

uint32_t profile_kinds_expected(void)
{
	uint32_t mask = 0;

	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS; kind++)
		mask |= kinds[kind]->is_expected ? 1U << kind : 0;
	return mask;
}

int profile_kinds_finish(struct profile *profile)
{
	int err = 0;

	for (unsigned int kind = 0; kind < PKBPF_PROFILE_KINDS; kind++) {
		int result = kinds[kind]->finish ? kinds[kind]->finish(profile) : 0;

		err = err ? err : result;
	}
	return err;
}

const char *kind_measure(const struct kind_ops *kind)
{
	switch (kind->weight) {
	case PROFILE_WEIGHT_NS:
		return "time";
	case PROFILE_WEIGHT_BYTES:
		return "bytes";
	case PROFILE_WEIGHT_COUNT:
		break;
	}
	return kind->count_unit;
}

uint64_t profile_kind_folded(enum pkbpf_profile_kind kind, uint64_t weight)
{
	uint64_t divisor = kind_ops_of(kind)->folded_divisor;

	/* Not (weight + divisor / 2) / divisor: a hostile recording may hold a weight near the
	 * maximum. */
	return weight / divisor + (weight % divisor >= (divisor + 1) / 2 ? 1 : 0);
}
