// SPDX-License-Identifier: BSD-2-Clause
/* Tests for unwind/rule_set: stable ids, and what happens when they run out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "unwind/rule_set.h"

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

	rule.rbx_offset = -16;
	second = rule_set_add(rules, &rule);
	assert_int_equal(first, RULE_ID_FIXED_COUNT);
	assert_int_equal(second, first + 1);
	rule.rbx_offset = 0;
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
	assert_int_equal(rule_set_add(rules, &rule), RULE_ID_UNSUPPORTED);
	assert_int_equal(rule_set_refused(rules), 1);
	assert_int_equal(rule_set_count(rules), PKBPF_UNWIND_MAX_RULES);
	/* What is there is still found. */
	rule.cfa_offset = 77;
	assert_int_equal(rule_set_add(rules, &rule), 77 + RULE_ID_FIXED_COUNT);
	rule_set_free(rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(begins_with_the_fixed_rules),
		cmocka_unit_test(gives_equal_rules_one_id),
		cmocka_unit_test(calls_a_rule_that_does_not_fit_unsupported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
