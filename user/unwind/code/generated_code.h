/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwind rows for machine code that processes generate without frame pointers, in anonymous memory
 * or in files that are no ELF files: linear algebra kernels (oneDNN, used by PyTorch), regular
 * expressions.
 *
 * The code is copied from the process and analyzed like a file's code without call frame
 * information (undescribed_code.h). Rows are made when two consecutive scans find the same code.
 * They are dropped when a later scan finds other code, or when too many unwinds that use them fail.
 * So code of run-times that keep generating (Java, V8) never gets rows. Code that keeps frame
 * pointers is left to them. Where no unwind has failed, code is scanned twice a minute.
 *
 * Bounds: GENERATED_CODE_REGIONS mappings. Of each, the pages that have memory and are not all
 * zeros are read, at most GENERATED_CODE_REGION_BYTES, with some ten thousand rows. 2 % of one CPU.
 * x86-64 only. One owner thread.
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

/* Access to the memory of processes. */
struct generated_code_memory {
	/* Sets present[], which has one entry per page: whether the page has memory. Returns 0 or a
	 * negative errno. */
	int (*pages)(void *context, uint32_t pid, uint64_t start, size_t count, bool *present);
	/* Reads all bytes (0) or returns a negative errno. */
	int (*read)(void *context, uint32_t pid, uint64_t address, void *buffer, size_t size);
	void *context;
};

/* memory NULL: reads the processes of this machine. Returns NULL when out of memory. */
struct generated_code *generated_code_new(const struct generated_code_memory *memory);
void generated_code_free(struct generated_code *code);

/* Result of an unwind by frame pointers. */
enum generated_code_doubt {
	/* A complete but unverified stack: the frame pointer may belong to an outer frame. */
	GENERATED_CODE_UNPROVEN,
	GENERATED_CODE_FAILED,
	/* No unwind by frame pointers: the process inherited the mapping from a parent with rows,
	 * and may have no rows itself. */
	GENERATED_CODE_INHERITED,
};
/* An unwind has used a frame pointer in [start, end), a mapping without an executable file. */
void generated_code_want(struct generated_code *code, uint32_t pid, uint64_t start, uint64_t end,
			 enum generated_code_doubt doubt, uint64_t now_ns);

/* Returns whether the mapping still exists, so that scanning it makes sense. */
typedef bool (*generated_code_exists_fn)(void *context, uint32_t pid, uint64_t start, uint64_t end);
/* Reports that the result of generated_code_has() changes for a mapping of the process. */
typedef void (*generated_code_changed_fn)(void *context, uint32_t pid);
/* Scans the mappings that are due and forgets those that are gone. To be called often. */
void generated_code_poll(struct generated_code *code, uint64_t now_ns,
			 generated_code_exists_fn exists, generated_code_changed_fn changed,
			 void *context);

/* Returns whether parts of this mapping have rows. */
bool generated_code_has(const struct generated_code *code, uint32_t pid, uint64_t start,
			uint64_t end);
/*
 * Records the result of an unwind that used rows for this address. Rows that mostly mislead are
 * dropped until the code changes. Returns whether frame pointers may serve as well, that is, no
 * unwind by them has failed there.
 */
bool generated_code_note_walk(struct generated_code *code, uint32_t pid, uint64_t address,
			      bool was_whole);
/* Returns false when the address has no rule. */
bool generated_code_find_rule(const struct generated_code *code, uint32_t pid, uint64_t address,
			      struct pkbpf_unwind_rule *ret_rule);

#endif
