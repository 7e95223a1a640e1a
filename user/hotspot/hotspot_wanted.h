/* SPDX-License-Identifier: BSD-2-Clause */
/* Names in vmStructs, as they were spelled from 8 to 26, and what a layout cannot do without. */
#ifndef PKBPF_HOTSPOT_HOTSPOT_WANTED_H
#define PKBPF_HOTSPOT_HOTSPOT_WANTED_H

#include "hotspot/hotspot_layout.h"

struct hotspot_wanted {
	const char *type, *name;
	uint16_t place; /* of fields in struct hotspot_fields; of others in the layout */
};

extern const struct hotspot_wanted hotspot_wanted_fields[], hotspot_wanted_statics[],
	hotspot_wanted_sizes[];
extern const size_t hotspot_wanted_field_count, hotspot_wanted_static_count,
	hotspot_wanted_size_count;

/* Whether anything of a type is wanted. */
bool hotspot_wants_type(const char *type);
/* Sets layout->missing: the first thing that it lacks, or "". */
void hotspot_wanted_missing(struct hotspot_layout *layout);

#endif
