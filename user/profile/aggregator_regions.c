// SPDX-License-Identifier: BSD-2-Clause
/* Adds times of regions, and slow ones one by one. */
#include <errno.h>
#include <string.h>

#include "event/region_event.h"
#include "profile/aggregator_private.h"

/* Adds to the region at the end of the path; regions around it are added when they are new.
 */
static int add_region(struct profile *profile, uint32_t process, const struct region_view *view)
{
	const struct pkbpf_event_region *record = view->record;
	struct region_sums sums = {
		.count = record->count,
		.lost_end = record->lost_end,
		.interleaved = record->interleaved,
		.unfinished = record->unfinished,
		.recursive = record->recursive,
		.unmeasured = record->unmeasured,
		.total_ns = record->total_ns,
		.self_ns = record->self_ns,
		.max_ns = record->max_ns,
		.items = record->items,
		.minor_faults = record->minor_faults,
		.major_faults = record->major_faults,
		.read_bytes = record->read_bytes,
		.written_bytes = record->written_bytes,
		.rss_readings = record->rss_readings,
		.rss_sum_kib = record->rss_sum_kib,
		.rss_max_kib = record->rss_max_kib,
		.rss_growth_kib = record->rss_growth_kib,
		.limit_ns = record->limit_ns,
		.over = record->over,
	};
	struct region_bucket buckets[PKBPF_HISTOGRAM_BUCKETS];
	int64_t place = REGION_ROOT;

	for (int i = 0; i < PKBPF_WAIT_STATES; i++)
		sums.part_ns[i] = record->part_ns[i];
	for (size_t i = 0; i < view->bucket_count; i++)
		buckets[i] = (struct region_bucket){view->buckets[i].index, view->buckets[i].count};
	for (size_t i = 0; i < view->depth && place >= 0; i++) {
		uint32_t name = profile_intern_comm(profile, region_view_name(view, i));

		if (name == UINT32_MAX)
			return -ENOMEM;
		place = region_table_get(profile_regions(profile), process, (uint32_t)place, name,
					 i + 1 == view->depth ? record->header.flags : 0);
	}
	return place < 0 ? (int)place
			 : region_table_add(profile_regions(profile), (uint32_t)place, &sums,
					    buckets, view->bucket_count);
}

int aggregator_take_region(struct aggregator *aggregator, const struct pkbpf_event_header *record)
{
	struct region_view view;
	struct process *process;
	int err = region_event_decode(record, &view);

	if (err)
		return err;
	process = process_table_get_late(aggregator->processes, view.record->pid, "");
	if (!process)
		return -ENOMEM;
	return add_region(aggregator_slice(aggregator, record->time_ns), process->id, &view);
}

int aggregator_take_region_name(struct aggregator *aggregator,
				const struct pkbpf_event_header *record)
{
	int err = region_name_check(record);

	return err ? err : region_names_put(&aggregator->regions, (const void *)record);
}

int aggregator_take_region_gap(struct aggregator *aggregator,
			       const struct pkbpf_event_header *header)
{
	const struct pkbpf_event_region_gap *record = (const void *)header;
	struct profile *profile = aggregator_slice(aggregator, header->time_ns);
	struct region_gap gap = {.missed_ns = record->missed_ns};
	int err = region_gap_check(header);

	if (err)
		return err;
	gap.name = profile_intern_comm(profile, record->name);
	return gap.name == UINT32_MAX ? -ENOMEM
				      : region_gaps_add(profile_region_gaps(profile), &gap);
}

int aggregator_take_slow_region(struct aggregator *aggregator,
				const struct pkbpf_event_header *header)
{
	const struct pkbpf_event_slow_region *record = (const void *)header;
	struct profile *profile = aggregator_slice(aggregator, header->time_ns);
	const struct numbered_stack *stack;
	const struct process *process;
	struct slow_region region;
	int err = slow_region_check(header);

	if (err)
		return err;
	stack = aggregator_find_stack(aggregator, record->stack_id, header->time_ns);
	process = aggregator_process_of_stack(aggregator, record->pid, record->comm, stack);
	region = (struct slow_region){
		.process = process ? process->id : 0,
		.tid = record->tid,
		.comm = profile_intern_comm(profile, record->comm),
		.name = profile_intern_comm(profile, record->name),
		.stack = aggregator_stack_of(aggregator, profile, stack),
		.flags = header->flags,
		.cgroup_id = record->cgroup_id,
		.start_ns = record->start_ns,
		.wall_ns = record->wall_ns,
	};
	memcpy(region.part_ns, record->part_ns, sizeof(region.part_ns));
	if (!process || region.comm == UINT32_MAX || region.name == UINT32_MAX ||
	    region.stack == UINT32_MAX)
		return -ENOMEM;
	return slow_region_list_add(profile_slow_regions(profile), &region);
}
