// SPDX-License-Identifier: BSD-2-Clause
/* Finds the row of a process, a thread or a group, made when it is the first. */
#include <stdio.h>
#include <string.h>

#include "base/string_pool.h"
#include "process/cgroup/cgroup_name.h"
#include "rows/cgroup_label.h"
#include "rows/resource_rows_work.h"

static void name_container(const struct rows_work *work, uint64_t cgroup_id,
			   struct resource_row *row)
{
	struct cgroup_name name;

	row->cgroup = resource_usage_cgroup(work->usage, cgroup_id);
	if (!row->cgroup)
		return;
	cgroup_name_parse(row->cgroup, &name);
	/* The root is everybody's who is in nothing. */
	if (!name.runtime && !name.unit[0] && !row->cgroup[1] &&
	    work->rows->by != ROWS_BY_CONTAINER)
		return;
	cgroup_label(work->usage, cgroup_id, row->cgroup, row->container, sizeof(row->container));
}

uint32_t rows_work_new_row(struct rows_work *work)
{
	struct resource_row *row = work->items.count < NO_ROW - 1 ? array_add(&work->items) : NULL;

	if (!row)
		return NO_ROW;
	row->number = (uint32_t)(work->items.count - 1);
	row->started_inside = row->ended_inside = true; /* until one is seen that was not */
	for (size_t kind = 0; kind < PKBPF_PROFILE_KINDS; kind++)
		row->stacks[kind].stack = ROW_NO_STACK;
	return (uint32_t)(work->items.count - 1);
}

uint32_t rows_work_named_row(struct rows_work *work, const char *name)
{
	uint32_t string = string_pool_add(work->names, name);
	uint64_t *row;
	bool added;

	if (string == STRING_POOL_NONE)
		return NO_ROW;
	row = hash_map_get(&work->row_of_name, string, work->items.count, &added);
	if (row && added && rows_work_new_row(work) == NO_ROW)
		return NO_ROW;
	return row ? (uint32_t)*row : NO_ROW;
}

/* Digits of a comm number its instances: pool-1-worker-7 is pool-*-worker-*. */
static void name_without_digits(char name[ROW_NAME_SIZE], const char *comm)
{
	size_t length = 0;

	for (; *comm && length + 1 < ROW_NAME_SIZE; comm++) {
		if (*comm < '0' || *comm > '9')
			name[length++] = *comm;
		else if (!length || name[length - 1] != '*')
			name[length++] = '*';
	}
	name[length] = '\0';
}

uint32_t rows_work_process_row(struct rows_work *work, uint32_t pid, const char *comm,
			       uint64_t cgroup_id)
{
	struct resource_row who = {0};
	char name[ROW_NAME_SIZE];
	uint32_t row;

	name_container(work, cgroup_id, &who);
	switch (work->rows->by) {
	case ROWS_BY_CONTAINER:
		row = rows_work_named_row(work, who.container[0] ? who.container : "[unknown]");
		break;
	case ROWS_BY_NAME:
		name_without_digits(name, comm);
		row = rows_work_named_row(work, name);
		/* One that all have stays as it is: python3, cc1. */
		if (row != NO_ROW && work->items.items[row].name[0] &&
		    strcmp(work->items.items[row].name, comm) != 0)
			comm = name;
		break;
	case ROWS_BY_COMM:
		row = rows_work_named_row(work, comm);
		break;
	case ROWS_BY_REGION:
	case ROWS_BY_LABEL:
		return rows_work_region_row(work, rows_rest_name(work->rows->by));
	default:
		row = rows_work_new_row(work);
	}
	if (row == NO_ROW)
		return row;
	if (work->rows->by == ROWS_BY_CONTAINER) {
		snprintf(work->items.items[row].container, ROW_CONTAINER_SIZE, "%s",
			 who.container[0] ? who.container : "[unknown]");
		work->items.items[row].cgroup = who.cgroup;
		return row;
	}
	snprintf(work->items.items[row].name, sizeof(work->items.items[row].name), "%s", comm);
	if (work->rows->by != ROWS_BY_COMM && work->rows->by != ROWS_BY_NAME) {
		/* Numbers above those of processes stand for nobody in particular. */
		work->items.items[row].pid = pid & PKBPF_PID_WRITEBACK ? 0 : pid;
		memcpy(work->items.items[row].container, who.container, sizeof(who.container));
		work->items.items[row].cgroup = who.cgroup;
	}
	return row;
}

uint32_t rows_work_thread_row(struct rows_work *work, uint64_t owner, uint32_t tid,
			      uint32_t process_row, const char *comm)
{
	struct resource_row *row, *process;
	char name[ROW_NAME_SIZE];
	uint64_t *slot;
	bool added;

	/* It may be in a row, and rows move when one is added. */
	snprintf(name, sizeof(name), "%s", comm);
	slot = hash_map_get(&work->row_of_thread, owner << 32 | tid, work->items.count, &added);
	if (!slot || (added && rows_work_new_row(work) == NO_ROW))
		return NO_ROW;
	if (!added)
		return (uint32_t)*slot;
	row = &work->items.items[*slot];
	process = &work->items.items[process_row];
	row->pid = process->pid;
	row->tid = tid;
	memcpy(row->container, process->container, sizeof(row->container));
	row->cgroup = process->cgroup;
	memcpy(row->name, name, sizeof(name));
	return (uint32_t)*slot;
}

uint64_t rows_work_lifetime_ns(const struct rows_work *work, uint64_t start_ns, uint64_t end_ns)
{
	const struct profile_info *info = profile_info_read(work->profile);

	if (start_ns < info->start_ns)
		start_ns = info->start_ns;
	if (!end_ns || end_ns > info->end_ns)
		end_ns = info->end_ns;
	return end_ns > start_ns ? end_ns - start_ns : 0;
}

void resource_row_add_life(struct resource_row *row, bool started_inside, bool ended_inside,
			   uint64_t life_ns)
{
	row->started_inside = row->started_inside && started_inside;
	row->ended_inside = row->ended_inside && ended_inside;
	if (life_ns > row->lifetime_ns)
		row->lifetime_ns = life_ns;
}

/* Its number in the account; false: it is not in it. */
static bool find_in_account(const struct rows_work *work, const struct process *process,
			    size_t *ret_index)
{
	if (!resource_usage_known(work->usage))
		return false;
	if (process->members)
		return resource_usage_find_group(work->usage, process->comm, process->cgroup_id,
						 ret_index);
	return resource_usage_find(work->usage, process->pid,
				   process->start_ns ? process->start_ns : process->end_ns,
				   ret_index) &&
	       work->row_of_usage.items[*ret_index] != NO_ROW;
}

/* Of a process that is not in the account, or of none when it is not known. NO_ROW: out of memory.
 */
static uint32_t unaccounted_row(struct rows_work *work, uint32_t id, const struct process *process)
{
	struct resource_row *row;
	uint64_t *slot;
	uint32_t number;
	bool added;

	slot = hash_map_get(&work->row_of_process, id, NO_ROW, &added);
	if (!slot)
		return NO_ROW;
	if (!added)
		return (uint32_t)*slot;
	number = rows_work_process_row(work, process ? process->pid : 0,
				       process ? process->comm : "[unknown]",
				       process ? process->cgroup_id : 0);
	if (number == NO_ROW)
		return NO_ROW;
	*slot = number;
	row = &work->items.items[number];
	if (rows_are_of_regions(work->rows->by))
		return number;
	row->processes += process && process->members ? process->members : 1;
	if (process) {
		row->threads += process->thread_count;
		resource_row_add_life(
			row, process->started_inside, process->end_ns,
			rows_work_lifetime_ns(work, process->start_ns, process->end_ns));
	}
	return number;
}

uint32_t rows_work_find_row(const struct rows_work *work, uint32_t id)
{
	const struct process *process = process_table_by_id(profile_processes(work->profile), id);
	const uint64_t *row;
	size_t index;

	if (process && find_in_account(work, process, &index))
		return work->row_of_usage.items[index];
	row = hash_map_find(&work->row_of_process, id);
	return row ? (uint32_t)*row : NO_ROW;
}

uint32_t rows_work_row(struct rows_work *work, uint32_t id, uint32_t tid)
{
	const struct process *process = process_table_by_id(profile_processes(work->profile), id);
	uint64_t owner = (1ULL << 31) | id;
	uint32_t row;
	size_t index;

	if (process && find_in_account(work, process, &index)) {
		owner = index;
		row = work->row_of_usage.items[index];
	} else {
		row = unaccounted_row(work, id, process);
	}
	if (row == NO_ROW)
		return NO_ROW;
	if (work->rows->by == ROWS_BY_THREAD && tid)
		row = rows_work_thread_row(work, owner, tid, row, work->items.items[row].name);
	return row;
}
