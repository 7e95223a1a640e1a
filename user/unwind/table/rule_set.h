/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The distinct unwind rules of all tables, each once, named by a stable id that rows carry.
 *
 * Ids are dense and stay, so a loader publishes [published, rule_set_count()) after each build,
 * until rule_set_keep() has made some free for others. One owner thread at a time. A rule that does
 * not fit any more (PKBPF_UNWIND_MAX_RULES, or the file's share of them) gets RULE_ID_NO_ROOM.
 */
#ifndef PKBPF_UNWIND_TABLE_RULE_SET_H
#define PKBPF_UNWIND_TABLE_RULE_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "pkbpf/unwind.h"

/* A file may take this fraction of what is left: 4,095 of an empty set. Files that compilers made
 * have 1,024 at most, most of them known from others; one that was made to have all of them must
 * not leave none for the rest of the host. */
#define RULE_SET_FILES_AT_LEAST 16

struct rule_set;

/* Present from the start, so that tables can name them without a look-up. */
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
/* count items; they move when a rule is added. */
const struct pkbpf_unwind_rule *rule_set_rules(const struct rule_set *rules);
/* How many more fit. */
uint32_t rule_set_room(const struct rule_set *rules);
/* What is added from now on belongs to another file, which has a share of its own. Without, there
 * is no share. */
void rule_set_begin_file(struct rule_set *rules);
/* Id of the rule, added when new. Never fails: RULE_ID_NO_ROOM when full or out of memory. */
uint32_t rule_set_add(struct rule_set *rules, const struct pkbpf_unwind_rule *rule);
/* Forgets all rules but the fixed ones and those marked, by id; the ids of others are given again.
 * true: there are some. Nobody may go by such an id any more. */
bool rule_set_keep(struct rule_set *rules, const bool *is_used);
/* How often a rule could not be added. */
uint64_t rule_set_refused(const struct rule_set *rules);

#endif
