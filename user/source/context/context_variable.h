/* SPDX-License-Identifier: BSD-2-Clause */
/* From a variable of a file to where the kernel side finds it in the threads of a process. */
#ifndef PKBPF_SOURCE_CONTEXT_CONTEXT_VARIABLE_H
#define PKBPF_SOURCE_CONTEXT_CONTEXT_VARIABLE_H

#include <stdbool.h>

#include <pkbpf/context.h>

#include "source/context/context_service.h"

/* Reads the memory of a process, as process_memory_read(). */
typedef int context_memory_fn(void *context, uint64_t address, void *buffer, size_t size);

struct context_process_view {
	context_memory_fn *read;
	void *context;
	bool is_musl; /* its C library, which says what the vectors of threads look like */
};

/* Fills in form, offset, entry and vector. map_start: where the mapping begins that `place` is
 * about. -EAGAIN: the dynamic loader has not filled in the words yet; others of read. */
int context_variable_resolve(const struct context_process_view *view,
			     const struct context_place *place, uint64_t map_start,
			     struct pkbpf_context_process *process);

#endif
