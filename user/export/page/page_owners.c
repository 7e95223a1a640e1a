// SPDX-License-Identifier: BSD-2-Clause
/* Finds rows of the report as rows of the profile were given to them. */
#include "export/page/page_owners.h"

#include "base/array.h"

/* What a row of the page is of, for single events as for rows of the profile. */
static uint64_t owner_key(enum rows_by by, uint32_t process, uint32_t comm, uint32_t tid,
			  uint32_t stack)
{
	const uint32_t of_thread[] = {process, comm,
				      by == ROWS_BY_THREAD ? tid : PROFILE_NO_THREAD};
	/* Which region it was in, its stack tells. */
	const uint32_t of_region[ARRAY_SIZE(of_thread)] = {stack};
	const uint32_t *words = rows_are_of_regions(by) ? of_region : of_thread;

	return hash_bytes(words, sizeof(of_thread), 0);
}

bool page_owners_map(const struct resource_rows *rows, const uint32_t *index_of_number,
		     uint32_t number_count, struct hash_map *ret_owners)
{
	size_t count;
	const struct profile_row *items = profile_rows(rows->profile, &count);

	for (size_t i = 0; i < count; i++) {
		uint32_t number = rows->places[i].number;
		uint64_t key = owner_key(rows->by, items[i].process, items[i].comm, items[i].tid,
					 items[i].stack);

		if (number < number_count &&
		    !hash_map_put(ret_owners, key, index_of_number[number]))
			return false;
	}
	return true;
}

uint32_t page_owners_find(const struct hash_map *owners, enum rows_by by,
			  const struct moment *moment)
{
	const uint64_t *row = hash_map_find(
		owners, owner_key(by, moment->process, moment->comm, moment->tid, moment->stack));

	return row ? (uint32_t)*row : UINT32_MAX;
}
