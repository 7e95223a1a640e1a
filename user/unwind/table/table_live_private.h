/* SPDX-License-Identifier: BSD-2-Clause */
/* Live tables, for the building thread. */
#ifndef PKBPF_UNWIND_TABLE_TABLE_LIVE_PRIVATE_H
#define PKBPF_UNWIND_TABLE_TABLE_LIVE_PRIVATE_H

#include "unwind/table/table_cache_private.h"
#include "unwind/table/table_live.h"

struct table_live {
	struct table_file file;
	/* With the cache's lock: the next table, and its rules. NULL: there is no news. */
	struct unwind_table *next;
	struct pkbpf_unwind_rule *rules;
	uint32_t rule_count;
	uint64_t dropped_ns; /* 0: in use */
};

/* With the lock held: whether table_live_publish() has something to do. */
bool table_live_has_news(const struct table_cache *cache);
/* With the lock held, which is given back meanwhile: publishes what is new, and frees what was
 * dropped. Building thread only. */
void table_live_publish(struct table_cache *cache);
/* With the lock held: the table uses these rules. */
void table_live_mark_rules(const struct table_cache *cache,
			   void (*mark)(const struct table_cache *cache,
					const struct table_file *file, bool *is_used),
			   bool *is_used);
/* At the end of the cache. */
void table_live_free_all(struct table_cache *cache);

#endif
