// SPDX-License-Identifier: BSD-2-Clause
/* Interns unwind rules. */
#include "unwind/rule_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash_map.h"

struct rule_set {
	ARRAY_OF(struct pkbpf_unwind_rule) rules;
	struct hash_index index;
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
	};
	_cleanup_(rule_set_free_cleanup) struct rule_set *rules = calloc(1, sizeof(*rules));

	if (!rules)
		return NULL;
	rules->seed = hash_random_seed();
	for (uint32_t id = 0; id < RULE_ID_FIXED_COUNT; id++) {
		/* Out of memory is the only way to get another id here. */
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

uint32_t rule_set_add(struct rule_set *rules, const struct pkbpf_unwind_rule *rule)
{
	uint64_t hash = hash_bytes(rule, sizeof(*rule), rules->seed);
	uint32_t id = hash_index_find(&rules->index, hash, rule_equal, rules, rule);
	struct pkbpf_unwind_rule *item;

	if (id != HASH_INDEX_NONE)
		return id;
	if (rules->rules.count < PKBPF_UNWIND_MAX_RULES) {
		item = array_add(&rules->rules);
		if (item) {
			*item = *rule;
			id = (uint32_t)rules->rules.count - 1;
			if (hash_index_add(&rules->index, hash, id))
				return id;
			rules->rules.count--;
		}
	}
	rules->refused++;
	return RULE_ID_UNSUPPORTED;
}
