// SPDX-License-Identifier: BSD-2-Clause
/* Tests for unwind/rule_set: stable ids, and what happens when they run out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unwind/table/rule_set.h"

static void begins_with_the_fixed_rules(void **state)
{
	struct rule_set *rules = rule_set_new();

	assert_non_null(rules);
	assert_int_equal(rule_set_count(rules), RULE_ID_FIXED_COUNT);
	assert_int_equal(rule_set_rules(rules)[RULE_ID_NONE].cfa, PKBPF_CFA_NONE);
	assert_int_equal(rule_set_rules(rules)[RULE_ID_END].cfa, PKBPF_CFA_END);
	assert_int_equal(rule_set_rules(rules)[RULE_ID_SIGNAL].cfa, PKBPF_CFA_SIGNAL);
	assert_int_equal(rule_set_rules(rules)[RULE_ID_UNSUPPORTED].cfa, PKBPF_CFA_UNSUPPORTED);
	rule_set_free(rules);
}

static void gives_equal_rules_one_id(void **state)
{
	struct rule_set *rules = rule_set_new();
	struct pkbpf_unwind_rule rule = {.cfa = PKBPF_CFA_SP, .cfa_offset = 8, .ra_offset = -8};
	uint32_t first = rule_set_add(rules, &rule);
	uint32_t second;

	rule.saved[0] = PKBPF_SAVED(PKBPF_SAVED_CFA, -16);
	second = rule_set_add(rules, &rule);
	assert_int_equal(first, RULE_ID_FIXED_COUNT);
	assert_int_equal(second, first + 1);
	rule.saved[0] = 0;
	assert_int_equal(rule_set_add(rules, &rule), first);
	assert_int_equal(rule_set_count(rules), second + 1);
	rule_set_free(rules);
}

static void calls_a_rule_that_does_not_fit_unsupported(void **state)
{
	struct rule_set *rules = rule_set_new();
	struct pkbpf_unwind_rule rule = {.cfa = PKBPF_CFA_SP};

	for (uint32_t i = 0; i < PKBPF_UNWIND_MAX_RULES - RULE_ID_FIXED_COUNT; i++) {
		rule.cfa_offset = (int32_t)i;
		assert_int_equal(rule_set_add(rules, &rule), i + RULE_ID_FIXED_COUNT);
	}
	assert_int_equal(rule_set_refused(rules), 0);
	rule.cfa_offset = -8;
	assert_int_equal(rule_set_add(rules, &rule), RULE_ID_NO_ROOM);
	assert_int_equal(rule_set_refused(rules), 1);
	assert_int_equal(rule_set_count(rules), PKBPF_UNWIND_MAX_RULES);
	/* What is there is still found. */
	rule.cfa_offset = 77;
	assert_int_equal(rule_set_add(rules, &rule), 77 + RULE_ID_FIXED_COUNT);
	rule_set_free(rules);
}

static uint32_t add_rules(struct rule_set *rules, uint32_t first, uint32_t count)
{
	struct pkbpf_unwind_rule rule = {.cfa = PKBPF_CFA_SP};
	uint32_t added = 0;

	for (uint32_t i = 0; i < count; i++) {
		rule.cfa_offset = (int32_t)(first + i);
		added += rule_set_add(rules, &rule) != RULE_ID_NO_ROOM;
	}
	return added;
}

static void leaves_most_of_what_is_left_to_other_files(void **state)
{
	struct rule_set *rules = rule_set_new();

	rule_set_begin_file(rules);
	assert_int_equal(add_rules(rules, 0, 70000), 4095);
	assert_int_equal(rule_set_refused(rules), 70000 - 4095);
	/* Fifty more of the kind leave room for ordinary ones. */
	for (uint32_t file = 1; file <= 50; file++) {
		rule_set_begin_file(rules);
		add_rules(rules, file * 70000, 70000);
	}
	rule_set_begin_file(rules);
	assert_in_range(add_rules(rules, 51 * 70000, 70000), 100, 200);
	/* What others have brought is no part of it. */
	assert_int_equal(add_rules(rules, 0, 4095), 4095);
	rule_set_free(rules);
}

static void gives_the_ids_of_rules_that_are_not_kept_again(void **state)
{
	static bool is_used[PKBPF_UNWIND_MAX_RULES];
	struct rule_set *rules = rule_set_new();
	struct pkbpf_unwind_rule rule = {.cfa = PKBPF_CFA_SP, .cfa_offset = 500};
	uint32_t kept, other, room;

	assert_int_equal(add_rules(rules, 0, 1000), 1000);
	room = rule_set_room(rules);
	assert_int_equal(room, PKBPF_UNWIND_MAX_RULES - RULE_ID_FIXED_COUNT - 1000);
	kept = rule_set_add(rules, &rule);
	is_used[kept] = true;
	assert_true(rule_set_keep(rules, is_used));
	assert_int_equal(rule_set_room(rules), room + 999);
	assert_int_equal(rule_set_add(rules, &rule), kept);
	/* A number below the highest, that says what the new rule says. */
	rule.cfa_offset = -16;
	other = rule_set_add(rules, &rule);
	assert_in_range(other, RULE_ID_FIXED_COUNT, RULE_ID_FIXED_COUNT + 999);
	assert_int_not_equal(other, kept);
	assert_int_equal(rule_set_rules(rules)[other].cfa_offset, -16);
	assert_int_equal(rule_set_rules(rules)[kept].cfa_offset, 500);
	assert_int_equal(rule_set_count(rules), RULE_ID_FIXED_COUNT + 1000);
	assert_int_equal(add_rules(rules, 100000, 70000),
			 PKBPF_UNWIND_MAX_RULES - RULE_ID_FIXED_COUNT - 2);
	rule_set_free(rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(begins_with_the_fixed_rules),
		cmocka_unit_test(gives_equal_rules_one_id),
		cmocka_unit_test(calls_a_rule_that_does_not_fit_unsupported),
		cmocka_unit_test(leaves_most_of_what_is_left_to_other_files),
		cmocka_unit_test(gives_the_ids_of_rules_that_are_not_kept_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
