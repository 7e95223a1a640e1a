// SPDX-License-Identifier: BSD-2-Clause
/* Interns unwind rules. */
#include "unwind/table/rule_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash_map.h"

#define NO_ID UINT32_MAX

struct rule_set {
	ARRAY_OF(struct pkbpf_unwind_rule) rules;
	ARRAY_OF(uint32_t) free; /* ids that no table uses any more */
	struct hash_index index;
	uint32_t allowance; /* new rules that the current file may still add */
	uint64_t seed;
	uint64_t refused;
};

DEFINE_CLEANUP(struct rule_set *, rule_set_free)

struct rule_set *rule_set_new(void)
{
	static const struct pkbpf_unwind_rule fixed[RULE_ID_FIXED_COUNT] = {
		[RULE_ID_NONE] = {.cfa = PKBPF_CFA_NONE},
		[RULE_ID_END] = {.cfa = PKBPF_CFA_END},
		[RULE_ID_SIGNAL] = {.cfa = PKBPF_CFA_SIGNAL},
		[RULE_ID_UNSUPPORTED] = {.cfa = PKBPF_CFA_UNSUPPORTED},
		[RULE_ID_NO_ROOM] = {.cfa = PKBPF_CFA_NO_ROOM},
	};
	_cleanup_(rule_set_free_cleanup) struct rule_set *rules = calloc(1, sizeof(*rules));

	if (!rules)
		return NULL;
	rules->seed = hash_random_seed();
	rules->allowance = UINT32_MAX;
	for (uint32_t id = 0; id < RULE_ID_FIXED_COUNT; id++) {
		/* A different id means out of memory. */
		rule_set_add(rules, &fixed[id]);
		if (rules->rules.count != id + 1)
			return NULL;
	}
	return take_pointer(rules);
}

void rule_set_free(struct rule_set *rules)
{
	if (!rules)
		return;
	array_free(&rules->rules);
	array_free(&rules->free);
	hash_index_done(&rules->index);
	free(rules);
}

uint32_t rule_set_count(const struct rule_set *rules)
{
	return (uint32_t)rules->rules.count;
}

const struct pkbpf_unwind_rule *rule_set_rules(const struct rule_set *rules)
{
	return rules->rules.items;
}

uint64_t rule_set_refused(const struct rule_set *rules)
{
	return rules->refused;
}

static bool rule_equal(const void *context, uint32_t item, const void *key)
{
	const struct rule_set *rules = context;

	return memcmp(&rules->rules.items[item], key, sizeof(struct pkbpf_unwind_rule)) == 0;
}

uint32_t rule_set_room(const struct rule_set *rules)
{
	return (uint32_t)(PKBPF_UNWIND_MAX_RULES - rules->rules.count + rules->free.count);
}

void rule_set_begin_file(struct rule_set *rules)
{
	rules->allowance = rule_set_room(rules) / RULE_SET_FILES_AT_LEAST;
}

static uint64_t hash_of(const struct rule_set *rules, const struct pkbpf_unwind_rule *rule)
{
	return hash_bytes(rule, sizeof(*rule), rules->seed);
}

/* NO_ID: full or out of memory. */
static uint32_t take_id(struct rule_set *rules)
{
	if (rules->free.count)
		return rules->free.items[--rules->free.count];
	if (rules->rules.count == PKBPF_UNWIND_MAX_RULES || !array_add(&rules->rules))
		return NO_ID;
	return (uint32_t)rules->rules.count - 1;
}

uint32_t rule_set_add(struct rule_set *rules, const struct pkbpf_unwind_rule *rule)
{
	uint64_t hash = hash_of(rules, rule);
	uint32_t id = hash_index_find(&rules->index, hash, rule_equal, rules, rule);

	if (id != HASH_INDEX_NONE)
		return id;
	id = rules->allowance ? take_id(rules) : NO_ID;
	if (id == NO_ID) {
		rules->refused++;
		return RULE_ID_NO_ROOM;
	}
	rules->allowance--;
	rules->rules.items[id] = *rule;
	/* When out of memory the rule keeps its id but is not found again: the next addition gets
	 * another id. */
	hash_index_add(&rules->index, hash, id);
	return id;
}

bool rule_set_keep(struct rule_set *rules, const bool *is_used)
{
	hash_index_done(&rules->index);
	rules->free.count = 0;
	for (uint32_t id = 0; id < rules->rules.count; id++) {
		uint32_t *free_id;

		if (id < RULE_ID_FIXED_COUNT || is_used[id]) {
			hash_index_add(&rules->index, hash_of(rules, &rules->rules.items[id]), id);
			continue;
		}
		free_id = array_add(&rules->free);
		if (free_id)
			*free_id = id;
	}
	return rules->free.count > 0;
}
