// SPDX-License-Identifier: BSD-2-Clause
/* Groups regions and puts them into the order of a tree. */
#include "rows/region_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "rows/human.h"
#include "rows/region_heap.h"
#include "rows/resource_rows.h"

DEFINE_CLEANUP(struct region_table *, region_table_free)

struct listing {
	const struct profile *profile;
	struct region_table *merged;
	uint32_t *children, *next; /* first child and next sibling of each merged region */
	bool *is_scoped;	   /* of each merged region: not only by number */
};

static const struct process *process_of(const struct profile *profile, uint32_t id)
{
	return process_table_by_id(profile_processes(profile), id);
}

/* The first process with regions and the same comm. */
static uint32_t representative(const struct profile *profile, uint32_t process)
{
	const struct region_table *table = profile_regions(profile);
	const struct process *this = process_of(profile, process), *other;

	for (size_t i = 0; this && i < region_table_count(table); i++) {
		uint32_t id = region_table_at(table, i)->process;

		other = id == process ? this : process_of(profile, id);
		if (other && strcmp(other->comm, this->comm) == 0)
			return id;
	}
	return process;
}

static uint32_t group_of(const struct profile *profile, const struct region *region,
			 enum region_grouping grouping)
{
	return grouping == REGION_BY_PROCESS ? region->process
	       : grouping == REGION_BY_COMM  ? representative(profile, region->process)
					     : 0;
}

static bool is_inside_its_like(const struct region_table *table, const struct region *region)
{
	uint32_t name = region->name;

	while (region->parent != REGION_ROOT) {
		region = region_table_at(table, region->parent);
		if (region->name == name)
			return true;
	}
	return false;
}

static struct region_sums sums_for(const struct region_table *table, const struct region *region,
				   enum region_grouping grouping)
{
	const struct region_sums *sums = &region->sums;

	if (grouping != REGION_BY_NAME || !is_inside_its_like(table, region))
		return *sums;
	return (struct region_sums){
		.count = sums->count,
		.lost_end = sums->lost_end,
		.interleaved = sums->interleaved,
		.unfinished = sums->unfinished,
		.recursive = sums->recursive,
		.unmeasured = sums->unmeasured,
		.self_ns = sums->self_ns,
		.max_ns = sums->max_ns,
		.limit_ns = sums->limit_ns,
		.over = sums->over,
		.rss_readings = sums->rss_readings,
		.rss_sum_kib = sums->rss_sum_kib,
		.rss_max_kib = sums->rss_max_kib,
	};
}

static int merge(const struct listing *work, enum region_grouping grouping)
{
	const struct profile *profile = work->profile;
	struct region_table *merged = work->merged;
	const struct region_table *table = profile_regions(profile);
	size_t count = region_table_count(table);
	_cleanup_free_ uint32_t *places = malloc((count + 1) * sizeof(*places));
	int err = places ? 0 : -ENOMEM;
	uint32_t process = UINT32_MAX, group = 0;

	for (size_t i = 0; i < count && !err; i++) {
		const struct region *region = region_table_at(table, i);
		struct region_sums sums = sums_for(table, region, grouping);
		bool is_flat = grouping == REGION_BY_NAME || region->parent == REGION_ROOT;
		int64_t place;

		/* Those of one process are mostly one after the other. */
		if (region->process != process)
			group = group_of(profile, region, grouping);
		process = region->process;
		place = region_table_get(
			merged, group, is_flat ? REGION_ROOT : places[region->parent], region->name,
			grouping == REGION_BY_NAME ? region->flags & ~PKBPF_REGION_BY_ID
						   : region->flags);
		if (place < 0)
			return (int)place;
		places[i] = (uint32_t)place;
		work->is_scoped[place] |= !(region->flags & PKBPF_REGION_BY_ID);
		err = region_table_add(merged, places[i], &sums, region->buckets,
				       region->bucket_count);
	}
	return err;
}

/* Names that were not counted once, perhaps since they had no probes. */
static int add_gaps(const struct listing *work)
{
	const struct region_gaps *gaps = profile_region_gaps(work->profile);

	array_foreach(&gaps->items, gap) {
		int64_t place = region_table_get(work->merged, 0, REGION_ROOT, gap->name, 0);

		if (place < 0)
			return (int)place;
		work->is_scoped[place] = true;
	}
	return 0;
}

struct ranked {
	const struct region *region;
	uint32_t number;
};

static int compare(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;
	uint64_t a_ns = a->region->sums.total_ns, b_ns = b->region->sums.total_ns;

	if (a_ns != b_ns)
		return a_ns < b_ns ? -1 : 1;
	return a->number > b->number ? -1 : a->number < b->number;
}

/* Links siblings, the longest first. The last element of `children` is the list of roots. */
static int link_children(struct listing *work)
{
	size_t count = region_table_count(work->merged);
	_cleanup_free_ struct ranked *ranked = malloc((count + 1) * sizeof(*ranked));

	if (!ranked)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		ranked[i] = (struct ranked){region_table_at(work->merged, i), i};
	qsort(ranked, count, sizeof(*ranked), compare);
	for (size_t i = 0; i <= count; i++)
		work->children[i] = REGION_ROOT;
	/* Each goes before those that were there. */
	for (size_t i = 0; i < count; i++) {
		uint32_t parent = ranked[i].region->parent;
		uint32_t *list = &work->children[parent == REGION_ROOT ? count : parent];

		work->next[ranked[i].number] = *list;
		*list = ranked[i].number;
	}
	return 0;
}

static void fill_times(struct region_line *line, const struct region *region)
{
	if (region->bucket_count) {
		line->p50_ns = region_percentile_ns(region, 500);
		line->p95_ns = region_percentile_ns(region, 950);
		line->p99_ns = region_percentile_ns(region, 990);
	}
	if (region->sums.total_ns)
		line->items_per_second =
			(double)region->sums.items * NS_PER_SECOND / (double)region->sums.total_ns;
}

static void add_line(struct region_list *list, const struct listing *work, uint32_t number,
		     uint32_t parent, enum region_grouping grouping)
{
	const struct region *region = region_table_at(work->merged, number);
	struct region_line *line = &list->lines[list->count++];
	const struct process *process =
		grouping == REGION_BY_NAME ? NULL : process_of(work->profile, region->process);

	*line = (struct region_line){
		.name = profile_string(work->profile, region->name),
		.comm = process ? process->comm : "",
		.pid = process && grouping == REGION_BY_PROCESS && process_has_pid(process)
			       ? process->pid
			       : 0,
		.parent = parent,
		.depth = parent == REGION_ROOT ? 0 : list->lines[parent].depth + 1,
		.by_id = !work->is_scoped[number],
		.is_request = region->flags & PKBPF_REGION_REQUEST,
		.is_function = region->flags & PKBPF_REGION_FUNCTION,
		.is_let_go = region->flags & PKBPF_REGION_LET_GO,
		.sums = region->sums,
		.missed_ns =
			region->flags & PKBPF_REGION_REQUEST
				? 0
				: region_gaps_of(profile_region_gaps(work->profile), region->name),
		.self_ns = region->sums.total_ns,
	};
	fill_times(line, region);
	if (line->is_function)
		line->self_ns = region->sums.self_ns;
	if (parent != REGION_ROOT) {
		uint64_t *self_ns = &list->lines[parent].self_ns;

		if (list->lines[parent].is_function)
			return;
		*self_ns -= line->sums.total_ns < *self_ns ? line->sums.total_ns : *self_ns;
	}
}

/* As row_cpu.c does for processes. */
static void share_energy(struct region_list *list, const struct profile *profile)
{
	const struct machine_figures *figures = &profile_info_read(profile)->machine;
	struct resource_machine machine = resource_usage_machine(profile_resources(profile));

	if (!figures->energy_ns || !machine.known || !machine.busy_ns)
		return;
	for (size_t i = 0; i < list->count; i++)
		list->lines[i].energy_mj =
			human_whole((double)figures->energy_uj / 1000 *
				    row_ratio((double)list->lines[i].sums.part_ns[PKBPF_WAIT_NONE],
					      (double)machine.busy_ns));
}

struct waiting {
	uint32_t number;
	uint32_t parent; /* line */
};

/* Depth first: a region's children come before its next sibling. */
static int list_lines(struct region_list *list, const struct listing *work,
		      enum region_grouping grouping)
{
	size_t count = region_table_count(work->merged), depth = 0;
	_cleanup_free_ struct waiting *stack = malloc((count + 2) * sizeof(*stack));

	if (!stack)
		return -ENOMEM;
	if (work->children[count] != REGION_ROOT)
		stack[depth++] = (struct waiting){work->children[count], REGION_ROOT};
	while (depth) {
		struct waiting at = stack[--depth];
		uint32_t line = (uint32_t)list->count, sibling = work->next[at.number],
			 child = work->children[at.number];

		add_line(list, work, at.number, at.parent, grouping);
		if (sibling != REGION_ROOT)
			stack[depth++] = (struct waiting){sibling, at.parent};
		if (child != REGION_ROOT)
			stack[depth++] = (struct waiting){child, line};
	}
	return 0;
}

int region_list_init(struct region_list *list, const struct profile *profile,
		     enum region_grouping grouping)
{
	_cleanup_(region_table_free_cleanup) struct region_table *merged = region_table_new();
	size_t count = region_table_count(profile_regions(profile)) +
		       profile_region_gaps(profile)->items.count;
	_cleanup_free_ uint32_t *links = malloc((2 * count + 2) * sizeof(*links));
	_cleanup_free_ bool *is_scoped = calloc(count + 1, sizeof(*is_scoped));
	struct listing work = {.profile = profile, .merged = merged, .is_scoped = is_scoped};
	int err;

	*list = (struct region_list){.lines = calloc(count + 1, sizeof(*list->lines))};
	if (!merged || !links || !is_scoped || !list->lines) {
		region_list_done(list);
		return -ENOMEM;
	}
	work.children = links;
	work.next = links + count + 1;
	err = merge(&work, grouping);
	if (grouping == REGION_BY_NAME)
		err = err ? err : add_gaps(&work);
	err = err ? err : link_children(&work);
	err = err ? err : list_lines(list, &work, grouping);
	share_energy(list, profile);
	err = err ? err : region_heap_add(list, profile, grouping);
	if (err)
		region_list_done(list);
	return err;
}

void region_list_done(struct region_list *list)
{
	free(list->lines);
	*list = (struct region_list){0};
}

const struct region_line *region_list_find(const struct region_list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (!list->lines[i].is_request && strcmp(list->lines[i].name, name) == 0)
			return &list->lines[i];
	return NULL;
}
