// SPDX-License-Identifier: BSD-2-Clause
/* Tests for alert/evaluation: the direction and the size of a change that a rule names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "alert/evaluation.h"

static struct diff_names names;
static struct comparison comparison;
static struct alert_values values;

static int setup(void **state)
{
	(void)state;
	assert_true(diff_names_init(&names));
	comparison = (struct comparison){.names = &names, .kinds_mask = 1U << PKBPF_PROFILE_CPU};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	comparison_done(&comparison);
	diff_names_done(&names);
	return 0;
}

/* A process whose CPU time changed significantly. */
static void add(const char *name, double base, double new)
{
	struct diff_row *row = array_add(&comparison.rows);

	assert_non_null(row);
	*row = (struct diff_row){
		.key = {PKBPF_PROFILE_CPU, DIFF_PROCESS, string_pool_add(names.texts, name)},
		.sides = {{.value = base}, {.value = new}},
		.change = new - base,
		.has_ratio = base > 0,
		.ratio = base > 0 ? new / base - 1 : 0,
		.verdict = new > base ? DIFF_GREW : DIFF_SHRANK,
	};
}

/* Names that a rule of this change fires for, in their order. */
static const char *firing(const char *when)
{
	static char list[256];
	struct alert_rule rule = {0};

	assert_int_equal(diff_condition_parse(when, &rule.change, NULL), 0);
	alert_evaluate_change(&rule, &comparison, &values);
	assert_true(values.known);
	list[0] = '\0';
	for (size_t i = 0; i < values.count; i++) {
		assert_true(values.items[i].holds);
		strcat(list, list[0] ? " " : "");
		strcat(list, values.items[i].who);
	}
	return list;
}

static void a_rule_of_a_fall_fires_on_falls_beyond_its_threshold_alone(void **state)
{
	(void)state;
	add("grew", 1, 1.5);
	add("crept", 1, 1.1);
	add("shrank", 1, 0.9);
	add("fell", 1, 0.7);
	add("gone", 1, 0);
	assert_string_equal(firing("cpu.process[*]<-20%"), "fell gone");
	assert_string_equal(firing("cpu.process[grew]<-20%"), "");
	assert_string_equal(firing("cpu.process[fell]<-20%"), "fell");
	assert_string_equal(firing("cpu.process[fell]<-40%"), "");
	assert_string_equal(firing("cpu.process[*]<-0%"), "shrank fell gone");
}

static void a_rule_of_growth_fires_on_growth_beyond_its_threshold_alone(void **state)
{
	(void)state;
	add("grew", 1, 1.5);
	add("crept", 1, 1.1);
	add("fell", 1, 0.7);
	add("new", 0, 1);
	assert_string_equal(firing("cpu.process[*]>+20%"), "grew new");
	assert_string_equal(firing("cpu.process[crept]>+20%"), "");
}

static void a_change_is_told_with_its_sign_and_size(void **state)
{
	(void)state;
	add("fell", 2, 1);
	add("new", 0, 1);
	firing("cpu.process[*]<-20%");
	assert_string_equal(values.items[0].text, "cpu changed by -50.0 %");
	assert_float_equal(values.items[0].value, -50, 1e-9);
	firing("cpu.process[*]>+20%");
	assert_string_equal(values.items[0].text, "cpu is new");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_rule_of_a_fall_fires_on_falls_beyond_its_threshold_alone, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			a_rule_of_growth_fires_on_growth_beyond_its_threshold_alone, setup,
			teardown),
		cmocka_unit_test_setup_teardown(a_change_is_told_with_its_sign_and_size, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
