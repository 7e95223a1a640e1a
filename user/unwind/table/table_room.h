/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frees room for tables when rows, pages, slots of the files array or rules run out.
 *
 * Building thread only, without the lock unless stated otherwise. Room taken from a table is reused
 * once no unwind can use it, so most functions wait for the kernel.
 */
#ifndef PKBPF_UNWIND_TABLE_TABLE_ROOM_H
#define PKBPF_UNWIND_TABLE_TABLE_ROOM_H

#include "unwind/table/table_cache_private.h"

/* Evicts tables to make room for this many rows and pages. Returns false when all are in use. */
bool table_room_evict(struct table_cache *cache, uint32_t rows, uint32_t pages);
/* Frees the memory of withdrawn tables once they have no readers. */
void table_room_remove_withdrawn(struct table_cache *cache, struct table_file **victims,
				 size_t count);
/* Frees replaced tables once no unwind uses them. Returns false when there were none. */
bool table_room_remove_replaced(struct table_cache *cache);

/* With the lock held: fewer free slots in the files array than a burst of new files may need. */
bool table_room_is_short_of_slots(const struct table_cache *cache);
/* Frees slots of unmapped files until there are enough. */
void table_room_free_slots(struct table_cache *cache);

/* When few rules are left, drops those that no table uses. Returns whether rule ids may be
 * reused. */
bool table_room_collect_rules(struct table_cache *cache);

#endif
