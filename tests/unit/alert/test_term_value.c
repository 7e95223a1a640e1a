// SPDX-License-Identifier: BSD-2-Clause
/* Tests the number of a term in a profile: of programs, processes, regions, and of nobody. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "account_scenario.h"
#include "alert/term_value.h"
#include "base/array.h"
#include "region_record.h"

static struct fake_profile fake;

static int setup(void **state)
{
	(void)state;
	account_scenario_init(&fake);
	region_record_send(aggregator_sink(fake.aggregator), 812, "query", NULL, 4, 20000000);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_profile_done(&fake);
	return 0;
}

static int value_of(const char *text, double *ret_value)
{
	struct alert_term term;
	struct error error;

	if (alert_term_parse(text, &term, &error) < 0)
		fail_msg("%s: %s", text, error.text);
	*ret_value = -1;
	return term_value(&term, fake.profile, ret_value);
}

static void a_program_has_its_figure(void **state)
{
	double value;

	(void)state;
	assert_int_equal(value_of("postgres:cpu.total>1ms", &value), 0);
	assert_float_equal(value, 900e6, 0);
	assert_int_equal(value_of("nobody:cpu.total>1ms", &value), -ENODATA);
	assert_float_equal(value, -1, 0);
}

static void a_region_has_its_figure(void **state)
{
	double value;

	(void)state;
	assert_int_equal(value_of("region[query].mean>1ms", &value), 0);
	assert_float_equal(value, 20e6, 0);
	assert_int_equal(value_of("region[query].count>1", &value), 0);
	assert_float_equal(value, 4, 0);
	assert_int_equal(value_of("region[other].count>1", &value), -ENODATA);
	assert_float_equal(value, -1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_program_has_its_figure, setup, teardown),
		cmocka_unit_test_setup_teardown(a_region_has_its_figure, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
