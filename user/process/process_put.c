// SPDX-License-Identifier: BSD-2-Clause
/* Merges the processes of several tables into one. */
#include "process/process_table_private.h"

static uint64_t identity_hash(const struct process *process)
{
	if (process->members)
		return hash_bytes(process->comm, strlen(process->comm), process->cgroup_id);
	return hash_bytes(&(const uint64_t[4]){process->pid, process->start_ns, process->born_ns,
					       process->heard_ns},
			  4 * sizeof(uint64_t), 0);
}

static bool same_identity(const void *context, uint32_t item, const void *key)
{
	const struct process_table *table = context;
	const struct entry *entry = table->entries.items[item];
	const struct process *wanted = key, *process = &entry->public;

	/* One that was merged into a group is not there any more. */
	if ((entry->state != ENTRY_ENDED && entry->state != ENTRY_GROUP) ||
	    !wanted->members != !process->members)
		return false;
	if (wanted->members)
		return process->cgroup_id == wanted->cgroup_id &&
		       strcmp(process->comm, wanted->comm) == 0;
	return process->pid == wanted->pid && process->start_ns == wanted->start_ns &&
	       process->born_ns == wanted->born_ns && process->heard_ns == wanted->heard_ns;
}

static void join(struct process *to, const struct process *more)
{
	if (more->members) {
		to->members += more->members;
		to->started_inside = to->started_inside && more->started_inside;
		if (more->start_ns < to->start_ns)
			to->start_ns = more->start_ns;
	} else {
		to->started_inside = to->started_inside || more->started_inside;
		to->execed = to->execed || more->execed;
		if (more->comm[0])
			memcpy(to->comm, more->comm, sizeof(to->comm));
	}
	if (more->end_ns > to->end_ns)
		to->end_ns = more->end_ns;
	if (more->parent_pid)
		to->parent_pid = more->parent_pid;
	if (more->cgroup_id)
		to->cgroup_id = more->cgroup_id;
	to->thread_count = more->thread_count;
	if (more->home.is_known)
		to->home = more->home;
}

/* The pid leads to the latest incarnation. */
static bool note_last(struct process_table *table, const struct process *process, uint32_t id)
{
	const struct process *last = process_table_find(table, process->pid);

	return process->members || (last && last->start_ns > process->start_ns) ||
	       hash_map_put(&table->pids, process->pid, id);
}

struct process *process_table_put(struct process_table *table, const struct process *process)
{
	uint64_t hash = identity_hash(process);
	uint32_t id = hash_index_find(&table->identities, hash, same_identity, table, process);
	struct entry *entry;

	if (id != HASH_INDEX_NONE) {
		struct process *known = &table->entries.items[id]->public;

		table->kept_count += !known->members && !known->end_ns && process->end_ns;
		join(known, process);
		return known;
	}
	entry = process_table_take_entry(table);
	if (!entry)
		return NULL;
	id = entry->public.id;
	*entry = (struct entry){
		.public = *process,
		.state = process->members ? ENTRY_GROUP : ENTRY_ENDED,
		.used = true,
		.news_ns = UINT64_MAX, /* always has news */
	};
	entry->public.id = id;
	if (!hash_index_add(&table->identities, hash, id) || !note_last(table, process, id)) {
		process_table_forget(table, entry);
		return NULL;
	}
	table->kept_count += !process->members && process->end_ns;
	return &entry->public;
}
