/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The executable mappings of a process, and their place in the BPF maps. Forked processes share one
 * map until one of them changes it. All maps of a registry belong to one owner thread.
 */
#ifndef PKBPF_UNWIND_CODE_CODE_MAP_H
#define PKBPF_UNWIND_CODE_CODE_MAP_H

#include "process/mapping_list.h"

struct code_map {
	uint32_t references;
	struct mapping_list list;
	/* Place where the owner has published it; published_count 0: not published. */
	uint32_t published_first, published_count;
	uint64_t published_ns;
	bool published_incomplete; /* a file could not be opened yet */
};

/* Returns an empty map with one reference; NULL: out of memory. */
struct code_map *code_map_new(void);
struct code_map *code_map_share(struct code_map *map);
/* Drops a reference. Returns true for the last one; the caller then frees the map with
 * code_map_free(). */
bool code_map_drop(struct code_map *map);
void code_map_free(struct code_map *map);
/* Returns an unpublished copy with one reference; NULL: out of memory. */
struct code_map *code_map_copy(const struct code_map *map);

#endif
