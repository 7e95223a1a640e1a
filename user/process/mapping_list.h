/* SPDX-License-Identifier: BSD-2-Clause */
/* Mappings sorted by address, without overlap: a new mapping replaces what it covers. A value;
 * one owner thread. */
#ifndef PKBPF_PROCESS_MAPPING_LIST_H
#define PKBPF_PROCESS_MAPPING_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event_sink.h"

/* Maximum number of mappings of one process: older ones stay, new ones are refused. The BPF side
 * searches at most as many. */
#define MAPPING_LIST_MAX 65536U

/* Values in place of a file id (process/file/mapped_file.h). */
/* Anonymous: generated code, heap. */
#define MAPPING_NO_FILE UINT32_MAX
/* The table of files refused the file. */
#define MAPPING_REFUSED (UINT32_MAX - 1)
/* [uprobes]: copies of probed instructions, and the trampoline of return probes. */
#define MAPPING_PROBES (UINT32_MAX - 2)

struct mapping {
	uint64_t start, end; /* end exclusive */
	uint64_t file_offset;
	uint32_t file; /* file id, or one of the above */
	uint32_t protection;
};

/* Bounds the total number of mappings of many lists. Must outlive them. */
struct mapping_budget {
	size_t used, limit;
};

/* All zero is empty, except for the budget. */
struct mapping_list {
	struct mapping *items; /* the first one */
	size_t count;
	struct mapping_budget *budget; /* NULL: none */
	struct mapping *memory;	       /* has room at both ends */
	size_t capacity;
};

bool mapping_has_file(const struct mapping *mapping);
/* True when stacks are unwound through this mapping. Not [vsyscall], which the kernel emulates.
 * Not [uprobes]: there the caller is not on the stack; the kernel knows it (bpf/uprobe.bpf.c),
 * and handles addresses without a mapping. */
bool mapping_is_unwound(const struct mapping *mapping);
bool mapping_view_is_of_probes(const struct mapping_view *view);

void mapping_list_done(struct mapping_list *list);
/* An independent copy with the same budget and some spare room. *ret_copy is not read. -ENOMEM,
 * -ENOSPC (budget used up). */
int mapping_list_copy(const struct mapping_list *list, struct mapping_list *ret_copy);
/* Executable memory without a file, amid mappings of one file, becomes part of that file:
 * programs move text to huge pages that way. -ENOMEM, -ENOSPC (too many, or budget used up),
 * -EINVAL (start >= end): nothing has changed. */
int mapping_list_add(struct mapping_list *list, const struct mapping *mapping);
/* Removes the mappings in [start, end) and splits those that reach beyond. Errors as above. */
int mapping_list_remove(struct mapping_list *list, uint64_t start, uint64_t end);
/* The mapping that contains address, or NULL. Valid until the next add or remove. */
const struct mapping *mapping_list_find(const struct mapping_list *list, uint64_t address);
bool mapping_list_equal(const struct mapping_list *a, const struct mapping_list *b);

#endif
