/* SPDX-License-Identifier: BSD-2-Clause */
/* Mappings sorted by address, without overlap: a new mapping cuts what it covers. A value; one
 * owner thread. */
#ifndef PKBPF_PROCESS_MAPPING_LIST_H
#define PKBPF_PROCESS_MAPPING_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event_sink.h"

/* Most mappings of one process. Beyond it the oldest stay and new ones are refused. The BPF side
 * searches at most as many. */
#define MAPPING_LIST_MAX 65536U

/* In place of a file's id (process/file/mapped_file.h). */
/* Anonymous: generated code, heap. */
#define MAPPING_NO_FILE UINT32_MAX
/* A file that could not be added to the table of files. */
#define MAPPING_REFUSED (UINT32_MAX - 1)
/* Copies of probed instructions, and where probed functions return to. */
#define MAPPING_PROBES (UINT32_MAX - 2)

struct mapping {
	uint64_t start, end; /* end exclusive */
	uint64_t file_offset;
	uint32_t file; /* its id, or one of the above */
	uint32_t protection;
};

/* Bounds the mappings of many lists together. Outlives them. */
struct mapping_budget {
	size_t used, limit;
};

/* Empty when all zero, but for the budget. */
struct mapping_list {
	struct mapping *items; /* the first one */
	size_t count;
	struct mapping_budget *budget; /* NULL: none */
	struct mapping *memory;	       /* room is kept at both ends */
	size_t capacity;
};

bool mapping_has_file(const struct mapping *mapping);
/* Whether stacks are unwound through it. Not [vsyscall], which the kernel emulates, nor [uprobes]:
 * there the caller is not on the stack, but the kernel knows it (bpf/uprobe.bpf.c), and looks where
 * there is no mapping. */
bool mapping_is_unwound(const struct mapping *mapping);
bool mapping_view_is_of_probes(const struct mapping_view *view);

void mapping_list_done(struct mapping_list *list);
/* An independent copy with the same budget, with room for a few more. *ret_copy is not read.
 * -ENOMEM, -ENOSPC (budget used up). */
int mapping_list_copy(const struct mapping_list *list, struct mapping_list *ret_copy);
/* Executable memory without a file amid one file's mappings becomes that file's, as text does that
 * a program has moved to huge pages. -ENOMEM, -ENOSPC (too many, or budget used up), -EINVAL (start
 * >= end): nothing is changed. */
int mapping_list_add(struct mapping_list *list, const struct mapping *mapping);
/* Forgets what is mapped in [start, end), splitting mappings that reach beyond. Errors as above. */
int mapping_list_remove(struct mapping_list *list, uint64_t start, uint64_t end);
/* The mapping that holds address; NULL. Lives until the next add or remove. */
const struct mapping *mapping_list_find(const struct mapping_list *list, uint64_t address);
bool mapping_list_equal(const struct mapping_list *a, const struct mapping_list *b);

#endif
