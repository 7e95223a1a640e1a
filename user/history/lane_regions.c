// SPDX-License-Identifier: BSD-2-Clause
/* Keeps and writes the regions of lanes. */
#include "history/lane_regions.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/escape.h"

static uint64_t sum(uint64_t left, uint64_t right)
{
	return __builtin_add_overflow(left, right, &left) ? UINT64_MAX : left;
}

int lane_regions_put(struct lane_region **list, size_t points, size_t at, struct string_pool *names,
		     const struct row_region *region)
{
	struct lane_region more = {
		.wall_ns = region->wall_ns, .count = region->count, .missed_ns = region->missed_ns};
	struct lane_region *place;

	if (!region->name || !region->count)
		return 0;
	if (!*list)
		*list = calloc(points, sizeof(**list));
	more.name = string_pool_add(names, region->name);
	if (!*list || more.name == STRING_POOL_NONE)
		return -ENOMEM;
	place = &(*list)[at];
	if (place->count && place->name == more.name) {
		place->wall_ns = sum(place->wall_ns, more.wall_ns);
		place->count = sum(place->count, more.count);
	} else if (!place->count || more.wall_ns > place->wall_ns) {
		*place = more;
	}
	return 0;
}

static size_t number_of(struct lane_region_names *names, uint32_t name)
{
	for (size_t i = 0; i < names->count; i++)
		if (names->strings[i] == name)
			return i;
	if (names->count == LANE_REGION_NAMES_MAX) {
		names->has_other = true;
		return LANE_REGION_NAMES_MAX;
	}
	names->strings[names->count] = name;
	return names->count++;
}

void lane_regions_write(const struct lane_region *list, size_t points,
			struct lane_region_names *names, FILE *out)
{
	if (!list)
		return;
	fputs(",\"regions\":[", out);
	for (size_t i = 0; i < points; i++) {
		fputs(i ? "," : "", out);
		if (list[i].count)
			fprintf(out, "[%zu,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]",
				number_of(names, list[i].name), list[i].wall_ns, list[i].count,
				list[i].missed_ns);
		else
			fputs("null", out);
	}
	fputc(']', out);
}

void lane_region_names_write(const struct lane_region_names *names,
			     const struct string_pool *strings, FILE *out)
{
	fputs(",\"region_names\":[", out);
	for (size_t i = 0; i < names->count; i++) {
		fputs(i ? "," : "", out);
		escape_json(out, string_pool_get(strings, names->strings[i]));
	}
	if (names->has_other)
		fputs(",\"" LANE_REGION_OTHER "\"", out);
	fputc(']', out);
}
