// SPDX-License-Identifier: BSD-2-Clause
/* Marks the processes and stacks that a profile refers to among those it shares with other
 * slices. */
#include "profile/account/account.h"
#include "profile/profile_private.h"

static void mark(bool *is_used, uint32_t number, size_t count)
{
	if (number < count)
		is_used[number] = true;
}

/* Marks processes of earlier slices with changes since, such as their exit. */
static void mark_news(const struct profile *profile, bool *is_used, size_t count)
{
	for (uint32_t id = 0; id < count; id++) {
		if (process_table_has_news(profile->processes, id, profile->info.start_ns))
			is_used[id] = true;
	}
}

void profile_mark_processes(const struct profile *profile, bool *is_used)
{
	size_t count = process_table_count(profile->processes), cursor = 0;
	const struct hash_map_slot *slot;
	const struct distribution *distribution;

	array_foreach(&profile->rows, row)
		mark(is_used, row->process, count);
	while ((slot = hash_map_next(&profile->ends_of_process, &cursor)))
		mark(is_used, (uint32_t)slot->key, count);
	for (size_t i = 0; (distribution = profile_distribution_at(profile, i)); i++)
		mark(is_used, distribution->key.process, count);
	for (enum account i = 0; i < ACCOUNT_COUNT; i++)
		account_mark(i, profile->accounts[i], RECORDED_PROCESS, is_used, count);
	mark_news(profile, is_used, count);
}

void profile_mark_frame_processes(const struct profile *profile, bool *is_used)
{
	size_t count = process_table_count(profile->processes);

	for (size_t i = 0; i < profile_frame_count(profile); i++) {
		const struct frame_location *location =
			&profile_frame(profile, (uint32_t)i)->location;

		if (location->space == FRAME_ANONYMOUS || location->space == FRAME_UNMAPPED)
			mark(is_used, location->object, count);
	}
}

void profile_mark_stacks(const struct profile *profile, bool *is_used)
{
	size_t count = profile_stack_count(profile);

	array_foreach(&profile->rows, row) {
		mark(is_used, row->stack, count);
		if (row->waker)
			mark(is_used, row->waker - 1, count);
	}
	for (enum account i = 0; i < ACCOUNT_COUNT; i++)
		account_mark(i, profile->accounts[i], RECORDED_STACK, is_used, count);
}
