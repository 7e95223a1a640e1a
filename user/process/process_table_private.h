/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files behind process/process_table.h; private. */
#ifndef PKBPF_PROCESS_PROCESS_TABLE_PRIVATE_H
#define PKBPF_PROCESS_PROCESS_TABLE_PRIVATE_H

#include <string.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "process/process_table.h"

#define NO_PROCESS UINT32_MAX

enum entry_state {
	ENTRY_FREE, /* forgotten; in the free list */
	ENTRY_ALIVE,
	ENTRY_GRACE,  /* exited, mappings kept for the grace time; in the grace list */
	ENTRY_RECENT, /* exited, no sample referred to it so far; in the recent list */
	ENTRY_ENDED,  /* kept for its name only */
	ENTRY_GROUP,
	ENTRY_MERGED, /* merged into a group; kept for its name */
};

struct entry {
	struct process public;
	struct address_space *space; /* NULL: no mappings */
	enum entry_state state;
	bool used;		 /* a sample referred to it */
	uint64_t news_ns;	 /* see process_table_has_news() */
	uint32_t serial;	 /* distinguishes successive incarnations with this id */
	uint32_t next, previous; /* in the grace or the recent list; next alone in the free list */
};

struct entry_list { /* oldest first */
	uint32_t first, last;
	size_t count;
};

struct process_table {
	struct mapped_file_table *files;
	ARRAY_OF(struct entry *) entries;
	struct hash_map pids; /* pid -> id of the entry that is alive or in its grace time */
	/* pid -> id of the latest exited entry after its grace time: recent or kept */
	struct hash_map ended;
	struct hash_map threads; /* tid -> serial << 32 | id */
	/* for process_table_put(): by what identifies incarnations */
	struct hash_index identities;
	size_t thread_count; /* living threads; entries of `threads` beyond that are stale */
	struct mapping_budget budget;
	uint32_t free_list;
	size_t kept_count; /* ENTRY_ENDED */
	uint64_t ended_threads;
	struct entry_list grace, recent;
	uint32_t next_serial;
	uint64_t now_ns;
	uint64_t dropped;
};

/* An entry to fill, reusing that of a forgotten incarnation. NULL: out of memory or too many. */
struct entry *process_table_take_entry(struct process_table *table);
/* Frees the entry; its id may be reused. */
void process_table_forget(struct process_table *table, struct entry *entry);
void process_entry_list_append(struct process_table *table, struct entry_list *list,
			       struct entry *entry);
void process_entry_list_unlink(struct process_table *table, struct entry_list *list,
			       struct entry *entry);
/* Adds an entry after its grace time: late records find it by its pid, until it has had no
 * reference for PROCESS_LATE_NS. */
void process_recent_add(struct process_table *table, struct entry *entry);
/* Removes an entry: it is no longer found by its pid. */
void process_recent_remove(struct process_table *table, const struct entry *entry);
void process_recent_expire(struct process_table *table);

static inline void process_entry_set_comm(struct entry *entry, const char *comm)
{
	size_t length = strnlen(comm, PKBPF_COMM_SIZE);

	memcpy(entry->public.comm, comm, length);
	entry->public.comm[length] = '\0';
}

#endif
