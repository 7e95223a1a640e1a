/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of code that a process generates: they change while they are in use.
 *
 * Each change is published as a whole table, which costs less than a millisecond, and reaches the
 * unwind step at once. The table cache's building thread does it; the functions are for the cache's
 * owner thread.
 */
#ifndef PKBPF_UNWIND_TABLE_TABLE_LIVE_H
#define PKBPF_UNWIND_TABLE_TABLE_LIVE_H

#include "unwind/table/table_cache.h"
#include "unwind/table/unwind_table.h"

struct table_live;

/* NULL: no room for a further file, or out of memory. */
struct table_live *table_live_new(struct table_cache *cache);
/* Withdraws the table. Mappings that are published with its number may stay for a while: no other
 * file gets the number before. */
void table_live_drop(struct table_cache *cache, struct table_live *live);
/* Takes over the table, whose rows refer to rules by their number in rules[]; copies the rules. It
 * replaces the one before, also one that is not published yet. -ENOSPC: live tables have all
 * the pages that they may have; -ENOMEM. */
int table_live_set(struct table_cache *cache, struct table_live *live, struct unwind_table *table,
		   const struct pkbpf_unwind_rule *rules, uint32_t rule_count);
/* Index in the files array. */
uint32_t table_live_file(const struct table_live *live);
/* Returns whether a table is published. */
bool table_live_is_ready(struct table_cache *cache, const struct table_live *live);

#endif
