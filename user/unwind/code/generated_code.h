/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwind rows for machine code that processes have generated without keeping frame pointers, in
 * anonymous memory or in files that are no programs: kernels of linear algebra (oneDNN, which
 * PyTorch computes with), regular expressions.
 *
 * The code is copied out of the process, and read as a file's code without call frame information
 * is (undescribed_code.h). It is believed only while it stays what it is: rows are made when two
 * looks at it have seen the same, and dropped when a later one sees something else, or when walks
 * that went by them seldom arrive. Code of run-times that go on generating (Java, V8) is so never
 * read. Code that keeps frame pointers is left to them; where no walk has failed, it is looked at
 * twice a minute.
 *
 * Bounds: GENERATED_CODE_REGIONS mappings, of each the pages that have memory and are not all
 * zeros, at most GENERATED_CODE_REGION_BYTES, with some ten thousand rows; 2 % of a CPU. x86-64
 * only. One owner thread.
 */
#ifndef PKBPF_UNWIND_CODE_GENERATED_CODE_H
#define PKBPF_UNWIND_CODE_GENERATED_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pkbpf/unwind.h"

#define GENERATED_CODE_REGIONS	    64
#define GENERATED_CODE_REGION_BYTES (2U << 20)
#define GENERATED_CODE_MAX_SPAN	    (256U << 20) /* larger mappings are code caches of run-times */

struct generated_code;

/* Where the memory of processes comes from. */
struct generated_code_memory {
	/* Which pages have memory; present[] has one entry per page. 0 or negative errno. */
	int (*pages)(void *context, uint32_t pid, uint64_t start, size_t count, bool *present);
	/* All bytes (0) or negative errno. */
	int (*read)(void *context, uint32_t pid, uint64_t address, void *buffer, size_t size);
	void *context;
};

/* memory NULL: of this machine's processes. NULL: out of memory. */
struct generated_code *generated_code_new(const struct generated_code_memory *memory);
void generated_code_free(struct generated_code *code);

/* What a walk by frame pointers came to. */
enum generated_code_doubt {
	/* a whole stack; but the frame pointer may be one of a frame farther out */
	GENERATED_CODE_UNPROVEN,
	GENERATED_CODE_FAILED,
	/* there was none: the parent of the process has rows, unless the process has them itself */
	GENERATED_CODE_INHERITED,
};
/* A walk has gone by a frame pointer in [start, end), which no executable file is behind. */
void generated_code_want(struct generated_code *code, uint32_t pid, uint64_t start, uint64_t end,
			 enum generated_code_doubt doubt, uint64_t now_ns);

/* Whether the mapping is still what it was, so that it makes sense to look at it. */
typedef bool (*generated_code_exists_fn)(void *context, uint32_t pid, uint64_t start, uint64_t end);
/* generated_code_has() says something else of the mapping from now on. */
typedef void (*generated_code_changed_fn)(void *context, uint32_t pid);
/* To be called often: looks at what is due, forgets what has gone. */
void generated_code_poll(struct generated_code *code, uint64_t now_ns,
			 generated_code_exists_fn exists, generated_code_changed_fn changed,
			 void *context);

/* Whether it has rows for parts of this mapping. */
bool generated_code_has(const struct generated_code *code, uint32_t pid, uint64_t start,
			uint64_t end);
/*
 * What a walk that went by rows for this address came to: rows that mostly mislead are given up
 * until the code changes. Returns whether a walk by frame pointers may be as good: none has failed
 * there.
 */
bool generated_code_note_walk(struct generated_code *code, uint32_t pid, uint64_t address,
			      bool was_whole);
/* false: nothing is known about this address. */
bool generated_code_find_rule(const struct generated_code *code, uint32_t pid, uint64_t address,
			      struct pkbpf_unwind_rule *ret_rule);

#endif
