// SPDX-License-Identifier: BSD-2-Clause
#include "diff/measure_regions.h"

#include <errno.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "diff/region_values.h"
#include "rows/region_list.h"

static bool add(struct measurement *measurement, enum diff_level level, const char *name,
		double value)
{
	struct diff_key key = {PKBPF_PROFILE_CALLS, level,
			       string_pool_add(measurement->names->texts, name)};

	return key.name != STRING_POOL_NONE &&
	       (value <= 0 || measurement_add(measurement, &key, value, 0));
}

bool measure_region(struct measurement *measurement, const struct region_figures *figures)
{
	char name[REGION_NAME_SIZE];

	snprintf(name, sizeof(name), "%s", figures->name);
	measurement->kinds_mask |= 1U << PKBPF_PROFILE_CALLS;
	if (figures->is_let_go)
		return add(measurement, DIFF_REGION_LET_GO, name, 1);
	return add(measurement, DIFF_REGION_TIME, name, figures->time_ns) &&
	       add(measurement, DIFF_REGION_COUNT, name, figures->calls) &&
	       add(measurement, DIFF_REGION_MEASURED, name, figures->measured);
}

static bool add_buckets(struct measurement *measurement, const struct profile *profile,
			const struct region *region)
{
	char name[REGION_BUCKET_SIZE];

	for (size_t i = 0; i < region->bucket_count; i++) {
		region_bucket_name(name, region->buckets[i].index,
				   profile_string(profile, region->name));
		if (!add(measurement, DIFF_REGION_BUCKET, name, (double)region->buckets[i].count))
			return false;
	}
	return true;
}

int measure_regions(struct measurement *measurement, const struct profile *profile)
{
	_cleanup_(region_list_done) struct region_list list = {0};
	const struct region *region;
	bool added = !region_list_init(&list, profile, REGION_BY_NAME);

	for (size_t i = 0; added && i < list.count; i++) {
		const struct region_line *line = &list.lines[i];

		added = measure_region(measurement,
				       &(struct region_figures){
					       .name = line->name,
					       .time_ns = (double)line->sums.total_ns,
					       .calls = (double)region_line_calls(line),
					       .measured = (double)line->sums.count,
					       .is_let_go = line->is_let_go || line->missed_ns,
				       });
	}
	for (size_t i = 0; added && (region = region_table_at(profile_regions(profile), i)); i++)
		added = add_buckets(measurement, profile, region);
	return added ? 0 : -ENOMEM;
}
