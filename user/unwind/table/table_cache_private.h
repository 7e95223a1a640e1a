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

#define NO_SLOT UINT32_MAX

enum table_state {
	/* tried again with the next mapping of the file, or for who wants it after a while */
	TABLE_UNOPENED,
	TABLE_OPENING,	/* the owner thread reads it without the lock: nobody else touches it */
	TABLE_UNWANTED, /* open, so that it can be built on demand */
	TABLE_QUEUED,
	TABLE_BUILDING,
	TABLE_READY,   /* published, perhaps without a page */
	TABLE_NONE,    /* no ELF file */
	TABLE_EVICTED, /* built again when somebody misses it */
	TABLE_NO_ROOM, /* the caps are reached; tried again after a while */
};

struct table_file {
	uint32_t number; /* id of its mapped_file */
	enum table_state state;
	uint32_t slot;		/* in the files array; NO_SLOT: none */
	uint32_t references;	/* mappings */
	uint64_t sequence;	/* of its last request */
	uint64_t size;		/* bytes of the file */
	uint64_t queued_ns;	/* or wanted again while it was */
	uint64_t kept_bytes;	/* QUEUED: in our memory */
	uint64_t written_ns;	/* the file, when it was queued */
	uint64_t expected_rows; /* of its table */
	uint64_t retry_ns;	/* UNOPENED, NO_ROOM, or READY with a part missing: not before */
	bool urgent;
	bool wants_all;	  /* somebody came to code that the published table has postponed */
	bool lacks_rules; /* the set of rules was full; the building thread's */
	struct elf_segments segments; /* executable ones; the owner thread's */
	/* UNWANTED: kept while there are few; QUEUED: passed to the building thread */
	struct elf_file *image;
	void *image_memory; /* behind the image of a vdso */
	/* READY; also while it is built again */
	uint64_t text_start;
	uint32_t first_page, page_count, row_count;
	bool is_partial; /* has rules of PKBPF_CFA_PENDING */
	struct row_placement placement;
};

/* A table that another has taken the place of, until no walk can be in it. */
struct replaced_table {
	struct row_placement placement;
	uint32_t first_page, page_count;
};

struct table_cache {
	struct table_memory memory;
	uint32_t max_chunks, initial_chunks;
	bool on_demand;
	struct mapped_file_table *mapped_files; /* the owner thread's; borrowed */
	struct extent_allocator *slots;		/* of the files array */

	/* All below belongs to the lock, except where the building thread alone uses it. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	ARRAY_OF(struct table_file *) files; /* by number; only the owner adds */
	ARRAY_OF(uint32_t) queue;
	uint64_t queued_bytes; /* kept of what is in it */
	uint64_t last_sequence, building_sequence;
	uint32_t unwanted_images; /* open ones; each holds a file descriptor */
	struct table_cache_stats stats;
	bool stop, started;
	pthread_t builder;

	/* The building thread's. Readers of rows hold the lock, under which tables are
	 * withdrawn. */
	struct rule_set *rules;
	uint32_t published_rules;
	bool reuses_rules;     /* some have got the number of another */
	uint64_t collect_ns;   /* rules are not collected before */
	uint32_t last_edition; /* 2^24 tables later an old number comes back: nobody remembers it */
	struct extent_allocator *page_room;
	ARRAY_OF(struct replaced_table) replaced;
	struct chunk_pool *pool;
};

/* As the kernel side counts them: what a file was last used in. */
static inline uint32_t table_epoch_now(void)
{
	return (uint32_t)(clock_now_ns() >> 30);
}

/* NULL: nothing is known of the file. The owner thread's. */
struct table_file *table_cache_find_file(struct table_cache *cache, uint32_t number);
/* With the lock held: whether a walk ends at an address for want of the rest of the table. */
bool table_cache_is_postponed(const struct table_cache *cache, const struct table_file *file,
			      uint64_t elf_address);
/* Closes what was opened to build the table. With the lock held, except before the file is queued
 * or unwanted. */
void table_file_close(struct table_cache *cache, struct table_file *file);

#endif
