// SPDX-License-Identifier: BSD-2-Clause
/* Finds exited incarnations by pid, for records that arrive some time after their event. */
#include "process/process_table_private.h"

void process_entry_list_unlink(struct process_table *table, struct entry_list *list,
			       struct entry *entry)
{
	if (entry->previous != NO_PROCESS)
		table->entries.items[entry->previous]->next = entry->next;
	else
		list->first = entry->next;
	if (entry->next != NO_PROCESS)
		table->entries.items[entry->next]->previous = entry->previous;
	else
		list->last = entry->previous;
	list->count--;
}

void process_entry_list_append(struct process_table *table, struct entry_list *list,
			       struct entry *entry)
{
	entry->next = NO_PROCESS;
	entry->previous = list->last;
	if (list->last != NO_PROCESS)
		table->entries.items[list->last]->next = entry->public.id;
	else
		list->first = entry->public.id;
	list->last = entry->public.id;
	list->count++;
}

static struct entry *find_ended(const struct process_table *table, uint32_t pid)
{
	const uint64_t *id = hash_map_find(&table->ended, pid);

	return id ? table->entries.items[*id] : NULL;
}

static void keep(struct process_table *table, struct entry *entry)
{
	entry->state = ENTRY_ENDED;
	table->kept_count++;
}

void process_recent_add(struct process_table *table, struct entry *entry)
{
	bool added = hash_map_put(&table->ended, entry->public.pid, entry->public.id);

	if (entry->used) {
		keep(table, entry);
	} else if (added) {
		entry->state = ENTRY_RECENT;
		process_entry_list_append(table, &table->recent, entry);
	} else {
		process_table_forget(table, entry);
	}
}

void process_recent_remove(struct process_table *table, const struct entry *entry)
{
	if (find_ended(table, entry->public.pid) == entry)
		hash_map_remove(&table->ended, entry->public.pid);
}

void process_recent_expire(struct process_table *table)
{
	while (table->recent.first != NO_PROCESS) {
		struct entry *oldest = table->entries.items[table->recent.first];

		if (table->recent.count <= PROCESS_RECENT_MAX &&
		    table->now_ns - oldest->public.end_ns <= PROCESS_LATE_NS)
			break;
		process_entry_list_unlink(table, &table->recent, oldest);
		process_recent_remove(table, oldest);
		process_table_forget(table, oldest);
	}
}

struct process *process_table_get_late(struct process_table *table, uint32_t pid, const char *comm)
{
	struct entry *entry = process_table_find(table, pid) ? NULL : find_ended(table, pid);

	if (!entry)
		return process_table_get(table, pid, comm);
	if (entry->state == ENTRY_RECENT) {
		process_entry_list_unlink(table, &table->recent, entry);
		entry->used = true;
		keep(table, entry);
	}
	if (!entry->public.comm[0])
		process_entry_set_comm(entry, comm);
	return &entry->public;
}
