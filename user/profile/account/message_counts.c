// SPDX-License-Identifier: BSD-2-Clause
/* Scales the messages and bytes of sampled stacks to the exact sums of each process. */
#include "profile/account/message_counts.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/hash_map.h"
#include "profile/profile_private.h"

/* Messages of one process in one direction. */
struct message_sums {
	uint32_t process;
	uint8_t state;
	uint64_t exact_count, exact_bytes;
	unsigned __int128 count, bytes;		      /* of all its rows */
	unsigned __int128 count_so_far, bytes_so_far; /* of the rows that are scaled */
	uint64_t count_given, bytes_given;
};

struct message_scaling {
	ARRAY_OF(struct message_sums) sums;
	struct hash_map numbers; /* process and direction -> number of its sums */
};

static void scaling_done(struct message_scaling *scaling)
{
	array_free(&scaling->sums);
	hash_map_done(&scaling->numbers);
}

static uint64_t key_of(uint32_t process, uint8_t state)
{
	return (uint64_t)process << 8 | state;
}

static struct message_sums *sums_of(struct message_scaling *scaling, const struct profile_row *row)
{
	const uint64_t *number =
		row->kind == PKBPF_PROFILE_NETWORK
			? hash_map_find(&scaling->numbers, key_of(row->process, row->state))
			: NULL;

	return number ? &scaling->sums.items[*number] : NULL;
}

static int add_exact(struct message_scaling *scaling, const struct distribution *part)
{
	uint64_t *number;
	struct message_sums *sums;
	bool added;

	if (part->key.kind != PKBPF_PROFILE_NETWORK || part->key.measure != PKBPF_NETWORK_MESSAGES)
		return 0;
	if (!array_reserve(&scaling->sums, scaling->sums.count + 1))
		return -ENOMEM;
	number = hash_map_get(&scaling->numbers, key_of(part->key.process, part->key.state),
			      scaling->sums.count, &added);
	if (!number)
		return -ENOMEM;
	if (added)
		*array_add(&scaling->sums) = (struct message_sums){.process = part->key.process,
								   .state = part->key.state};
	sums = &scaling->sums.items[*number];
	sums->exact_count += part->count;
	sums->exact_bytes += part->bytes;
	return 0;
}

/* The share of the part in the whole, times exact, without what was given before: the difference of
 * rounded running sums, so that rounding errors do not add up. */
static uint64_t share(unsigned __int128 so_far, unsigned __int128 whole, uint64_t exact,
		      uint64_t *given)
{
	/* Sums in hostile recordings may have any value. */
	uint64_t until = whole && whole <= UINT64_MAX ? (uint64_t)(so_far * exact / whole) : *given,
		 more = until - *given;

	*given = until;
	return more;
}

static void scale_row(struct message_sums *sums, struct profile_row *row)
{
	sums->count_so_far += row->count;
	sums->bytes_so_far += row->weight;
	row->count = share(sums->count_so_far, sums->count, sums->exact_count, &sums->count_given);
	row->weight = share(sums->bytes_so_far, sums->bytes, sums->exact_bytes, &sums->bytes_given);
}

/* What no stack stands for. */
static int add_rest(struct profile *profile, const struct message_sums *sums)
{
	const struct process *process = process_table_by_id(profile->processes, sums->process);
	struct profile_row row = {
		.kind = PKBPF_PROFILE_NETWORK,
		.process = sums->process,
		.tid = PROFILE_NO_THREAD,
		.comm = profile_intern_comm(profile, process ? process->comm : ""),
		.stack = profile_intern_stack(profile, NULL, 0),
		.state = sums->state,
		.count = sums->exact_count - sums->count_given,
		.weight = sums->exact_bytes - sums->bytes_given,
	};

	if (!row.count && !row.weight)
		return 0;
	if (row.comm == UINT32_MAX || row.stack == UINT32_MAX)
		return -ENOMEM;
	return profile_add(profile, &row);
}

int profile_scale_messages(struct profile *profile)
{
	_cleanup_(scaling_done) struct message_scaling scaling = {0};
	const struct distribution *part;
	struct message_sums *sums;
	int err = 0;

	for (size_t i = 0; !err && (part = profile_distribution_at(profile, i)); i++)
		err = add_exact(&scaling, part);
	if (err)
		return err;
	array_foreach(&profile->rows, row) {
		sums = sums_of(&scaling, row);
		if (sums) {
			sums->count += row->count;
			sums->bytes += row->weight;
		}
	}
	array_foreach(&profile->rows, row) {
		sums = sums_of(&scaling, row);
		if (sums)
			scale_row(sums, row);
	}
	array_foreach(&scaling.sums, rest)
		err = err ? err : add_rest(profile, rest);
	return err;
}
