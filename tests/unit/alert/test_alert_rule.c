// SPDX-License-Identifier: BSD-2-Clause
/* Tests what a rule may say. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "alert/alert_rule.h"

#define SECOND 1000000000ULL

static int read_rules(const char *text, bool defaults, struct alert_rules *rules,
		      struct error *error)
{
	char copy[1024];
	struct ini ini;
	int err;

	snprintf(copy, sizeof(copy), "%s", text);
	assert_int_equal(ini_parse(copy, &ini, error), 0);
	err = alert_rules_read(&ini, defaults, rules, error);
	ini_done(&ini);
	return err;
}

static void a_rule_has_terms_times_and_names(void **state)
{
	struct alert_rules rules;
	struct error error;
	const struct alert_rule *rule;

	assert_int_equal(read_rules("[alert slow]\nwhen = postgres:blockio.p99 > 20ms and "
				    "machine.io_pressure>40% and function[a::b<c>].self >= 3%\n"
				    "over = 5m\nfor = 2m\nclear = < 15ms\nseverity = page\n"
				    "notify = ops, hook\nkeep = 1m\n",
				    false, &rules, &error),
			 0);
	assert_int_equal(rules.list.count, 1);
	rule = rules.list.items;
	assert_string_equal(rule->name, "slow");
	assert_int_equal(rule->term_count, 3);
	assert_int_equal(rule->terms[0].subject, ALERT_OF_FIGURE);
	assert_string_equal(rule->terms[0].condition.name, "postgres");
	assert_float_equal(rule->terms[0].condition.value, 20e6, 0);
	assert_int_equal(rule->terms[1].subject, ALERT_OF_HOST);
	assert_int_equal(rule->terms[1].host, HOST_IO_PRESSURE);
	assert_float_equal(rule->terms[1].condition.value, 40, 0);
	assert_int_equal(rule->terms[2].subject, ALERT_OF_FUNCTION);
	assert_string_equal(rule->terms[2].function, "a::b<c>");
	assert_int_equal(rule->terms[2].condition.comparison, CONDITION_AT_LEAST);
	assert_true(rule->has_clear);
	assert_float_equal(rule->clear, 15e6, 0);
	assert_int_equal(rule->over_ns, 300 * SECOND);
	assert_int_equal(rule->for_ns, 120 * SECOND);
	assert_int_equal(rule->keep_ns, 60 * SECOND);
	assert_string_equal(rule->severity, "page");
	assert_string_equal(rule->notify, "ops, hook");
	alert_rules_done(&rules);
}

static void a_rule_of_a_limit_is_cleared_at_another_part(void **state)
{
	struct alert_rules rules;
	struct error error;

	(void)state;
	if (read_rules("[alert slow]\nwhen = region[predict].over(100ms) > 1%\nclear = 0.5%\n",
		       false, &rules, &error))
		fail_msg("%s", error.text);
	assert_true(rules.list.items[0].has_clear);
	assert_float_equal(rules.list.items[0].clear, 0.5, 0);
	alert_rules_done(&rules);
}

static void a_function_has_a_part_of_its_own_or_of_all(void **state)
{
	static const struct {
		const char *text;
		bool total;
	} cases[] = {{"function[f].self>3%", false}, {"function[f].total>3%", true}};
	struct alert_term term;
	struct error error;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(alert_term_parse(cases[i].text, &term, &error), 0);
		assert_int_equal(term.subject, ALERT_OF_FUNCTION);
		assert_int_equal(term.total, cases[i].total);
		assert_string_equal(term.function, "f");
		assert_float_equal(term.condition.value, 3, 0);
	}
	assert_int_equal(alert_term_parse("function[f].all>3%", &term, &error), -EINVAL);
	assert_int_equal(alert_term_parse("function[].self>3%", &term, &error), -EINVAL);
}

static void what_is_usual_may_have_factors(void **state)
{
	static const struct {
		const char *value;
		double usual, spread;
	} cases[] = {{"usual", 1, 0},
		     {"2 usual", 2, 0},
		     {"1.5usual", 1.5, 0},
		     {"usual + 3 spread", 1, 3},
		     {"2 usual + spread", 2, 1}};
	static const char *const wrong[] = {"2 x usual", "as usual", "usual - spread",
					    "usual + 3 scatter", "-2 usual"};
	struct alert_term term;
	struct error error;
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(text, sizeof(text), "cpu.share>%s", cases[i].value);
		if (alert_term_parse(text, &term, &error) < 0)
			fail_msg("%s: %s", text, error.text);
		assert_true(term.is_past);
		assert_float_equal(term.usual, cases[i].usual, 0);
		assert_float_equal(term.spread, cases[i].spread, 0);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		snprintf(text, sizeof(text), "cpu.share>%s", wrong[i]);
		if (alert_term_parse(text, &term, &error) != -EINVAL)
			fail_msg("%s is taken", text);
	}
}

static void a_change_stands_alone_and_has_a_base(void **state)
{
	struct alert_rules rules;
	struct error error;

	assert_int_equal(read_rules("[alert r]\nwhen = cpu.function[*].self>+10%\n"
				    "base = yesterday\nover = 5m\n",
				    false, &rules, &error),
			 0);
	assert_int_equal(rules.list.items[0].term_count, 0);
	assert_true(rules.list.items[0].change.any);
	assert_string_equal(rules.list.items[0].base, "yesterday");
	alert_rules_done(&rules);
}

static void what_is_wrong_is_said_with_its_line(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{"[alert]\nwhen = lost > 0\n", "line 1"},
		{"[alert a]\nwhen = cpu.shar > 1\n", "line 2"},
		{"[alert a]\nwhen = cpu.share > 1\nfro = 1s\n", "line 3: unknown key 'fro'"},
		{"[alert a]\nwhen = cpu.share > 1\nfor = soon\n", "line 3"},
		{"[alert a]\nclear = 1\nwhen = cpu.share > 1\n", "line 2: clear requires when"},
		{"[alert a]\nwhen = lost>0 and lost>0 and lost>0 and lost>0 and lost>0\n",
		 "more than 4 terms"},
		{"[alert a]\nwhen = function[x.self>3%\n", "line 2"},
		{"[alert a]\nwhen = machine.io_pressure\n", "line 2"},
		{"[alert a]\nwhen = lost>0\nbase = monday\n", "line 3"},
		{"[alert a]\nfor = 1s\n", "has no when"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct alert_rules rules;
		struct error error;

		assert_int_equal(read_rules(rows[i].text, false, &rules, &error), -EINVAL);
		assert_non_null(strstr(error.text, rows[i].says));
		alert_rules_done(&rules);
	}
}

static void rules_that_are_on_can_be_replaced_and_ended(void **state)
{
	struct alert_rules rules, fewer;
	struct error error;
	bool found = false;

	assert_int_equal(read_rules("", true, &rules, &error), 0);
	assert_in_range(rules.list.count, 6, 20);
	assert_int_equal(read_rules("[alert cpu-busy]\nwhen = never\n"
				    "[alert io-pressure]\nwhen = machine.io_pressure > 50%\n",
				    true, &fewer, &error),
			 0);
	assert_int_equal(fewer.list.count, rules.list.count - 1);
	array_foreach(&fewer.list, rule) {
		assert_string_not_equal(rule->name, "cpu-busy");
		if (strcmp(rule->name, "io-pressure") != 0)
			continue;
		found = true;
		assert_float_equal(rule->terms[0].condition.value, 50, 0);
		assert_int_equal(rule->over_ns, 0);
	}
	assert_true(found);
	alert_rules_done(&rules);
	alert_rules_done(&fewer);
}

static void an_interval_beyond_what_is_known_is_refused(void **state)
{
	static const struct {
		const char *text;
		uint64_t slice_s;
		bool fits;
	} rows[] = {
		{"[alert a]\nwhen = machine.io_pressure > 40%\nover = 1h\n", 1, false},
		{"[alert a]\nwhen = machine.io_pressure > 40%\nover = 1h\n", 10, true},
		{"[alert a]\nwhen = machine.busy > 40%\nover = 1h\n", 1, false},
		{"[alert a]\nwhen = cpu.share > 1% and machine.busy > 40%\nover = 1h\n", 1, false},
		{"[alert a]\nwhen = cpu.share > 40%\nover = 1h\n", 1, true},
		{"[alert a]\nwhen = cpu.function[*].self>+10%\nover = 1h\n", 1, true},
		{"[alert a]\nwhen = machine.busy > 40%\nover = 1023s\n", 1, true},
		{"[alert a]\nwhen = machine.busy > 40%\nover = 1024s\n", 1, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct alert_rules rules;
		struct error error;

		assert_int_equal(read_rules(rows[i].text, false, &rules, &error), 0);
		if (alert_rules_check(&rules, rows[i].slice_s * SECOND, UINT32_MAX, true, &error) !=
		    (rows[i].fits ? 0 : -EINVAL))
			fail_msg("%s", rows[i].text);
		if (!rows[i].fits)
			assert_non_null(strstr(error.text, "[alert a]: over is"));
		alert_rules_done(&rules);
	}
}

static void a_rule_of_what_is_not_recorded_is_refused(void **state)
{
	static const struct {
		const char *text;
		const char *says; /* NULL: it is fine */
	} rows[] = {
		{"[alert a]\nwhen = cpu.share > 5%\n", NULL},
		{"[alert a]\nwhen = machine.io_pressure > 5%\n", NULL},
		{"[alert a]\nwhen = function[x].self > 5%\n", NULL},
		{"[alert a]\nwhen = offcpu.p99 > 5ms\n", "add offcpu to --events"},
		{"[alert a]\nwhen = cpu.share > 5% and blockio.p99 > 5ms\n",
		 "add blockio to --events"},
		{"[alert a]\nwhen = offcpu.function[*].self>+5%\n", "add offcpu to --events"},
		{"[alert a]\nwhen = region[x].p99 > 5ms\n",
		 "[alert a]: regions are not recorded; add "
		 "--regions"},
		{"[alert a]\nwhen = never\n", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct alert_rules rules;
		struct error error;

		/* Default rules wait for their kinds: run-queue is one. */
		assert_int_equal(read_rules(rows[i].text, true, &rules, &error), 0);
		if (alert_rules_check(&rules, 10 * SECOND,
				      1U << PKBPF_PROFILE_CPU | 1U << PKBPF_PROFILE_FAULTS, false,
				      &error) != (rows[i].says ? -EINVAL : 0))
			fail_msg("%s", rows[i].text);
		if (rows[i].says) {
			assert_non_null(strstr(error.text, rows[i].says));
			assert_non_null(strstr(error.text, "[alert a]: "));
		}
		alert_rules_done(&rules);
	}
	{
		struct alert_rules rules;
		struct error error;

		/* Written down, it is meant. */
		assert_int_equal(read_rules("[alert run-queue]\nwhen = offcpu.runqueue_p95 > 9ms\n",
					    true, &rules, &error),
				 0);
		assert_int_equal(alert_rules_check(&rules, 10 * SECOND, 1U << PKBPF_PROFILE_CPU,
						   true, &error),
				 -EINVAL);
		alert_rules_done(&rules);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rule_has_terms_times_and_names),
		cmocka_unit_test(a_rule_of_a_limit_is_cleared_at_another_part),
		cmocka_unit_test(a_function_has_a_part_of_its_own_or_of_all),
		cmocka_unit_test(what_is_usual_may_have_factors),
		cmocka_unit_test(a_rule_of_what_is_not_recorded_is_refused),
		cmocka_unit_test(an_interval_beyond_what_is_known_is_refused),
		cmocka_unit_test(a_change_stands_alone_and_has_a_base),
		cmocka_unit_test(what_is_wrong_is_said_with_its_line),
		cmocka_unit_test(rules_that_are_on_can_be_replaced_and_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
