/* SPDX-License-Identifier: BSD-2-Clause */
/* The distinct places in code that stacks are made of, each kept once and named by a dense id. One
 * owner thread. */
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
	struct hash_index readings; /* the frames that others are merged into, by what they read */
	uint64_t seed;
};

/* Memory of one frame, its place in the index included, which is half empty at worst. */
#define FRAME_TABLE_ITEM_BYTES (sizeof(struct frame) + 2 * sizeof(struct hash_index_slot))
#define FRAME_TABLE_NONE       UINT32_MAX

void frame_table_init(struct frame_table *table);
void frame_table_done(struct frame_table *table);
/* The frame that stands for a place, added when it is new; FRAME_TABLE_NONE: out of memory. */
uint32_t frame_table_add(struct frame_table *table, const struct frame_location *location);
/* The frame that reads the same as this one, which has a name, added when there is none; equal
 * texts have equal addresses. FRAME_TABLE_NONE: out of memory. */
uint32_t frame_table_put(struct frame_table *table, const struct frame *frame);
static inline size_t frame_table_count(const struct frame_table *table)
{
	return table->frames.count;
}
/* Of a frame there is. Until the next add. */
static inline struct frame *frame_table_at(const struct frame_table *table, size_t id)
{
	return &table->frames.items[id];
}
/* Of memory in use. */
static inline size_t frame_table_bytes(const struct frame_table *table)
{
	return table->frames.count * FRAME_TABLE_ITEM_BYTES;
}
/* Makes one frame stand for all that have a name and read the same. false: out of memory, and some
 * do. */
bool frame_table_merge(struct frame_table *table);
/* A table of those frames alone that have a number in `numbers`, the others have FRAME_TABLE_NONE;
 * numbers are dense, in the order of the frames, and of frames that stand for themselves. false:
 * out of memory. */
bool frame_table_copy(const struct frame_table *table, const uint32_t *numbers,
		      struct frame_table *ret_copy);

#endif
