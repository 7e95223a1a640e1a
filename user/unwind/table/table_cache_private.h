/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the table cache and its building thread. */
#ifndef PKBPF_UNWIND_TABLE_TABLE_CACHE_PRIVATE_H
#define PKBPF_UNWIND_TABLE_TABLE_CACHE_PRIVATE_H

#include <pthread.h>

#include "base/array.h"
#include "base/clock.h"
#include "elf/elf_program.h"
#include "unwind/table/extent_allocator.h"
#include "unwind/table/rule_set.h"
#include "unwind/table/table_cache.h"
#include "unwind/table/table_reader.h"

#define NO_SLOT UINT32_MAX

enum table_state {
	/* opened again with the file's next mapping, or on request after a while */
	TABLE_UNOPENED,
	TABLE_OPENING,	/* the owner thread reads it without the lock; no other thread uses it */
	TABLE_UNWANTED, /* open; built on demand */
	TABLE_QUEUED,
	TABLE_BUILDING,
	TABLE_READY,   /* published, perhaps with no pages */
	TABLE_NONE,    /* no ELF file */
	TABLE_EVICTED, /* rebuilt when an unwind misses it */
	TABLE_NO_ROOM, /* a cap is reached; tried again after a while */
};

struct table_file {
	uint32_t number; /* number of its mapped_file */
	enum table_state state;
	uint32_t slot;		/* index in the files array; NO_SLOT: none */
	uint32_t references;	/* number of mappings */
	uint64_t sequence;	/* order of its last request */
	uint64_t size;		/* bytes of the file */
	uint64_t queued_ns;	/* time of queueing, or of a later request while queued */
	uint64_t kept_bytes;	/* QUEUED: bytes that are kept in memory */
	uint64_t written_ns;	/* modification time of the file when queued */
	uint64_t expected_rows; /* of its table */
	uint64_t retry_ns;	/* next attempt: UNOPENED, NO_ROOM, READY with a part missing */
	uint32_t wants;		/* how often it was asked for since it was built last */
	bool urgent;
	bool wants_all;	  /* an unwind reached code that the published table has postponed */
	bool lacks_rules; /* the rule set was full; building thread only */
	struct elf_segments segments; /* executable segments; owner thread only */
	/* its Python runtime; NULL: none; owner thread only */
	struct python_image *python;
	bool python_searched;
	struct ruby_image *ruby; /* the same for Ruby */
	/* its JVM; NULL: none; owner thread only */
	struct hotspot_image *hotspot;
	/* its V8; NULL: none; owner thread only */
	struct v8_image *v8;
	bool v8_searched;
	char *path; /* for what is said about it; NULL: with no readers */
	/* UNWANTED: kept for a limited number of files; QUEUED: passed to the building thread */
	struct elf_file *image;
	void *image_memory; /* memory of the image of a vDSO */
	/* READY, also during a rebuild */
	uint64_t text_start;
	uint32_t first_page, page_count, row_count;
	bool is_partial; /* has PKBPF_CFA_PENDING rules */
	struct row_placement placement;
};

/* A replaced table, kept until no unwind can use it. */
struct replaced_table {
	struct row_placement placement;
	uint32_t first_page, page_count;
};

/* A table that is being built. */
struct table_work {
	struct table_file *file; /* NULL: nothing is */
	uint64_t sequence, since_ns;
	/* Building thread only: */
	struct elf_file *image;
	void *image_memory;
	struct table_job job;
};

/* One, and another while that one is slow. */
#define TABLE_WORKS 2
/* Nothing is held back for a table that takes longer. */
#define TABLE_WAIT_NS (3 * NS_PER_SECOND)

struct table_cache {
	struct table_memory memory;
	uint32_t max_chunks, initial_chunks;
	bool on_demand;
	struct readers *readers;		/* borrowed; NULL: files are read here */
	struct mapped_file_table *mapped_files; /* owner thread only; borrowed */
	struct extent_allocator *slots;		/* of indexes in the files array */

	/* The lock protects everything below, except what only the building thread uses. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	ARRAY_OF(struct table_file *) files; /* by number; only the owner adds files */
	ARRAY_OF(struct table_live *) live;  /* only the owner adds, only the builder removes */
	ARRAY_OF(uint32_t) queue;
	uint64_t queued_bytes; /* bytes kept for the queued files */
	uint64_t last_sequence;
	struct table_work works[TABLE_WORKS];
	uint32_t unwanted_images; /* number of open ones; each holds a file descriptor */
	struct table_cache_stats stats;
	bool stop, started;
	pthread_t builder;

	/* Building thread only. Readers of rows hold the lock, under which tables are withdrawn. */
	struct rule_set *rules;
	uint32_t published_rules;
	bool reuses_rules;     /* ids may have been reused for other rules */
	uint64_t collect_ns;   /* earliest time of the next collection of rules */
	uint32_t last_edition; /* recurs after 2^24 tables; no reader keeps it that long */
	struct extent_allocator *page_room;
	ARRAY_OF(struct replaced_table) replaced;
	struct chunk_pool *pool;
};

/* Epoch as counted by the kernel side; files record the epoch of their last use. */
static inline uint32_t table_epoch_now(void)
{
	return (uint32_t)(clock_now_ns() >> 30);
}

/* NULL: unknown file. Owner thread only. */
struct table_file *table_cache_find_file(struct table_cache *cache, uint32_t number);
/* With the lock held: an unwind at this address is truncated because that part of the table is
 * postponed. */
bool table_cache_is_postponed(const struct table_cache *cache, const struct table_file *file,
			      uint64_t elf_address);
/* Closes the files opened for building. With the lock held, except before the file is queued or
 * unwanted. */
void table_file_close(struct table_cache *cache, struct table_file *file);

#endif
