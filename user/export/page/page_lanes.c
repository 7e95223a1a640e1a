// SPDX-License-Identifier: BSD-2-Clause
/* Gives events of lanes their stacks, kinds and wakers, and writes them. */
#include "export/page/page_lanes.h"

#include <errno.h>
#include <stdlib.h>

#include <pkbpf/trace.h>

#include "export/page/page_column.h"
#include "export/page/page_owners.h"
#include "process/process_table.h"

/* ---- stacks ---- */

static bool add_functions(struct page_lanes *lanes, uint32_t stack, size_t *ret_count)
{
	const struct resource_rows *rows = lanes->rows;
	size_t first = lanes->functions.count,
	       count = function_table_stack(rows->functions, rows->profile, stack, NULL, 0);

	if (!array_reserve(&lanes->functions, first + count))
		return false;
	function_table_stack(rows->functions, rows->profile, stack, lanes->functions.items + first,
			     count);
	lanes->functions.count = first + count;
	*ret_count = count;
	return true;
}

static bool add_stack(struct page_lanes *lanes, uint32_t stack)
{
	const struct resource_rows *rows = lanes->rows;
	struct lane_stack *item;
	const uint32_t *functions;
	size_t count;

	if (lanes->stack_of[stack])
		return true;
	item = array_add(&lanes->stacks);
	if (!item || !add_functions(lanes, stack, &count))
		return false;
	functions = lanes->functions.items + lanes->functions.count - count;
	*item = (struct lane_stack){
		.end = lanes->functions.count,
		.class = wait_class_of_functions(rows, functions, count),
		.faults = lane_stack_faults(rows->functions, functions, count),
	};
	lanes->stack_of[stack] = (uint32_t)lanes->stacks.count;
	return true;
}

int page_lanes_make(struct page_lanes *lanes, const struct resource_rows *rows)
{
	int err;

	*lanes = (struct page_lanes){.rows = rows};
	lanes->stack_of = calloc(profile_stack_count(rows->profile) + 1, sizeof(uint32_t));
	err = lanes->stack_of ? lane_list_make(&lanes->list, rows->profile) : -ENOMEM;
	err = err ? err
		  : slow_region_list_sorted(profile_slow_regions(rows->profile), &lanes->regions,
					    &lanes->region_count);
	array_foreach(&lanes->list.waits, event)
		if (!err && !add_stack(lanes, event->moment->stack))
			err = -ENOMEM;
	array_foreach(&lanes->list.samples, event)
		if (!err && !add_stack(lanes, event->moment->stack))
			err = -ENOMEM;
	return err;
}

void page_lanes_done(struct page_lanes *lanes)
{
	lane_list_done(&lanes->list);
	free(lanes->stack_of);
	free(lanes->regions);
	array_free(&lanes->stacks);
	array_free(&lanes->functions);
}

static uint32_t place_of_stack(const struct page_lanes *lanes, const struct lane_event *event)
{
	return lanes->stack_of[event->moment->stack] - 1;
}

static enum wait_class class_of(const struct page_lanes *lanes, const struct lane_event *event)
{
	const struct lane_stack *stack = &lanes->stacks.items[place_of_stack(lanes, event)];

	return wait_class_in_state(stack->class, event->moment->state);
}

static enum lane_kind kind_of(const struct page_lanes *lanes, const struct lane_event *event)
{
	return lane_kind_of_wait(event->moment, class_of(lanes, event),
				 lanes->stacks.items[place_of_stack(lanes, event)].faults);
}

/* ---- the document ---- */

/* The row of the report that a lane's events are in: the first that is known. */
static uint32_t row_of(const struct page_lanes *lanes, const struct lane *lane,
		       const struct hash_map *owners)
{
	enum rows_by by = lanes->rows->by;
	uint32_t row = page_owners_find(owners, by, lane->last);

	for (size_t i = 0; i < lane->wait_count && row == LANE_NONE; i++)
		row = page_owners_find(owners, by,
				       lanes->list.waits.items[lane->first_wait + i].moment);
	for (size_t i = 0; i < lane->sample_count && row == LANE_NONE; i++)
		row = page_owners_find(owners, by,
				       lanes->list.samples.items[lane->first_sample + i].moment);
	return row;
}

/* Times are from the begin of the profile on. */
static uint64_t since_start(const struct page_lanes *lanes, uint64_t time_ns)
{
	uint64_t start_ns = profile_info_read(lanes->rows->profile)->start_ns;

	return time_ns > start_ns ? time_ns - start_ns : 0;
}

static void write_lane(const struct page_lanes *lanes, const struct lane *lane,
		       const struct hash_map *owners, struct json_writer *writer)
{
	const struct profile *profile = lanes->rows->profile;
	const struct process *process =
		process_table_by_id(profile_processes(profile), lane->last->process);
	const char *comm = profile_string(profile, lane->last->comm);
	uint32_t row = row_of(lanes, lane, owners);

	json_writer_array_begin(writer, NULL);
	json_writer_u64(writer, NULL, lane->pid);
	json_writer_u64(writer, NULL, lane->tid);
	json_writer_string(writer, NULL, comm);
	json_writer_string(writer, NULL, process ? process->comm : comm);
	json_writer_i64(writer, NULL, row == LANE_NONE ? -1 : (int64_t)row);
	json_writer_u64(writer, NULL, since_start(lanes, lane->begin_ns));
	json_writer_u64(writer, NULL, since_start(lanes, lane->end_ns));
	json_writer_u64(writer, NULL, lane->last_ran_ns);
	json_writer_u64(writer, NULL, lane->is_complete);
	json_writer_u64(writer, NULL, lane->wait_count);
	json_writer_u64(writer, NULL, lane->sample_count);
	json_writer_array_end(writer);
}

/* The slowest regions and calls stand above the lanes of their threads. */
static void write_regions(const struct page_lanes *lanes, struct json_writer *writer)
{
	const struct profile *profile = lanes->rows->profile;

	json_writer_array_begin(writer, "regions");
	for (size_t i = 0; i < lanes->region_count; i++) {
		const struct slow_region *region = lanes->regions[i];
		uint32_t lane = lane_list_find(&lanes->list, region->tid, region->start_ns);

		if (lane == LANE_NONE)
			continue;
		json_writer_array_begin(writer, NULL);
		json_writer_u64(writer, NULL, lane);
		json_writer_u64(writer, NULL, since_start(lanes, region->start_ns));
		json_writer_u64(writer, NULL, region->wall_ns);
		json_writer_string(writer, NULL, profile_string(profile, region->name));
		json_writer_array_end(writer);
	}
	json_writer_array_end(writer);
}

void page_lanes_write(const struct page_lanes *lanes, const struct hash_map *owners,
		      struct json_writer *writer)
{
	const struct profile_info *info = profile_info_read(lanes->rows->profile);

	json_writer_object_begin(writer, "lanes");
	json_writer_u64(writer, "waits", lanes->list.waits.count);
	json_writer_u64(writer, "samples", lanes->list.samples.count);
	json_writer_u64(writer, "stacks", lanes->stacks.count);
	json_writer_u64(writer, "functions", lanes->functions.count);
	json_writer_u64(writer, "least_ns", info->trace_ns);
	json_writer_u64(writer, "missing",
			info->counters[PKBPF_COUNTER_TRACE_RING_FULL] +
				info->counters[PKBPF_COUNTER_TRACE_TOO_MANY]);
	json_writer_array_begin(writer, "causes");
	for (int i = 0; i < WAIT_CLASS_COUNT; i++)
		json_writer_string(writer, NULL, wait_class_row((enum wait_class)i)->cause);
	json_writer_array_end(writer);
	json_writer_array_begin(writer, "threads");
	array_foreach(&lanes->list.lanes, lane)
		write_lane(lanes, lane, owners, writer);
	json_writer_array_end(writer);
	write_regions(lanes, writer);
	json_writer_object_end(writer);
}

/* ---- columns ---- */

/* 1 + the lane of a thread that is part of a wait's end; 0: none. */
static uint32_t lane_of(const struct page_lanes *lanes, uint32_t tid, uint64_t time_ns)
{
	uint32_t lane = lane_list_find(&lanes->list, tid, time_ns);

	return lane == LANE_NONE ? 0 : lane + 1;
}

static void write_times(const struct page_lanes *lanes, FILE *out)
{
	const struct lane_event *waits = lanes->list.waits.items;
	size_t count = lanes->list.waits.count;

	PAGE_COLUMN(out, double, count, since_start(lanes, waits[i].moment->begin_ns));
	PAGE_COLUMN(out, double, count, waits[i].moment->length_ns);
	PAGE_COLUMN(out, double, count, waits[i].moment->queue_ns);
	PAGE_COLUMN(out, double, count, waits[i].ran_ns);
}

static void write_kinds(const struct page_lanes *lanes, FILE *out)
{
	const struct lane_event *waits = lanes->list.waits.items;
	size_t count = lanes->list.waits.count;

	PAGE_COLUMN(out, uint8_t, count, kind_of(lanes, &waits[i]));
	PAGE_COLUMN(out, uint8_t, count, waits[i].moment->state);
	PAGE_COLUMN(out, uint8_t, count, class_of(lanes, &waits[i]));
	PAGE_COLUMN(out, uint8_t, count,
		    waits[i].moment->wake < PKBPF_WAKES ? waits[i].moment->wake
							: PKBPF_WAKE_UNKNOWN);
	PAGE_COLUMN(out, uint32_t, count, place_of_stack(lanes, &waits[i]));
}

static void write_threads(const struct page_lanes *lanes, FILE *out)
{
	const struct lane_event *waits = lanes->list.waits.items;
	size_t count = lanes->list.waits.count;

	PAGE_COLUMN(out, uint32_t, count, waits[i].moment->waker);
	PAGE_COLUMN(out, uint32_t, count,
		    lane_of(lanes, waits[i].moment->waker,
			    waits[i].moment->begin_ns + waits[i].moment->length_ns));
	PAGE_COLUMN(out, uint32_t, count, waits[i].moment->owner);
	PAGE_COLUMN(out, uint32_t, count,
		    lane_of(lanes, waits[i].moment->owner, waits[i].moment->begin_ns));
}

void page_lanes_write_columns(const struct page_lanes *lanes, const uint32_t *place_of_function,
			      FILE *out)
{
	const struct lane_event *samples = lanes->list.samples.items;

	write_times(lanes, out);
	write_kinds(lanes, out);
	write_threads(lanes, out);
	PAGE_COLUMN(out, double, lanes->list.samples.count,
		    since_start(lanes, samples[i].moment->begin_ns));
	PAGE_COLUMN(out, uint32_t, lanes->list.samples.count, place_of_stack(lanes, &samples[i]));
	PAGE_COLUMN(out, uint32_t, lanes->stacks.count, lanes->stacks.items[i].end);
	PAGE_COLUMN(out, uint32_t, lanes->functions.count,
		    place_of_function[lanes->functions.items[i]]);
}
