/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The executable mappings of a process, sorted, without overlap. Processes that forked share one
 * map until one of them changes it. One owner thread for all maps of a registry.
 */
#ifndef PKBPF_UNWIND_CODE_CODE_MAP_H
#define PKBPF_UNWIND_CODE_CODE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_NO_FILE UINT32_MAX
/* The BPF side searches at most 2^16; a process with more loses the ones mapped last. */
#define CODE_MAP_MAX 65536U

struct code_mapping {
	uint64_t start, end; /* end exclusive */
	uint64_t file_offset;
	uint32_t file; /* caller's number; CODE_NO_FILE: anonymous */
};

struct code_map {
	uint32_t references;
	uint32_t count, capacity;
	struct code_mapping *items;
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
/* Cuts what the new mapping covers, then adds it. One without a file in the midst of a file's
 * becomes that file's, as text does that a program has moved to huge pages. -EINVAL: start >= end;
 * -ENOMEM, -ENOSPC: unchanged. */
int code_map_add(struct code_map *map, const struct code_mapping *mapping);
/* Forgets what is mapped in [start, end). Errors as above. */
int code_map_remove(struct code_map *map, uint64_t start, uint64_t end);
const struct code_mapping *code_map_find(const struct code_map *map, uint64_t address);
bool code_map_equal(const struct code_map *a, const struct code_map *b);

#endif
