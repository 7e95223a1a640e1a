/* SPDX-License-Identifier: BSD-2-Clause */
/* The stack table of a track: each frame once below each of its callers. There are millions of
 * them, so finding one costs 4 to 8 bytes beside the node itself. */
#ifndef PKBPF_EXPORT_TIMELINE_FIREFOX_NODES_H
#define PKBPF_EXPORT_TIMELINE_FIREFOX_NODES_H

#include "base/array.h"
#include "base/hash_map.h"

struct firefox_node {
	uint32_t function;
	uint32_t prefix; /* 1 + place; 0: none */
};

struct firefox_nodes { /* zero-initialised has none */
	ARRAY_OF(struct firefox_node) items;
	uint32_t *slots;   /* 1 + place; 0: free */
	size_t slot_count; /* 0 or a power of two */
	uint64_t seed;
};

/* 1 + the place of a node, added when new; 0: out of memory. */
uint32_t firefox_nodes_get(struct firefox_nodes *nodes, uint32_t function, uint32_t prefix);
void firefox_nodes_done(struct firefox_nodes *nodes);

#endif
