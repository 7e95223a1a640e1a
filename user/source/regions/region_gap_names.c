// SPDX-License-Identifier: BSD-2-Clause
#include "source/regions/region_gap_names.h"

#include <errno.h>
#include <string.h>

int region_gap_names_note(struct region_gap_names *names, const char *name, uint64_t missed_ns)
{
	struct region_gap_name new = {.missed_ns = missed_ns}, *known;
	const uint64_t *place;
	uint64_t hash;

	memcpy(new.name, name, strnlen(name, sizeof(new.name) - 1));
	hash = pkbpf_span_name_hash((const __u64 *)new.name);
	place = hash_map_find(&names->places, hash);
	if (place) {
		known = &names->items.items[*place];
		if (missed_ns > known->missed_ns)
			known->missed_ns = missed_ns;
		return 0;
	}
	if (names->items.count >= REGION_GAP_NAMES_MAX)
		return -ENOSPC;
	if (!array_reserve(&names->items, names->items.count + 1) ||
	    !hash_map_put(&names->places, hash, names->items.count))
		return -ENOMEM;
	*array_add(&names->items) = new;
	return 0;
}

int region_gap_names_join(struct region_gap_names *names, const struct region_gap_names *others,
			  uint64_t missed_ns)
{
	int err = 0;

	for (size_t i = 0; i < others->items.count && !err; i++)
		err = region_gap_names_note(names, others->items.items[i].name, missed_ns);
	return err;
}

int region_gap_names_send(const struct region_gap_names *names, uint64_t now_ns,
			  struct event_buffer *buffer)
{
	array_foreach(&names->items, item) {
		struct pkbpf_event_region_gap *record = event_buffer_add(
			buffer, sizeof(*record), PKBPF_EVENT_REGION_GAP, 0, now_ns);

		if (!record)
			return -ENOMEM;
		record->missed_ns = item->missed_ns;
		memcpy(record->name, item->name, sizeof(record->name));
	}
	return 0;
}

void region_gap_names_done(struct region_gap_names *names)
{
	array_free(&names->items);
	hash_map_done(&names->places);
}
