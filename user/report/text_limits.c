// SPDX-License-Identifier: BSD-2-Clause
/* Writes what cgroups use of the memory that they may use. */
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text_append.h"
#include "profile/account/resource_usage.h"
#include "report/text_sections.h"
#include "report/text_table.h"
#include "rows/cgroup_label.h"
#include "rows/human.h"

#define LINE_SIZE 384

static double share(const struct resource_cgroup_limit *limit)
{
	return (double)limit->memory_used / (double)resource_memory_bound(limit);
}

static int compare(const void *a, const void *b)
{
	double left = share(a), right = share(b);

	return left > right ? -1 : left < right;
}

static void write_limit(const struct text_report *report, const struct resource_cgroup_limit *limit)
{
	char text[LINE_SIZE] = "", name[ROW_CONTAINER_SIZE], a[HUMAN_SIZE], b[HUMAN_SIZE];
	uint64_t bound = resource_memory_bound(limit), interval_ns = text_interval_ns(report);

	cgroup_label(profile_resources(report->profile), limit->cgroup_id, limit->path, name,
		     sizeof(name));
	text_append(text, sizeof(text), "  cgroup %s: %s of %s (%.0f %% of %s)", name,
		    human_bytes(a, limit->memory_used), human_bytes(b, bound), 100 * share(limit),
		    bound == limit->memory_high ? "memory.high" : "its limit");
	if (limit->memory_reached)
		text_append(text, sizeof(text), ", reached %s",
			    human_counted(a, limit->memory_reached, "times"));
	if (limit->memory_kills)
		text_append(text, sizeof(text), ", %s",
			    human_counted(a, limit->memory_kills, "OOM kills"));
	if (limit->memory_pressure_ns && interval_ns)
		text_append(text, sizeof(text), ", waits for memory %.1f %% of the time",
			    100 * (double)limit->memory_pressure_ns / (double)interval_ns);
	text_cut(text, report->width);
	fprintf(report->out, "%s\n", text);
}

size_t text_memory_limits(const struct text_report *report, size_t most)
{
	const struct resource_usage *usage = profile_resources(report->profile);
	ARRAY_OF(struct resource_cgroup_limit) limits = {0};
	struct resource_cgroup_limit limit;
	size_t count;

	for (size_t i = 0; i < resource_usage_cgroup_limit_count(usage); i++) {
		struct resource_cgroup_limit *added;

		if (!resource_usage_cgroup_limit(usage, i, &limit) ||
		    !resource_memory_bound(&limit) || !limit.memory_used) /* empty: tells nothing */
			continue;
		added = array_add(&limits);
		if (added)
			*added = limit;
	}
	if (limits.count)
		qsort(limits.items, limits.count, sizeof(limit), compare);
	count = limits.count < most ? limits.count : most;
	for (size_t i = 0; i < count; i++)
		write_limit(report, &limits.items[i]);
	array_free(&limits);
	return count;
}
