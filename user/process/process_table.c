// SPDX-License-Identifier: BSD-2-Clause
/* Follows fork, exec, exit and mmap records to know the current program of every process. */
#include <stdlib.h>
#include <string.h>

#include "process/process_home.h"
#include "process/process_table_private.h"

/* Stale entries of the thread map are removed when they could be this many and as many as the
 * living ones. */
#define MIN_STALE_THREADS 4096

struct process_table *process_table_new(struct mapped_file_table *files)
{
	struct process_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->files = files;
	table->budget.limit = PROCESS_TABLE_MAX_MAPPINGS;
	table->free_list = NO_PROCESS;
	table->grace = table->recent = (struct entry_list){.first = NO_PROCESS, .last = NO_PROCESS};
	return table;
}

void process_table_free(struct process_table *table)
{
	if (!table)
		return;
	array_foreach(&table->entries, each) {
		address_space_free((*each)->space);
		free(*each);
	}
	array_free(&table->entries);
	hash_map_done(&table->pids);
	hash_map_done(&table->ended);
	hash_map_done(&table->threads);
	hash_index_done(&table->identities);
	free(table);
}

static struct entry *entry_of_pid(const struct process_table *table, uint32_t pid)
{
	const uint64_t *id = hash_map_find(&table->pids, pid);

	return id ? table->entries.items[*id] : NULL;
}

void process_table_forget(struct process_table *table, struct entry *entry)
{
	/* Where processes were put, their pids lead to those that have ended, too. */
	if (table->identities.count && entry_of_pid(table, entry->public.pid) == entry)
		hash_map_remove(&table->pids, entry->public.pid);
	entry->state = ENTRY_FREE;
	entry->next = table->free_list;
	table->free_list = entry->public.id;
}

static void drop_mappings(struct process_table *table, struct entry *entry)
{
	if (entry->state == ENTRY_GRACE)
		process_entry_list_unlink(table, &table->grace, entry);
	address_space_free(entry->space);
	entry->space = NULL;
}

/* Another incarnation has the pid. Drops everything but the name; the name, too, when no sample
 * referred to it. */
static void retire(struct process_table *table, struct entry *entry)
{
	drop_mappings(table, entry);
	if (entry->used) {
		entry->state = ENTRY_ENDED;
		table->kept_count++;
	} else {
		process_table_forget(table, entry);
	}
}

/* The grace time of an exited process is over: later samples of its pid belong to another
 * process. */
static void expire(struct process_table *table, struct entry *entry)
{
	hash_map_remove(&table->pids, entry->public.pid);
	drop_mappings(table, entry);
	process_recent_add(table, entry);
}

static void advance_time(struct process_table *table, uint64_t time_ns)
{
	if (time_ns > table->now_ns)
		table->now_ns = time_ns;
	while (table->grace.first != NO_PROCESS) {
		struct entry *oldest = table->entries.items[table->grace.first];

		if (table->grace.count <= PROCESS_GRACE_MAX &&
		    table->now_ns - oldest->public.end_ns <= PROCESS_GRACE_NS)
			break;
		expire(table, oldest);
	}
	process_recent_expire(table);
}

struct entry *process_table_take_entry(struct process_table *table)
{
	struct entry **slot, *entry;

	if (table->free_list != NO_PROCESS) {
		entry = table->entries.items[table->free_list];
		table->free_list = entry->next;
		return entry;
	}
	if (table->entries.count >= PROCESS_TABLE_MAX)
		return NULL;
	slot = array_add(&table->entries);
	if (!slot)
		return NULL;
	*slot = calloc(1, sizeof(**slot));
	if (!*slot) {
		table->entries.count--;
		return NULL;
	}
	(*slot)->public.id = (uint32_t)(table->entries.count - 1);
	return *slot;
}

/* Begins a new incarnation of pid, without mappings or threads; ends the previous one. */
static struct entry *begin(struct process_table *table, uint32_t pid, uint64_t time_ns)
{
	struct entry *old = entry_of_pid(table, pid);
	struct entry *entry = process_table_take_entry(table);
	uint32_t id;

	if (!entry) {
		table->dropped++;
		return NULL;
	}
	id = entry->public.id;
	if (!hash_map_put(&table->pids, pid, id)) {
		process_table_forget(table, entry);
		table->dropped++;
		return NULL;
	}
	if (old) {
		if (old->state == ENTRY_ALIVE) {
			old->public.end_ns = old->news_ns = time_ns;
			table->thread_count -= old->public.thread_count;
			old->public.thread_count = 0;
		}
		retire(table, old);
	}
	*entry = (struct entry){
		.public = {.id = id, .pid = pid},
		.state = ENTRY_ALIVE,
		.serial = ++table->next_serial,
	};
	return entry;
}

/* The living incarnation of a thread-map value; NULL: the value is stale. */
static struct entry *entry_of_thread(const struct process_table *table, uint64_t value)
{
	struct entry *entry = table->entries.items[(uint32_t)value];

	return entry->serial == value >> 32 && entry->state == ENTRY_ALIVE ? entry : NULL;
}

/* Unseen thread exits (exec by a thread other than the leader, lost records) leave stale entries
 * behind. */
static void sweep_threads(struct process_table *table)
{
	struct hash_map fresh = {0};
	const struct hash_map_slot *slot;
	size_t cursor = 0;

	if (table->threads.count < table->thread_count * 2 + MIN_STALE_THREADS)
		return;
	while ((slot = hash_map_next(&table->threads, &cursor))) {
		if (entry_of_thread(table, slot->value) &&
		    !hash_map_put(&fresh, slot->key, slot->value)) {
			hash_map_done(&fresh); /* retried later */
			return;
		}
	}
	hash_map_done(&table->threads);
	table->threads = fresh;
}

/* The last thread exited: the mappings stay for the grace time. */
static void end(struct process_table *table, struct entry *entry, uint64_t time_ns)
{
	entry->public.end_ns = time_ns;
	entry->state = ENTRY_GRACE;
	process_entry_list_append(table, &table->grace, entry);
}

static void remove_thread(struct process_table *table, struct entry *entry, uint64_t time_ns)
{
	table->thread_count--;
	entry->news_ns = table->now_ns;
	if (--entry->public.thread_count == 0)
		end(table, entry, time_ns);
	else
		table->ended_threads++;
}

static void add_thread(struct process_table *table, struct entry *entry, uint32_t tid)
{
	uint64_t value = (uint64_t)entry->serial << 32 | entry->public.id;
	uint64_t *known = hash_map_find(&table->threads, tid);

	if (known) {
		struct entry *owner = entry_of_thread(table, *known);

		if (owner == entry)
			return;
		if (owner) /* its exit was lost: the tid was reused */
			remove_thread(table, owner, table->now_ns);
		*known = value;
	} else {
		sweep_threads(table);
		if (table->threads.count >= PROCESS_TABLE_MAX ||
		    !hash_map_put(&table->threads, tid, value)) {
			table->dropped++;
			return;
		}
	}
	entry->public.thread_count++;
	entry->news_ns = table->now_ns;
	table->thread_count++;
}

/* The living incarnation of pid. If there was no fork record, it begins with its leader as the
 * only thread. */
static struct entry *get_alive(struct process_table *table, uint32_t pid)
{
	struct entry *entry = entry_of_pid(table, pid);

	if (entry && entry->state == ENTRY_ALIVE)
		return entry;
	entry = begin(table, pid, table->now_ns);
	if (!entry)
		return NULL;
	entry->public.heard_ns = table->now_ns;
	add_thread(table, entry, pid);
	return entry;
}

/* The kernel sends an exit record for a process that executes a set-user-ID program or one it
 * may not read, although the process continues. */
static void revive(struct process_table *table, struct entry *entry)
{
	process_entry_list_unlink(table, &table->grace, entry);
	entry->state = ENTRY_ALIVE;
	entry->public.end_ns = 0;
	add_thread(table, entry, entry->public.pid);
}

static void on_process_fork(struct process_table *table, const struct task_view *task)
{
	struct entry *known = entry_of_pid(table, task->pid);
	struct entry *parent, *child;

	/* procfs has less information than earlier live records. */
	if (task->from_snapshot && known && known->state == ENTRY_ALIVE) {
		if (!known->public.parent_pid)
			known->public.parent_pid = task->parent_pid;
		add_thread(table, known, task->tid);
		return;
	}
	child = begin(table, task->pid, task->time_ns);
	if (!child)
		return;
	add_thread(table, child, task->tid);
	child->public.parent_pid = task->parent_pid;
	if (task->from_snapshot)
		return; /* comm and mapping records follow */
	child->public.started_inside = true;
	child->public.start_ns = child->public.born_ns = task->time_ns;
	parent = entry_of_pid(table, task->parent_pid);
	if (!parent || parent == child)
		return;
	memcpy(child->public.comm, parent->public.comm, sizeof(child->public.comm));
	child->public.cgroup_id = parent->public.cgroup_id;
	if (parent->space) {
		child->space = address_space_copy(parent->space);
		if (!child->space)
			table->dropped++;
	}
}

static void on_fork(struct process_table *table, const struct task_view *task)
{
	struct entry *entry;

	if (task->pid != task->parent_pid) {
		on_process_fork(table, task);
		return;
	}
	entry = get_alive(table, task->pid);
	if (entry)
		add_thread(table, entry, task->tid);
}

static void on_exec(struct process_table *table, const struct task_view *task)
{
	struct entry *old = entry_of_pid(table, task->pid);
	uint32_t parent_pid = old ? old->public.parent_pid : 0;
	uint64_t cgroup_id = old ? old->public.cgroup_id : 0,
		 born_ns = old ? old->public.born_ns : 0;
	char comm_before[PKBPF_COMM_SIZE + 1] = "";
	struct entry *entry;

	if (old)
		memcpy(comm_before, old->public.comm, sizeof(comm_before));
	entry = begin(table, task->pid, task->time_ns);

	if (!entry)
		return;
	entry->public.parent_pid = parent_pid;
	entry->public.cgroup_id = cgroup_id;
	entry->public.start_ns = task->time_ns;
	entry->public.born_ns = born_ns;
	entry->public.started_inside = true;
	entry->public.execed = true;
	memcpy(entry->public.comm_before, comm_before, sizeof(comm_before));
	process_entry_set_comm(entry, task->comm);
	add_thread(table, entry, task->pid);
}

static void on_comm(struct process_table *table, const struct task_view *task)
{
	struct entry *entry;

	if (task->exec) {
		on_exec(table, task);
		return;
	}
	if (task->tid != task->pid)
		return;
	entry = get_alive(table, task->pid);
	if (!entry)
		return;
	process_entry_set_comm(entry, task->comm);
	entry->news_ns = table->now_ns;
}

static void on_exit_record(struct process_table *table, const struct task_view *task)
{
	struct entry *entry = entry_of_pid(table, task->pid);
	uint64_t *thread = hash_map_find(&table->threads, task->tid);

	if (!entry || entry->state != ENTRY_ALIVE || !thread ||
	    entry_of_thread(table, *thread) != entry)
		return;
	hash_map_remove(&table->threads, task->tid);
	remove_thread(table, entry, task->time_ns);
}

static void on_task(void *context, const struct task_view *task)
{
	struct process_table *table = context;

	advance_time(table, task->time_ns);
	if (task->kind == PKBPF_EVENT_FORK)
		on_fork(table, task);
	else if (task->kind == PKBPF_EVENT_COMM)
		on_comm(table, task);
	else if (task->kind == PKBPF_EVENT_EXIT)
		on_exit_record(table, task);
}

static uint32_t file_of(struct process_table *table, const struct mapping_view *view)
{
	struct mapped_file *file;

	if (mapping_view_is_of_probes(view))
		return MAPPING_PROBES;
	if (mapped_file_table_add(table->files, view, &file)) {
		table->dropped++;
		return MAPPING_REFUSED;
	}
	return file ? file->id : MAPPING_NO_FILE;
}

static void on_mapping(void *context, const struct mapping_view *view)
{
	struct process_table *table = context;
	struct entry *entry;

	advance_time(table, view->time_ns);
	/* A record after the exit still belongs to the exited process. */
	entry = entry_of_pid(table, view->pid);
	if (!entry)
		entry = get_alive(table, view->pid);
	if (!entry)
		return;
	if (entry->state == ENTRY_GRACE && view->time_ns > entry->public.end_ns)
		revive(table, entry);
	if (!(view->protection & PKBPF_PROT_EXEC)) {
		if (entry->space && address_space_remove(entry->space, view->start, view->end) < 0)
			table->dropped++;
		return;
	}
	if (!entry->space)
		entry->space = address_space_new_within(&table->budget);
	if (!entry->space) {
		table->dropped++;
		return;
	}
	if (address_space_add(entry->space, &(struct mapping){
						    .start = view->start,
						    .end = view->end,
						    .file_offset = view->file_offset,
						    .file = file_of(table, view),
						    .protection = view->protection,
					    }) == 0)
		return;
	table->dropped++;
	/* An unresolved address is better than a symbol of the previous mapping. The old mapping
	 * stays only when removing it needs room, too. */
	address_space_remove(entry->space, view->start, view->end);
}

static const struct event_sink_ops process_table_ops = {
	.on_task = on_task,
	.on_mapping = on_mapping,
};

struct event_sink process_table_sink(struct process_table *table)
{
	return (struct event_sink){.ops = &process_table_ops, .context = table};
}

struct process *process_table_get(struct process_table *table, uint32_t pid, const char *comm)
{
	struct entry *entry = entry_of_pid(table, pid);

	if (!entry)
		entry = get_alive(table, pid);
	if (!entry)
		return NULL;
	if (!entry->used && !entry->public.end_ns)
		process_home_read(mapped_file_table_root(table->files), pid, &entry->public.home);
	entry->used = true;
	if (!entry->public.comm[0])
		process_entry_set_comm(entry, comm);
	return &entry->public;
}

struct process *process_table_find(struct process_table *table, uint32_t pid)
{
	struct entry *entry = entry_of_pid(table, pid);

	return entry ? &entry->public : NULL;
}

struct process *process_table_by_id(struct process_table *table, uint32_t id)
{
	if (id >= table->entries.count || table->entries.items[id]->state == ENTRY_FREE)
		return NULL;
	return &table->entries.items[id]->public;
}

bool process_table_has_news(const struct process_table *table, uint32_t id, uint64_t since_ns)
{
	const struct entry *entry = table->entries.items[id];

	return entry->state != ENTRY_FREE && entry->used && entry->news_ns >= since_ns;
}

size_t process_table_count(const struct process_table *table)
{
	return table->entries.count;
}

const struct address_space *process_table_mappings(const struct process_table *table,
						   const struct process *process)
{
	return table->entries.items[process->id]->space;
}

uint64_t process_table_now_ns(const struct process_table *table)
{
	return table->now_ns;
}

bool process_table_thread_lives(const struct process_table *table, uint32_t id, uint32_t tid)
{
	const uint64_t *value = hash_map_find(&table->threads, tid);
	const struct entry *entry = value ? entry_of_thread(table, *value) : NULL;

	return entry && entry->public.id == id;
}

uint64_t process_table_ended_threads(const struct process_table *table)
{
	return table->ended_threads;
}

void process_table_mark_files(const struct process_table *table, bool *is_used)
{
	array_foreach(&table->entries, each) {
		const struct mapping_list *mappings;

		if (!(*each)->space)
			continue;
		mappings = address_space_mappings((*each)->space);
		for (size_t i = 0; i < mappings->count; i++) {
			if (mapping_has_file(&mappings->items[i]))
				is_used[mappings->items[i].file] = true;
		}
	}
}

struct mapped_file_table *process_table_files(struct process_table *table)
{
	return table->files;
}

uint64_t process_table_dropped(const struct process_table *table)
{
	return table->dropped;
}
