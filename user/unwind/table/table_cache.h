/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The unwind table of every mapped file, built once on a thread of its own and published where the
 * frame step finds it.
 *
 * One owner thread calls all functions; the building thread is private. Published memory is
 * bounded: chunks of rows up to a cap, pages and files by the size of their arrays. Under pressure
 * the tables unused for longest go first.
 */
#ifndef PKBPF_UNWIND_TABLE_TABLE_CACHE_H
#define PKBPF_UNWIND_TABLE_TABLE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include <pkbpf/unwind.h>

#include "event/event_sink.h"
#include "process/mapping_list.h"
#include "unwind/table/chunk_pool.h"

/* Arrays shared with the kernel (or plain memory in tests); they outlive the cache. */
struct table_memory {
	struct pkbpf_unwind_rule *rules;
	struct pkbpf_unwind_file *files;
	struct pkbpf_unwind_page *pages;
	uint32_t rule_count, file_count, page_count;
	struct chunk_backing chunks;
	/* Returns when no reader can still be using what was withdrawn before the call. */
	void (*wait_for_readers)(void *context);
	void *context;
};

struct mapped_file_table;

struct table_cache_options {
	uint32_t max_chunks;	 /* cap of row memory, in MiB */
	uint32_t initial_chunks; /* made at once, since each growth waits for the kernel */
	/* a table is built when somebody wants it, not as soon as its file is mapped */
	bool on_demand;
	/* borrowed; outlives the cache. Its numbers are those of the files here. */
	struct mapped_file_table *files;
};

struct table_cache_stats {
	uint32_t files;	   /* distinct files seen */
	uint32_t tables;   /* published */
	uint32_t waiting;  /* to be built */
	uint32_t unopened; /* nobody who maps it lives, or not permitted */
	uint32_t without;  /* no ELF, or no unwind information: frame pointers */
	uint32_t no_room;  /* table not kept, or file not numbered: the caps are reached */
	uint32_t chunks;
	uint64_t rows;
	uint64_t pages;
	uint64_t evictions;
	uint64_t built; /* tables built so far */
	uint64_t build_ns;
	uint32_t rules;
};

struct table_cache;

/* NULL with errno: ENOMEM, EAGAIN (no thread). */
struct table_cache *table_cache_new(const struct table_memory *memory,
				    const struct table_cache_options *options);
void table_cache_free(struct table_cache *cache);

/* Number of the file behind a mapping, opened and (unless tables are built on demand) queued for
 * building when new; MAPPING_NO_FILE: none; MAPPING_REFUSED: one of which nothing can be kept, as
 * there are too many. */
uint32_t table_cache_add(struct table_cache *cache, const struct mapping_view *mapping);
/* The same for a mapping's file number that may be new here: of one that is known nothing is tried
 * again. */
uint32_t table_cache_know(struct table_cache *cache, uint32_t file);
/* Numbers in use by somebody's mappings: what nobody uses may be forgotten when room is needed. */
void table_cache_reference(struct table_cache *cache, uint32_t file);
void table_cache_release(struct table_cache *cache, uint32_t file);

/* How a mapping of the file is published: its bias and PKBPF_MAPPING_* flags, and its place in the
 * files array. What is no ELF file counts as none: run-times write code to files in memory. */
void table_cache_describe(struct table_cache *cache, uint32_t file, uint64_t start, uint64_t end,
			  uint64_t file_offset, struct pkbpf_unwind_mapping *ret_mapping);
/* Somebody needed the table of this file and it was not there: build it now, before others, again
 * if it was evicted. */
void table_cache_want(struct table_cache *cache, uint32_t file);
/* The same for code at an ELF address: a part of the table that was postponed is built now. */
void table_cache_want_code(struct table_cache *cache, uint32_t file, uint64_t elf_address);
/* Whether the table is published, perhaps without what was postponed, or known to be empty. */
bool table_cache_ready(struct table_cache *cache, uint32_t file);
/* Sleeps until everything asked for so far is published or given up; false: time is over. */
bool table_cache_wait(struct table_cache *cache, uint64_t timeout_ns);
/* Whether nothing waits to be built. */
bool table_cache_idle(struct table_cache *cache);
/* The same as table_cache_wait() for one file's table. */
bool table_cache_wait_file(struct table_cache *cache, uint32_t file, uint64_t timeout_ns);
/* Like the frame step: false when the file has no rule there, or no table now. */
bool table_cache_find_rule(struct table_cache *cache, uint32_t file, uint64_t elf_address,
			   struct pkbpf_unwind_rule *ret_rule);
/* Path as the kernel showed it; lives until the file is forgotten. */
const char *table_cache_path(struct table_cache *cache, uint32_t file);
/* Rows of one file's table and the bytes of rows and pages. */
void table_cache_size(struct table_cache *cache, uint32_t file, uint32_t *ret_rows,
		      uint64_t *ret_bytes);
/* Sets the numbers of files that are open, have a table or a place, or are in use by mappings, as
 * far as they are below `count`. */
void table_cache_mark_files(struct table_cache *cache, bool *is_used, size_t count);
/* Forgets all others: their numbers are about to be given to other files. None of `count` may have
 * been added since they were marked. */
void table_cache_forget_files(struct table_cache *cache, const bool *is_used, size_t count);
struct table_cache_stats table_cache_stats(struct table_cache *cache);

#endif
