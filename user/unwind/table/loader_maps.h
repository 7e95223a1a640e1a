/* SPDX-License-Identifier: BSD-2-Clause */
/* The unwinder's BPF maps, mapped into this process. */
#ifndef PKBPF_UNWIND_TABLE_LOADER_MAPS_H
#define PKBPF_UNWIND_TABLE_LOADER_MAPS_H

#include <pkbpf/unwind.h>

#include "base/error.h"
#include "unwind/table/loader.h"

struct loader_memory {
	struct unwind_loader_maps fds;
	struct table_memory tables;
	struct pkbpf_unwind_mapping *mappings;
	uint32_t mapping_count, process_count, chunk_count;
	int *chunk_fds; /* chunk_count of them */
};

int loader_memory_open(const struct unwind_loader_maps *maps, struct loader_memory *ret_memory,
		       struct error *error);
void loader_memory_close(struct loader_memory *memory);

#endif
