/* SPDX-License-Identifier: BSD-2-Clause */
/* A BPF array mapped into this process, read and written in place. */
#ifndef PKBPF_SOURCE_MAPPED_TABLE_H
#define PKBPF_SOURCE_MAPPED_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct bpf_map;

struct mapped_table { /* zero-initialized: not mapped */
	struct bpf_map *map;
	void *items; /* NULL: not open */
	size_t size; /* bytes mapped */
	uint32_t count;
};

/* A table's size, a power of two, that takes no more than a part of the memory that is allowed (0:
 * no limit), but never less than `least` items, in steps of halves. */
uint32_t mapped_table_bound(uint32_t count, uint32_t least, size_t item_bytes, uint64_t limit_bytes,
			    uint32_t parts);
/* Sets the number of items, before the programs are loaded. Negative errno. */
int mapped_table_configure(struct mapped_table *table, struct bpf_map *map, uint32_t count);
/* Maps the array, after the programs are loaded. */
int mapped_table_open(struct mapped_table *table, struct error *error);
void mapped_table_close(struct mapped_table *table);

#endif
