/* SPDX-License-Identifier: BSD-2-Clause */
/* The distinct frames of stacks, each stored once and identified by a dense id. One owner
 * thread. */
#ifndef PKBPF_PROFILE_FRAME_TABLE_H
#define PKBPF_PROFILE_FRAME_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "profile/profile.h"

struct frame_table {
	ARRAY_OF(struct frame) frames;
	struct hash_index index;
	struct hash_index readings; /* the frames that others are merged into, by text */
	uint64_t seed;
};

/* Memory of one frame with its place in the index, which is at worst half empty. */
#define FRAME_TABLE_ITEM_BYTES (sizeof(struct frame) + 2 * sizeof(struct hash_index_slot))
#define FRAME_TABLE_NONE       UINT32_MAX

void frame_table_init(struct frame_table *table);
void frame_table_done(struct frame_table *table);
/* The frame of a location, added when new; FRAME_TABLE_NONE: out of memory. */
uint32_t frame_table_add(struct frame_table *table, const struct frame_location *location);
/* The frame with the same text as this symbolized one, added when new. Equal texts must have
 * equal addresses. FRAME_TABLE_NONE: out of memory. */
uint32_t frame_table_put(struct frame_table *table, const struct frame *frame);
static inline size_t frame_table_count(const struct frame_table *table)
{
	return table->frames.count;
}
/* id must exist. Valid until the next add. */
static inline struct frame *frame_table_at(const struct frame_table *table, size_t id)
{
	return &table->frames.items[id];
}
/* Bytes of memory in use. */
static inline size_t frame_table_bytes(const struct frame_table *table)
{
	return table->frames.count * FRAME_TABLE_ITEM_BYTES;
}
/* Makes one frame represent all symbolized frames with the same text. false: out of memory, only
 * some are merged. */
bool frame_table_merge(struct frame_table *table);
/* Makes a table of the frames that have a number in `numbers`; the others have FRAME_TABLE_NONE.
 * Numbers are dense, in the order of frames, and only of frames that represent themselves.
 * false: out of memory. */
bool frame_table_copy(const struct frame_table *table, const uint32_t *numbers,
		      struct frame_table *ret_copy);

#endif
