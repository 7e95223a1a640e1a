// SPDX-License-Identifier: BSD-2-Clause
// Tests for rows/memory_trend: series of memory whose growth is known.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rows/memory_trend.h"
#include "statistics/random.h"

#define POINTS 100
#define MIB    (1 << 20)

static struct memory_point points[POINTS];
static const struct memory_point *series[POINTS];

/* bytes_at: of the point with this number, of POINTS. */
static uint64_t growth_of(uint64_t (*bytes_at)(size_t number), size_t count)
{
	struct memory_row row = {.points = series, .count = count};

	for (size_t i = 0; i < count; i++) {
		points[i] = (struct memory_point){.time_ns = 1000000 + i * 1000000,
						  .anonymous = bytes_at(i),
						  /* Pages of files are no growth. */
						  .file = i * MIB};
		series[i] = &points[i];
	}
	return memory_trend_growth(&row);
}

/* Fills up by 90 MiB, and gives it back, ten times. */
static uint64_t swing(size_t number)
{
	return (50 + 10 * (number % 10)) * MIB;
}

static uint64_t swing_that_grows(size_t number)
{
	return swing(number) + number * MIB / 2;
}

static uint64_t swing_that_shrinks(size_t number)
{
	return swing(POINTS - number) + (POINTS - number) * MIB / 2;
}

static uint64_t steady_leak(size_t number)
{
	return (10 + number) * MIB;
}

/* Loads for a fifth of the time, and swings then. */
static uint64_t start(size_t number)
{
	return (number < 20 ? 10 * number : 200 + 3 * (number % 7)) * MIB;
}

/* As a cache does. */
static uint64_t fills_up(size_t number)
{
	return 500ULL * MIB - 500ULL * MIB / (1 + number);
}

static uint64_t noise(size_t number)
{
	uint64_t state = number;

	return 100 * MIB + random_next(&state) % (80 * MIB);
}

static void lows_that_rise_are_growth(void **state)
{
	assert_in_range(growth_of(swing_that_grows, POINTS), 40 * MIB, 60 * MIB);
	assert_in_range(growth_of(steady_leak, POINTS), 90 * MIB, 110 * MIB);
}

static void what_comes_and_goes_is_none(void **state)
{
	assert_int_equal(growth_of(swing, POINTS), 0);
	assert_int_equal(growth_of(swing_that_shrinks, POINTS), 0);
	assert_int_equal(growth_of(noise, POINTS), 0);
}

static void a_start_and_a_cache_end(void **state)
{
	assert_int_equal(growth_of(start, POINTS), 0);
	assert_int_equal(growth_of(fills_up, POINTS), 0);
}

static void few_points_say_nothing(void **state)
{
	assert_int_equal(growth_of(steady_leak, 15), 0);
	assert_int_equal(growth_of(steady_leak, 1), 0);
	assert_true(growth_of(steady_leak, 16) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lows_that_rise_are_growth),
		cmocka_unit_test(what_comes_and_goes_is_none),
		cmocka_unit_test(a_start_and_a_cache_end),
		cmocka_unit_test(few_points_say_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
