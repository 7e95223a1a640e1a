// SPDX-License-Identifier: BSD-2-Clause
/* Tests for alert/evaluation: the direction and the size of a change that a rule names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "account_machine.h"
#include "alert/evaluation.h"
#include "region_record.h"

static struct diff_names names;
static struct comparison comparison;
static struct alert_values values;
static double looks = 1;

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
		.probability = 1e-5,
		.risk = 1e-3,
	};
}

/* Names that a rule of this change fires for, in their order. */
static const char *firing(const char *when)
{
	static char list[256];
	struct alert_rule rule = {0};

	assert_int_equal(diff_condition_parse(when, &rule.change, NULL), 0);
	alert_evaluate_change(&rule, &comparison, looks, &values);
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

/* Of a thousand looks at chance one would be significant at a thousandth. */
static void looks_share_the_risk_of_a_false_alarm(void **state)
{
	(void)state;
	add("grew", 1, 1.5);
	/* A chance of 1e-5 in 2 %: all of the risk is its own. */
	looks = 1990;
	assert_string_equal(firing("cpu.process[*]>+20%"), "grew");
	looks = 2010;
	assert_string_equal(firing("cpu.process[*]>+20%"), "");
	add("other", 1, 1.5);
	looks = 990;
	assert_string_equal(firing("cpu.process[*]>+20%"), "grew other");
	looks = 1010;
	assert_string_equal(firing("cpu.process[*]>+20%"), "");
	/* One that is named shares it with nobody. */
	assert_string_equal(firing("cpu.process[grew]>+20%"), "grew");
	looks = 1;
}

/* Two processes of one name, of which both are beyond the limit. */
static const char *text_of_two(uint64_t first_ns, uint64_t second_ns, const char *when)
{
	struct alert_input input = {0};
	struct alert_rule rule = {.term_count = 1};
	struct fake_profile machine;

	assert_int_equal(alert_term_parse(when, &rule.terms[0], NULL), 0);
	account_begin(&machine, 1U << PKBPF_PROFILE_CPU, 12000000000ULL, 8000000000ULL);
	account_process(&machine, &(struct account_process){
					  .pid = 812, .comm = "worker", .run_ns = first_ns});
	account_process(&machine, &(struct account_process){
					  .pid = 813, .comm = "worker", .run_ns = second_ns});
	account_end(&machine);
	input.profile = machine.profile;
	assert_int_equal(alert_evaluate(&rule, &input, &values), 0);
	fake_profile_done(&machine);
	assert_true(values.known);
	assert_int_equal(values.count, 1);
	assert_true(values.items[0].holds);
	return values.items[0].text;
}

static void of_rows_that_share_a_name_the_worst_is_told(void **state)
{
	(void)state;
	assert_string_equal(text_of_two(3000000000ULL, 9000000000ULL, "*:cpu.user>1s"),
			    "cpu.user is 9.00 s");
	assert_string_equal(text_of_two(9000000000ULL, 3000000000ULL, "*:cpu.user>1s"),
			    "cpu.user is 9.00 s");
	assert_string_equal(text_of_two(3000000000ULL, 9000000000ULL, "*:cpu.user<10s"),
			    "cpu.user is 3.00 s");
	assert_string_equal(text_of_two(9000000000ULL, 3000000000ULL, "*:cpu.user<10s"),
			    "cpu.user is 3.00 s");
}

static void a_region_is_told_by_its_name(void **state)
{
	struct alert_input input = {0};
	struct fake_profile machine;
	struct alert_rule rule = {.term_count = 1};
	struct error error;

	(void)state;
	account_begin(&machine, 1U << PKBPF_PROFILE_CPU, 1000000000ULL, 0);
	account_process(&machine, &(struct account_process){.pid = 7, .comm = "app", .run_ns = 1});
	region_record_send(aggregator_sink(machine.aggregator), 7, "query", NULL, 4, 20000000);
	account_end(&machine);
	input.profile = machine.profile;
	assert_int_equal(alert_term_parse("region[query].mean>10ms", &rule.terms[0], &error), 0);
	assert_int_equal(alert_evaluate(&rule, &input, &values), 0);
	assert_true(values.known);
	assert_int_equal(values.count, 1);
	assert_string_equal(values.items[0].who, "query");
	assert_true(values.items[0].holds);
	assert_float_equal(values.items[0].value, 20e6, 0);
	/* It was not there: nothing is known. */
	assert_int_equal(alert_term_parse("region[other].mean>10ms", &rule.terms[0], &error), 0);
	assert_int_equal(alert_evaluate(&rule, &input, &values), 0);
	assert_false(values.known);
	fake_profile_done(&machine);
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
		cmocka_unit_test(of_rows_that_share_a_name_the_worst_is_told),
		cmocka_unit_test(a_region_is_told_by_its_name),
		cmocka_unit_test_setup_teardown(looks_share_the_risk_of_a_false_alarm, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_change_is_told_with_its_sign_and_size, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
