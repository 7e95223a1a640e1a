// SPDX-License-Identifier: BSD-2-Clause
/* Puts rows of one name together. */
#include "rows/row_groups.h"

#include <stdlib.h>
#include <string.h>

#include "rows/figure_table.h"

static void sum_figure(const struct figure *figure, struct resource_row *sum,
		       const struct resource_row *row)
{
	uint64_t value = figure_u64(figure, row), before = figure_u64(figure, sum);
	double share, share_before;

	if (figure->unit == FIGURE_PERCENT) {
		memcpy(&share, &value, sizeof(share));
		memcpy(&share_before, &before, sizeof(share_before));
		share += share_before;
		memcpy(&value, &share, sizeof(value));
	} else if (!figure->is_largest) {
		value += before;
	} else if (before > value) {
		value = before;
	}
	memcpy((char *)sum + figure->offset, &value, sizeof(value));
}

static void group_add(struct row_group *group, const struct resource_row *row, double severity)
{
	struct resource_row *sum = &group->sum;
	const struct row_part *part;

	group->members[group->count++] = row;
	if (!group->worst || severity > group->severity) {
		group->worst = row;
		group->severity = severity;
	}
	sum->known |= row->known;
	sum->processes += row->processes;
	sum->lifetime_ns += row->lifetime_ns;
	for (size_t i = 0; (part = row_part_at(i)); i++)
		for (size_t j = 0; j < part->figure_count; j++)
			sum_figure(&part->figures[j], sum, row);
}

void row_groups_done(struct row_groups *groups)
{
	free(groups->items);
	free(groups->members);
}

static bool same_name(const struct resource_row *a, const struct resource_row *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->container, b->container);
}

static int by_name(const void *left, const void *right)
{
	const struct resource_row *a = *(const struct resource_row *const *)left,
				  *b = *(const struct resource_row *const *)right;
	int order = strcmp(a->name, b->name);

	order = order ? order : strcmp(a->container, b->container);
	return order ? order : (a > b) - (a < b);
}

static int by_severity(const void *left, const void *right)
{
	const struct row_group *a = left, *b = right;

	if (a->severity != b->severity)
		return a->severity > b->severity ? -1 : 1;
	return by_name(&a->worst, &b->worst);
}

/* What the profiler costs, the header tells. Those that read files for it are children of one that
 * keeps them. */
static bool is_own(const struct profile *profile, uint32_t pid)
{
	const struct profile_info *info = profile_info_read(profile);
	const struct resource_usage *usage = profile_resources(profile);
	size_t index;

	if (!info->own_pid || !pid)
		return false;
	if (pid == info->own_pid || pid == info->keeper_pid)
		return true;
	return info->keeper_pid && resource_usage_find(usage, pid, info->end_ns, &index) &&
	       resource_usage_process(usage, index).parent_pid == info->keeper_pid;
}

void row_groups_find(struct row_groups *groups, const struct resource_rows *rows,
		     row_judge_fn judge)
{
	size_t matching = 0;

	*groups = (struct row_groups){
		.items = calloc(rows->all_count + 1, sizeof(*groups->items)),
		.members = calloc(rows->all_count + 1, sizeof(struct resource_row *))};
	if (!groups->items || !groups->members)
		return;
	for (size_t i = 0; i < rows->all_count; i++) {
		if (!is_own(rows->profile, rows->items[i].pid) && judge(rows, &rows->items[i]) >= 0)
			groups->members[matching++] = &rows->items[i];
	}
	qsort(groups->members, matching, sizeof(struct resource_row *), by_name);
	for (size_t i = 0; i < matching; i++) {
		const struct resource_row *row = groups->members[i];

		if (i == 0 || !same_name(row, groups->members[i - 1]))
			groups->items[groups->count++].members = &groups->members[i];
		group_add(&groups->items[groups->count - 1], row, judge(rows, row));
	}
	/* The largest percentile of two rows is none of both together. */
	for (size_t i = 0; i < groups->count; i++)
		if (groups->items[i].count > 1 &&
		    resource_rows_merge_lengths(rows, groups->items[i].members,
						groups->items[i].count, &groups->items[i].sum))
			groups->count = i;
	qsort(groups->items, groups->count, sizeof(*groups->items), by_severity);
}
