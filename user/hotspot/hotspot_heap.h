/* SPDX-License-Identifier: BSD-2-Clause */
/* The code heaps of a process as they are now: what is committed, and where blocks begin. */
#ifndef PKBPF_HOTSPOT_HOTSPOT_HEAP_H
#define PKBPF_HOTSPOT_HOTSPOT_HEAP_H

#include "hotspot/hotspot_process.h"

#define HOTSPOT_HEAP_STRUCT_BYTES 1024U

struct hotspot_heap {
	uint64_t address; /* of the CodeHeap */
	uint8_t bytes[HOTSPOT_HEAP_STRUCT_BYTES];
	struct hotspot_heap_range range;
	uint64_t map_start; /* of the segment map */
	unsigned int log2_segment_size;
	/* a byte for each segment: 0 where a block begins, else the way back; 0xff: free */
	uint8_t *map;
	size_t map_size;
};

struct hotspot_heaps {
	struct hotspot_heap items[HOTSPOT_MAX_HEAPS]; /* by address */
	size_t count;
};

/* Reads the structures alone, without the maps. -EBADMSG: they make no sense (yet). */
int hotspot_heaps_read(const struct hotspot_layout *layout, uint64_t bias,
		       const struct hotspot_memory *memory, struct hotspot_heaps *ret_heaps);
bool hotspot_heaps_equal(const struct hotspot_layout *layout, const struct hotspot_heaps *a,
			 const struct hotspot_heaps *b);
/* Reads the segment maps. On failure there may be some of them. */
int hotspot_heaps_read_maps(const struct hotspot_memory *memory, struct hotspot_heaps *heaps);
/* Frees the maps. */
void hotspot_heaps_done(struct hotspot_heaps *heaps);

#endif
