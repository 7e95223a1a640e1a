// SPDX-License-Identifier: BSD-2-Clause
/* Keeps the names of regions. */
#include "profile/region_names.h"

#include <errno.h>
#include <string.h>

void region_names_done(struct region_names *names)
{
	array_free(&names->items);
}

int region_names_put(struct region_names *names, const struct pkbpf_event_region_name *record)
{
	struct region_name *item;

	while (names->items.count <= record->number)
		if (!array_add(&names->items))
			return -ENOMEM;
	item = &names->items.items[record->number];
	item->parent = record->parent;
	memcpy(item->name, record->name, sizeof(item->name));
	return 0;
}

const struct region_name *region_names_get(const struct region_names *names, uint32_t number)
{
	return number < names->items.count && names->items.items[number].name[0]
		       ? &names->items.items[number]
		       : NULL;
}
