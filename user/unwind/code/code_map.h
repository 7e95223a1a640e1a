/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The executable mappings of a process, and where the kernel side finds them. Processes that forked
 * share one map until one of them changes it. One owner thread for all maps of a registry.
 */
#ifndef PKBPF_UNWIND_CODE_CODE_MAP_H
#define PKBPF_UNWIND_CODE_CODE_MAP_H

#include "process/mapping_list.h"

struct code_map {
	uint32_t references;
	struct mapping_list list;
	/* Where the owner has published it; published_count 0: nowhere. */
	uint32_t published_first, published_count;
	uint64_t published_ns;
	bool published_incomplete; /* a file could not be opened yet */
};

/* One reference, empty; NULL: out of memory. */
struct code_map *code_map_new(void);
struct code_map *code_map_share(struct code_map *map);
/* Gives up a reference; true: it was the last one, and the caller frees the map with
 * code_map_free(). */
bool code_map_drop(struct code_map *map);
void code_map_free(struct code_map *map);
/* A copy with one reference, published nowhere; NULL: out of memory. */
struct code_map *code_map_copy(const struct code_map *map);

#endif
