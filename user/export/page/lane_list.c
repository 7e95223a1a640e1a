// SPDX-License-Identifier: BSD-2-Clause
/* Sorts single events by thread, and takes the accounts of each apart. */
#include "export/page/lane_list.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "process/process_table.h"

struct item {
	uint32_t pid, tid;
	uint64_t begin_ns;
	const struct moment *moment;
};

static int compare_items(const void *left, const void *right)
{
	const struct item *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	/* An account begins before what is in it. */
	if (moment_is_life(a->moment) != moment_is_life(b->moment))
		return moment_is_life(a->moment) ? -1 : 1;
	return a->moment < b->moment ? -1 : a->moment > b->moment;
}

static bool is_of_thread(const struct moment *moment)
{
	return moment->tid &&
	       (moment->kind == PKBPF_PROFILE_OFFCPU || moment->kind == PKBPF_PROFILE_CPU);
}

/* NULL: out of memory. */
static struct item *sort_items(const struct profile *profile, size_t *ret_count)
{
	const struct moment_list *moments = profile_moments(profile);
	struct item *items = calloc(moments->items.count + 1, sizeof(*items));
	size_t count = 0;

	if (!items)
		return NULL;
	array_foreach(&moments->items, moment) {
		const struct process *process =
			process_table_by_id(profile_processes(profile), moment->process);

		if (is_of_thread(moment))
			items[count++] = (struct item){process ? process->pid : 0, moment->tid,
						       moment->begin_ns, moment};
	}
	qsort(items, count, sizeof(*items), compare_items);
	*ret_count = count;
	return items;
}

static bool is_same_thread(const struct item *a, const struct item *b)
{
	return a->pid == b->pid && a->tid == b->tid;
}

static uint64_t end_of(const struct moment *moment)
{
	return moment->begin_ns + moment->length_ns + moment->queue_ns;
}

/* Where items of the next lane begin: at another thread, or at another account of this one. What
 * comes before the first account is of it, too: it may begin with the first switch. */
static size_t lane_end(const struct item *items, size_t count, size_t first)
{
	bool has_life = false;
	size_t i;

	for (i = first; i < count && is_same_thread(&items[first], &items[i]); i++) {
		if (moment_is_life(items[i].moment) && has_life)
			break;
		has_life |= moment_is_life(items[i].moment);
	}
	return i;
}

static void set_bounds(struct lane *lane, const struct item *items, size_t count,
		       const struct moment *life)
{
	lane->begin_ns = items[0].begin_ns;
	lane->end_ns = lane->begin_ns;
	for (size_t i = 0; i < count; i++)
		if (end_of(items[i].moment) > lane->end_ns)
			lane->end_ns = end_of(items[i].moment);
	lane->is_complete = life;
	if (!life)
		return;
	lane->begin_ns = life->begin_ns;
	lane->end_ns = end_of(life);
}

static bool add_event(struct lane_list *list, struct lane *lane, const struct moment *moment,
		      uint64_t *ran_ns)
{
	bool is_wait = moment->kind == PKBPF_PROFILE_OFFCPU;
	struct lane_event *event = is_wait ? array_add(&list->waits) : array_add(&list->samples);

	if (!event)
		return false;
	event->moment = moment;
	if (!is_wait) {
		lane->sample_count++;
		return true;
	}
	lane->wait_count++;
	/* Without an account, what was before is not known. */
	if (moment->ran_ns > *ran_ns && (lane->is_complete || lane->wait_count > 1))
		event->ran_ns = moment->ran_ns - *ran_ns;
	*ran_ns = moment->ran_ns;
	return true;
}

static bool add_lane(struct lane_list *list, const struct item *items, size_t count)
{
	struct lane *lane = array_add(&list->lanes);
	const struct moment *life = NULL;
	uint64_t ran_ns = 0;

	if (!lane)
		return false;
	for (size_t i = 0; i < count; i++)
		if (moment_is_life(items[i].moment))
			life = items[i].moment;
	*lane = (struct lane){
		.pid = items[0].pid,
		.tid = items[0].tid,
		.last = life ? life : items[count - 1].moment,
		.first_wait = list->waits.count,
		.first_sample = list->samples.count,
	};
	set_bounds(lane, items, count, life);
	for (size_t i = 0; i < count; i++)
		if (items[i].moment != life && !add_event(list, lane, items[i].moment, &ran_ns))
			return false;
	if (life && life->ran_ns > ran_ns)
		lane->last_ran_ns = life->ran_ns - ran_ns;
	return true;
}

static int compare_by_tid(const void *left, const void *right, void *context)
{
	const struct lane *lanes = context;
	const struct lane *a = &lanes[*(const uint32_t *)left],
			  *b = &lanes[*(const uint32_t *)right];

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return a < b ? -1 : a > b;
}

static bool sort_by_tid(struct lane_list *list)
{
	list->by_tid = calloc(list->lanes.count + 1, sizeof(*list->by_tid));
	if (!list->by_tid)
		return false;
	for (size_t i = 0; i < list->lanes.count; i++)
		list->by_tid[i] = (uint32_t)i;
	qsort_r(list->by_tid, list->lanes.count, sizeof(*list->by_tid), compare_by_tid,
		list->lanes.items);
	return true;
}

int lane_list_make(struct lane_list *list, const struct profile *profile)
{
	size_t count = 0;
	_cleanup_free_ struct item *items = sort_items(profile, &count);
	bool is_made = items;

	*list = (struct lane_list){0};
	for (size_t i = 0, end; i < count && is_made; i = end) {
		end = lane_end(items, count, i);
		is_made = add_lane(list, &items[i], end - i);
	}
	if (is_made && sort_by_tid(list))
		return 0;
	lane_list_done(list);
	return -ENOMEM;
}

uint32_t lane_list_find(const struct lane_list *list, uint32_t tid, uint64_t time_ns)
{
	size_t low = 0, high = list->lanes.count;
	const struct lane *lane;

	/* The last one that begins at that time or before. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		lane = &list->lanes.items[list->by_tid[middle]];
		if (lane->tid < tid || (lane->tid == tid && lane->begin_ns <= time_ns))
			low = middle + 1;
		else
			high = middle;
	}
	if (!tid || !low)
		return LANE_NONE;
	lane = &list->lanes.items[list->by_tid[low - 1]];
	return lane->tid == tid && time_ns <= lane->end_ns ? list->by_tid[low - 1] : LANE_NONE;
}

void lane_list_done(struct lane_list *list)
{
	array_free(&list->lanes);
	array_free(&list->waits);
	array_free(&list->samples);
	free(list->by_tid);
	*list = (struct lane_list){0};
}
