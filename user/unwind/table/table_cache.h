/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The unwind table of every mapped file, built once on a separate thread and published for the
 * unwind step.
 *
 * One owner thread calls all functions; the building thread is private. Published memory is
 * bounded: row chunks by a cap, pages and files by the size of their arrays. When room is short,
 * the least recently used tables are evicted first.
 */
#ifndef PKBPF_UNWIND_TABLE_TABLE_CACHE_H
#define PKBPF_UNWIND_TABLE_TABLE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include <pkbpf/unwind.h>

#include "event/event_sink.h"
#include "process/mapping_list.h"
#include "unwind/table/chunk_pool.h"

/* Arrays shared with the kernel (plain memory in tests); they outlive the cache. */
struct table_memory {
	struct pkbpf_unwind_rule *rules;
	struct pkbpf_unwind_file *files;
	struct pkbpf_unwind_page *pages;
	uint32_t rule_count, file_count, page_count;
	struct chunk_backing chunks;
	/* Returns when no reader can still use anything withdrawn before the call. */
	void (*wait_for_readers)(void *context);
	void *context;
};

struct mapped_file_table;
struct python_image;
struct ruby_image;
struct v8_image;
struct readers;

struct table_cache_options {
	uint32_t max_chunks;	 /* cap of row memory, in MiB */
	uint32_t initial_chunks; /* at start, since each growth waits for the kernel */
	/* build a table on request, not as soon as its file is mapped */
	bool on_demand;
	/* borrowed; outlives the cache. The cache uses its file numbers. */
	struct mapped_file_table *files;
	struct readers *readers; /* borrowed; they build tables. NULL: the cache does it itself */
};

struct table_cache_stats {
	uint32_t files;	   /* distinct files seen */
	uint32_t tables;   /* published */
	uint32_t waiting;  /* to be built */
	uint32_t unopened; /* every process that maps it has exited, or no permission */
	uint32_t without;  /* no ELF file, or no unwind information: frame pointers */
	uint32_t no_room;  /* table or file not kept because a cap is reached */
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

/* Returns the number of the mapped file. A new file is opened and, unless tables are built on
 * demand, queued. MAPPING_NO_FILE: no file; MAPPING_REFUSED: too many files. */
uint32_t table_cache_add(struct table_cache *cache, const struct mapping_view *mapping);
/* The same for the file number of a mapping, which may be new here. A known file is not opened
 * again. */
uint32_t table_cache_know(struct table_cache *cache, uint32_t file);
/* Counts mappings that use a file number. Files without references may be forgotten when room is
 * short. */
void table_cache_reference(struct table_cache *cache, uint32_t file);
void table_cache_release(struct table_cache *cache, uint32_t file);

/* Describes a mapping of the file for publication: its bias and PKBPF_MAPPING_* flags, and its
 * index in the files array. A file that is no ELF file counts as no file, because run-times write
 * code to files in memory. */
void table_cache_describe(struct table_cache *cache, uint32_t file, uint64_t start, uint64_t end,
			  uint64_t file_offset, struct pkbpf_unwind_mapping *ret_mapping);
/* The Python runtime in a mapped file; NULL: it has none. image->unknown: not one that is known.
 * *ret_bias: of the mapping. Valid until the file is forgotten. */
struct python_image *table_cache_python(struct table_cache *cache, uint32_t file, uint64_t start,
					uint64_t end, uint64_t file_offset, uint64_t *ret_bias);
/* The Ruby interpreter in it, likewise. */
struct ruby_image *table_cache_ruby(struct table_cache *cache, uint32_t file, uint64_t start,
				    uint64_t end, uint64_t file_offset, uint64_t *ret_bias);
/* The HotSpot JVM in a mapped file; NULL: it has none. *ret_bias: of the mapping. Valid until the
 * file is forgotten. */
const struct hotspot_image *table_cache_hotspot(struct table_cache *cache, uint32_t file,
						uint64_t start, uint64_t end, uint64_t file_offset,
						uint64_t *ret_bias);
/* V8 in a mapped file; NULL: it has none. Valid until the file is forgotten. */
struct v8_image *table_cache_v8(struct table_cache *cache, uint32_t file);
/* A table was needed but missing: builds it now, before others, again if it was evicted. */
void table_cache_want(struct table_cache *cache, uint32_t file);
/* The same for code at an ELF address: a postponed part of the table is built now. */
void table_cache_want_code(struct table_cache *cache, uint32_t file, uint64_t elf_address);
/* Returns whether the table is published, perhaps without postponed parts, or known to be empty. */
bool table_cache_ready(struct table_cache *cache, uint32_t file);
/* Sleeps until everything requested so far is published or given up; false: timeout. */
bool table_cache_wait(struct table_cache *cache, uint64_t timeout_ns);
/* Returns whether the queue is empty. */
bool table_cache_idle(struct table_cache *cache);
/* Like table_cache_wait(), for one file's table. */
bool table_cache_wait_file(struct table_cache *cache, uint32_t file, uint64_t timeout_ns);
/* Like the unwind step: false when the file has no rule there, or no table now. */
bool table_cache_find_rule(struct table_cache *cache, uint32_t file, uint64_t elf_address,
			   struct pkbpf_unwind_rule *ret_rule);
/* The path that the kernel reported; valid until the file is forgotten. */
const char *table_cache_path(struct table_cache *cache, uint32_t file);
/* Rows of one file's table, and bytes of its rows and pages. */
void table_cache_size(struct table_cache *cache, uint32_t file, uint32_t *ret_rows,
		      uint64_t *ret_bytes);
/* Sets is_used for the numbers (below `count`) of files that are open, have a table or a slot, or
 * are referenced by mappings. */
void table_cache_mark_files(struct table_cache *cache, bool *is_used, size_t count);
/* Forgets all other files, whose numbers are about to be reused. No file below `count` may have
 * been added since they were marked. */
void table_cache_forget_files(struct table_cache *cache, const bool *is_used, size_t count);
struct table_cache_stats table_cache_stats(struct table_cache *cache);

#endif
