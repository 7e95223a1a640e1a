/* SPDX-License-Identifier: BSD-2-Clause */
/* Published arrays of unwind tables in plain memory, where the real ones are BPF maps. */
#ifndef PKBPF_TEST_PLAIN_MEMORY_H
#define PKBPF_TEST_PLAIN_MEMORY_H

#include <errno.h>
#include <stdlib.h>

#include "unwind/table/table_cache.h"

struct plain_memory {
	struct table_memory memory;
	uint32_t created, destroyed; /* chunks */
	uint32_t creations;
	uint32_t waits; /* for readers */
	int fail_with;	/* errno of the next creation, 0: none */
	uint32_t *chunks[64];
};

static inline int plain_memory_create(void *context, uint32_t first, uint32_t count,
				      uint32_t **ret_rows)
{
	struct plain_memory *plain = context;

	if (plain->fail_with)
		return -plain->fail_with;
	for (uint32_t i = 0; i < count; i++) {
		ret_rows[i] = calloc(PKBPF_CHUNK_ROWS, sizeof(uint32_t));
		if (!ret_rows[i])
			abort();
		if (first + i < 64)
			plain->chunks[first + i] = ret_rows[i];
	}
	plain->created += count;
	plain->creations++;
	return 0;
}

static inline void plain_memory_destroy(void *context, uint32_t index, uint32_t *rows)
{
	((struct plain_memory *)context)->destroyed++;
	free(rows);
}

/* Rows from a global row number on, in one of the first 64 chunks. */
static inline const uint32_t *plain_memory_rows(const struct plain_memory *plain, uint32_t first)
{
	return plain->chunks[first / PKBPF_CHUNK_ROWS] + first % PKBPF_CHUNK_ROWS;
}

static inline void plain_memory_wait(void *context)
{
	__atomic_add_fetch(&((struct plain_memory *)context)->waits, 1, __ATOMIC_RELAXED);
}

static inline void plain_memory_init(struct plain_memory *plain, uint32_t pages, uint32_t files)
{
	*plain = (struct plain_memory){
		.memory =
			{
				.rules = calloc(PKBPF_UNWIND_MAX_RULES,
						sizeof(struct pkbpf_unwind_rule)),
				.files = calloc(files, sizeof(struct pkbpf_unwind_file)),
				.pages = calloc(pages, sizeof(struct pkbpf_unwind_page)),
				.rule_count = PKBPF_UNWIND_MAX_RULES,
				.file_count = files,
				.page_count = pages,
				.wait_for_readers = plain_memory_wait,
			},
	};
	plain->memory.chunks =
		(struct chunk_backing){plain_memory_create, plain_memory_destroy, plain};
	plain->memory.context = plain;
	if (!plain->memory.rules || !plain->memory.files || !plain->memory.pages)
		abort();
}

static inline void plain_memory_done(struct plain_memory *plain)
{
	free(plain->memory.rules);
	free(plain->memory.files);
	free(plain->memory.pages);
}

#endif
