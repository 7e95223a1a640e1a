// SPDX-License-Identifier: BSD-2-Clause
/* Merges exited incarnations into groups. */
#include "process/process_table_private.h"

#include <pkbpf/blockio.h>

bool process_has_pid(const struct process *process)
{
	return process && !process->members && !(process->pid & PKBPF_PID_WRITEBACK);
}

bool process_table_is_kept(const struct process_table *table, uint32_t id)
{
	/* Where processes were put, those that live are like others. */
	return id < table->entries.count && table->entries.items[id]->state == ENTRY_ENDED &&
	       (!table->identities.count || table->entries.items[id]->public.end_ns);
}

size_t process_table_kept_count(const struct process_table *table)
{
	return table->kept_count;
}

bool process_table_is_group(const struct process_table *table, uint32_t id)
{
	return id < table->entries.count && table->entries.items[id]->state == ENTRY_GROUP;
}

struct process *process_table_add_group(struct process_table *table, const char *comm,
					uint64_t cgroup_id)
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

const struct process *process_table_next_image(const struct process_table *table,
					       const struct process *process)
{
	const uint64_t *id = hash_map_find(&table->pids, process->pid);
	const struct process *now = id ? &table->entries.items[*id]->public : NULL;

	return now && now != process && now->execed && now->born_ns == process->born_ns ? now
											: NULL;
}

static void join_group(struct process *group, const struct process *process)
{
	group->started_inside = group->started_inside && process->started_inside;
	if (!group->members || process->start_ns < group->start_ns)
		group->start_ns = process->start_ns;
	if (process->end_ns > group->end_ns)
		group->end_ns = process->end_ns;
	group->members++;
}

void process_table_merge(struct process_table *table, uint32_t id, uint32_t into, bool needs_name)
{
	struct entry *entry = table->entries.items[id], *other = table->entries.items[into];

	if (other->state == ENTRY_GROUP)
		join_group(&other->public, &entry->public);
	other->used = true;
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

void process_table_release(struct process_table *table, const bool *is_used)
{
	array_foreach(&table->entries, each) {
		struct entry *entry = *each;

		if (is_used[entry->public.id] ||
		    (entry->state != ENTRY_ENDED && entry->state != ENTRY_GROUP &&
		     entry->state != ENTRY_MERGED))
			continue;
		/* Late records may still name it. */
		if (entry->state == ENTRY_ENDED &&
		    table->now_ns < entry->public.end_ns + PROCESS_LATE_NS)
			continue;
		if (entry->state == ENTRY_ENDED) {
			table->kept_count--;
			process_recent_remove(table, entry);
		}
		process_table_forget(table, entry);
	}
}
