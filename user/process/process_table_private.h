/* SPDX-License-Identifier: BSD-2-Clause */
/* What process_table.c and process_groups.c share; nobody else includes this. */
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
	ENTRY_GRACE, /* exited, mappings kept for a while; in the grace list */
	ENTRY_ENDED, /* kept for its name only */
	ENTRY_GROUP,
	ENTRY_MERGED, /* its figures are a group's; kept for its name */
};

struct entry {
	struct process public;
	struct address_space *space; /* NULL: nothing mapped */
	enum entry_state state;
	bool used;	 /* a sample referred to it */
	uint32_t serial; /* distinguishes incarnations that had this id one after the other */
	uint32_t next, previous; /* in the grace list; next alone in the free list */
};

struct process_table {
	struct mapped_file_table *files;
	ARRAY_OF(struct entry *) entries;
	struct hash_map pids;	 /* pid -> id of the entry that is alive or in grace */
	struct hash_map threads; /* tid -> serial << 32 | id */
	size_t thread_count;	 /* living threads; entries of `threads` beyond that are stale */
	struct mapping_budget budget;
	uint32_t free_list;
	size_t kept_count; /* ENTRY_ENDED */
	uint64_t ended_threads;
	uint32_t grace_first, grace_last; /* oldest first */
	size_t grace_count;
	uint32_t next_serial;
	uint64_t now_ns;
	uint64_t dropped;
};

/* An entry to fill, of a forgotten incarnation where there is one. NULL: out of memory or too many. */
struct entry *process_table_take_entry(struct process_table *table);
/* Its id may be given to a later incarnation. */
void process_table_forget(struct process_table *table, struct entry *entry);

static inline void process_entry_set_comm(struct entry *entry, const char *comm)
{
	size_t length = strnlen(comm, PKBPF_COMM_SIZE);

	memcpy(entry->public.comm, comm, length);
	entry->public.comm[length] = '\0';
}

#endif
