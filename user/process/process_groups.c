// SPDX-License-Identifier: BSD-2-Clause
/* Tells ended incarnations together. */
#include "process/process_table_private.h"

bool process_table_is_kept(const struct process_table *table, uint32_t id)
{
	return id < table->entries.count && table->entries.items[id]->state == ENTRY_ENDED;
}

size_t process_table_kept_count(const struct process_table *table)
{
	return table->kept_count;
}

bool process_table_is_group(const struct process_table *table, uint32_t id)
{
	return id < table->entries.count && table->entries.items[id]->state == ENTRY_GROUP;
}

struct process *process_table_add_group(struct process_table *table, const char *comm, uint64_t cgroup_id)
{
	struct entry *entry = process_table_take_entry(table);

	if (!entry)
		return NULL;
	*entry = (struct entry){
		.public = {.id = entry->public.id, .cgroup_id = cgroup_id, .started_inside = true},
		.state = ENTRY_GROUP,
		.used = true,
	};
	process_entry_set_comm(entry, comm);
	return &entry->public;
}

void process_table_merge(struct process_table *table, uint32_t id, struct process *group, bool needs_name)
{
	struct entry *entry = table->entries.items[id];
	const struct process *process = &entry->public;

	group->started_inside = group->started_inside && process->started_inside;
	if (!group->members || process->start_ns < group->start_ns)
		group->start_ns = process->start_ns;
	if (process->end_ns > group->end_ns)
		group->end_ns = process->end_ns;
	group->members++;
	table->kept_count--;
	process_recent_remove(table, entry);
	if (needs_name)
		entry->state = ENTRY_MERGED;
	else
		process_table_forget(table, entry);
}

void process_table_release_member(struct process_table *table, uint32_t id)
{
	struct entry *entry = table->entries.items[id];

	if (entry->state == ENTRY_MERGED)
		process_table_forget(table, entry);
}
