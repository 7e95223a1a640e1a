/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Room for tables: who loses what when rows, pages, numbers of files or rules run out.
 *
 * The building thread's, without the lock unless said otherwise. What is taken from a table is
 * given to another once no walk can be in it, so most of these wait for the kernel.
 */
#ifndef PKBPF_UNWIND_TABLE_TABLE_ROOM_H
#define PKBPF_UNWIND_TABLE_TABLE_ROOM_H

#include "unwind/table/table_cache_private.h"

/* Makes room for a table of that many rows and pages. false: everything is in use. */
bool table_room_evict(struct table_cache *cache, uint32_t rows, uint32_t pages);
/* Takes withdrawn tables out of the shared memory, once nobody reads them any more. */
void table_room_remove_withdrawn(struct table_cache *cache, struct table_file **victims,
				 size_t count);
/* What was replaced is in nobody's walk any more. false: there was nothing. */
bool table_room_remove_replaced(struct table_cache *cache);

/* With the lock held: fewer numbers of the files array are left than a burst of new files may
 * need. */
bool table_room_is_short_of_slots(const struct table_cache *cache);
/* Takes numbers of files that nobody maps any more, until there are enough. */
void table_room_free_slots(struct table_cache *cache);

/* When few rules are left, forgets those that no table has any more. true: numbers of rules may be
 * given again. */
bool table_room_collect_rules(struct table_cache *cache);

#endif
