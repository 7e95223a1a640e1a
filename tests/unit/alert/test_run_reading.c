// SPDX-License-Identifier: BSD-2-Clause
/* Tests what figures of the run are over several slices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "alert/run_reading.h"

#define SECOND 1000000000ULL

static struct run_readings readings;

static int setup(void **state)
{
	(void)state;
	readings = (struct run_readings){0};
	return 0;
}

/* The first figure of the run with this unit, and its number. */
static const struct figure *figure_with(enum figure_unit unit, size_t *ret_number)
{
	const struct figure *figure;

	*ret_number = 0;
	for (size_t i = 0; (figure = figure_at(i)); i++) {
		if (figure->scope != FIGURE_OF_RUN)
			continue;
		if (figure->unit == unit)
			return figure;
		(*ret_number)++;
	}
	fail_msg("no figure of the run has unit %d", (int)unit);
	return NULL;
}

/* -1: not known. */
static void add(size_t number, uint64_t seconds, double value)
{
	struct run_reading *reading = &readings.items[readings.next];

	*reading = (struct run_reading){.length_ns = seconds * SECOND};
	reading->known[number] = value >= 0;
	reading->values[number] = value;
	readings.next = (readings.next + 1) % RUN_READINGS_MAX;
	readings.count += readings.count < RUN_READINGS_MAX;
}

static void shares_are_means_by_time(void **state)
{
	size_t number;
	const struct figure *figure = figure_with(FIGURE_PERCENT, &number);
	double value;

	(void)state;
	assert_false(run_readings_value(&readings, figure, SECOND, &value));
	add(number, 100, 90);
	add(number, 10, 40);
	add(number, 30, 20);
	/* At least the last one. */
	assert_true(run_readings_value(&readings, figure, 1, &value));
	assert_float_equal(value, 20, 1e-9);
	assert_true(run_readings_value(&readings, figure, 40 * SECOND, &value));
	assert_float_equal(value, 25, 1e-9);
	assert_true(run_readings_value(&readings, figure, 41 * SECOND, &value));
	assert_float_equal(value, (9000. + 400 + 600) / 140, 1e-9);
}

static void numbers_are_sums(void **state)
{
	size_t number;
	const struct figure *figure = figure_with(FIGURE_COUNT, &number);
	double value;

	(void)state;
	/* Round the end of the ring. */
	for (size_t i = 0; i < RUN_READINGS_MAX; i++)
		add(number, 1, 1);
	add(number, 1, 5);
	add(number, 1, 7);
	assert_true(run_readings_value(&readings, figure, 3 * SECOND, &value));
	assert_float_equal(value, 13, 0);
}

static void half_of_it_has_to_be_known(void **state)
{
	size_t number;
	const struct figure *figure = figure_with(FIGURE_PERCENT, &number);
	double value;

	(void)state;
	add(number, 6, 50);
	add(number, 6, -1);
	assert_true(run_readings_value(&readings, figure, 12 * SECOND, &value));
	assert_float_equal(value, 50, 1e-9);
	assert_false(run_readings_value(&readings, figure, 13 * SECOND, &value));
	assert_false(run_readings_value(&readings, figure, 6 * SECOND, &value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(shares_are_means_by_time, setup),
		cmocka_unit_test_setup(numbers_are_sums, setup),
		cmocka_unit_test_setup(half_of_it_has_to_be_known, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
