/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The distinct unwind rules of all tables; rows refer to them by a stable id.
 *
 * Ids are dense and stable. So a loader publishes [published, rule_set_count()) after each build,
 * until rule_set_keep() has freed ids for reuse. One owner thread at a time. A rule that does not
 * fit (PKBPF_UNWIND_MAX_RULES, or the file's share of them) gets RULE_ID_NO_ROOM.
 */
#ifndef PKBPF_UNWIND_TABLE_RULE_SET_H
#define PKBPF_UNWIND_TABLE_RULE_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "pkbpf/unwind.h"

/* A file may use this fraction of the remaining rules: 4,095 of an empty set. Compiled files have
 * at most 1,024 rules, most of them known from other files. A hostile file must not use up the
 * rules of the whole host. */
#define RULE_SET_FILES_AT_LEAST 16

struct rule_set;

/* Present from the start, so that tables can use these ids directly. */
enum {
	RULE_ID_NONE = 0,
	RULE_ID_END = 1,
	RULE_ID_SIGNAL = 2,
	RULE_ID_UNSUPPORTED = 3,
	RULE_ID_NO_ROOM = 4,
	RULE_ID_FIXED_COUNT = 5,
};

struct rule_set *rule_set_new(void); /* NULL: out of memory */
void rule_set_free(struct rule_set *rules);
uint32_t rule_set_count(const struct rule_set *rules);
/* Array of count rules; an addition may move it. */
const struct pkbpf_unwind_rule *rule_set_rules(const struct rule_set *rules);
/* Remaining room. */
uint32_t rule_set_room(const struct rule_set *rules);
/* Rules added from now on belong to another file, with a share of its own. Without this call there
 * is no share. */
void rule_set_begin_file(struct rule_set *rules);
/* Returns the rule's id; adds a new rule. Never fails: RULE_ID_NO_ROOM when full or out of
 * memory. */
uint32_t rule_set_add(struct rule_set *rules, const struct pkbpf_unwind_rule *rule);
/* Drops all rules but the fixed ones and those marked by id. Dropped ids are reused, so no reader
 * may use them any more. Returns whether any was dropped. */
bool rule_set_keep(struct rule_set *rules, const bool *is_used);
/* Number of rules that could not be added. */
uint64_t rule_set_refused(const struct rule_set *rules);

#endif
