// SPDX-License-Identifier: BSD-2-Clause
/* Tests for diff/measure_pprof: profiles of others, whose values have units. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "diff/measure_pprof.h"

/* ---- a profile of one function, written field by field ---- */

struct bytes {
	uint8_t at[1024];
	size_t size;
};

static void put_number(struct bytes *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		out->at[out->size++] = (uint8_t)(value | 0x80);
	out->at[out->size++] = (uint8_t)value;
}

static void put_value(struct bytes *out, unsigned int field, uint64_t value)
{
	put_number(out, field << 3);
	put_number(out, value);
}

static void put_bytes(struct bytes *out, unsigned int field, const void *data, size_t size)
{
	put_number(out, field << 3 | 2);
	put_number(out, size);
	memcpy(out->at + out->size, data, size);
	out->size += size;
}

static void put_pair(struct bytes *out, unsigned int field, uint64_t first_field, uint64_t first,
		     uint64_t second_field, uint64_t second)
{
	struct bytes part = {.size = 0};

	put_value(&part, (unsigned int)first_field, first);
	put_value(&part, (unsigned int)second_field, second);
	put_bytes(out, field, part.at, part.size);
}

struct given {
	const char *type, *unit; /* of the value beside samples; NULL: none */
	const char *period_unit; /* NULL: not said */
	uint64_t samples, value, period;
	uint64_t duration_ns;
};

/* Strings 1, 2: samples, count; 3, 4: the type; 5: the period's unit; 6, 7: names. */
static struct bytes write_profile(const struct given *given)
{
	const char *const strings[] = {"",
				       "samples",
				       "count",
				       given->type ? given->type : "",
				       given->unit ? given->unit : "",
				       given->period_unit ? given->period_unit : "",
				       "parse",
				       "/usr/bin/app"};
	struct bytes out = {.size = 0}, sample = {.size = 0}, line = {.size = 0};
	struct bytes location = {.size = 0};

	put_pair(&out, 1, 1, 1, 2, 2);
	if (given->type)
		put_pair(&out, 1, 1, 3, 2, 4);
	put_value(&sample, 1, 9);
	put_value(&sample, 2, given->samples);
	if (given->type)
		put_value(&sample, 2, given->value);
	put_bytes(&out, 2, sample.at, sample.size);
	put_pair(&out, 3, 1, 1, 5, 7);
	put_value(&line, 1, 4);
	put_value(&location, 1, 9);
	put_value(&location, 2, 1);
	put_bytes(&location, 4, line.at, line.size);
	put_bytes(&out, 4, location.at, location.size);
	put_pair(&out, 5, 1, 4, 2, 6);
	for (size_t i = 0; i < sizeof(strings) / sizeof(*strings); i++)
		put_bytes(&out, 6, strings[i], strlen(strings[i]));
	put_value(&out, 10, given->duration_ns);
	if (given->period_unit)
		put_pair(&out, 11, 1, 1, 2, 5);
	if (given->period)
		put_value(&out, 12, given->period);
	return out;
}

/* ---- reading ---- */

static struct diff_names names;
static struct measurement side;
static struct error error;

static int read_profile(const struct given *given)
{
	struct bytes bytes = write_profile(given);

	return measure_pprof(&side, bytes.at, bytes.size, &error);
}

static int setup(void **state)
{
	(void)state;
	assert_true(diff_names_init(&names));
	measurement_init(&side, &names);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	measurement_done(&side);
	diff_names_done(&names);
	return 0;
}

static double sum_of(uint32_t kind, enum diff_level level, const char *name)
{
	struct diff_key key = {kind, level, string_pool_find(names.texts, name)};
	const struct diff_series *series = measurement_find(&side, &key);
	double sum = 0;

	assert_non_null(series);
	array_foreach(&series->values, each)
		sum += each->value;
	return sum;
}

static void times_are_read_in_their_unit(void **state)
{
	static const struct {
		const char *unit;
		uint64_t value;
	} rows[] = {{"nanoseconds", 3000000000},
		    {"microseconds", 3000000},
		    {"milliseconds", 3000},
		    {"seconds", 3},
		    {"ns", 3000000000},
		    {"us", 3000000},
		    {"ms", 3000},
		    {"s", 3},
		    {"", 3000000000}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		setup(state);
		assert_int_equal(read_profile(&(struct given){.type = "cpu",
							      .unit = rows[i].unit,
							      .samples = 300,
							      .value = rows[i].value,
							      .duration_ns = 10 * NS_PER_SECOND}),
				 0);
		assert_float_equal(sum_of(PKBPF_PROFILE_CPU, DIFF_SELF, "parse"), 3e9, 1);
		assert_float_equal(sum_of(PKBPF_PROFILE_CPU, DIFF_PROCESS, "app"), 3e9, 1);
		assert_int_equal(measurement_length_ns(&side), 10 * NS_PER_SECOND);
		teardown(state);
	}
}

static void a_unit_that_is_no_time_is_refused(void **state)
{
	(void)state;
	assert_int_equal(read_profile(&(struct given){
				 .type = "cpu", .unit = "cycles", .samples = 1, .value = 5}),
			 -ENOTSUP);
	assert_non_null(strstr(error.text, "'cycles'"));
	assert_non_null(strstr(error.text, "microseconds"));
}

static void counts_have_no_unit(void **state)
{
	(void)state;
	assert_int_equal(
		read_profile(&(struct given){
			.type = "page_faults", .unit = "faults", .samples = 2, .value = 70}),
		0);
	assert_float_equal(sum_of(PKBPF_PROFILE_FAULTS, DIFF_SELF, "parse"), 70, 0);
}

static void samples_count_their_period_in_its_unit(void **state)
{
	static const struct {
		const char *unit;
		uint64_t period;
	} rows[] = {{"nanoseconds", 10000000}, {"microseconds", 10000}, {NULL, 10000000}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		setup(state);
		assert_int_equal(read_profile(&(struct given){.period_unit = rows[i].unit,
							      .samples = 300,
							      .period = rows[i].period}),
				 0);
		assert_float_equal(sum_of(PKBPF_PROFILE_CPU, DIFF_SELF, "parse"), 3e9, 1);
		teardown(state);
	}
}

static void a_period_that_is_no_time_is_refused(void **state)
{
	(void)state;
	assert_int_equal(read_profile(&(struct given){
				 .period_unit = "instructions", .samples = 300, .period = 1000}),
			 -ENOTSUP);
	assert_non_null(strstr(error.text, "its period in 'instructions'"));
}

static void what_is_cut_off_is_damaged(void **state)
{
	struct bytes bytes = write_profile(
		&(struct given){.type = "cpu", .unit = "nanoseconds", .samples = 1, .value = 5});

	(void)state;
	assert_int_equal(measure_pprof(&side, bytes.at, 0, &error), -EBADMSG);
	assert_int_equal(measure_pprof(&side, bytes.at, 5, &error), -EBADMSG);
	assert_int_equal(measure_pprof_file(&side, "\x1f\x8b\x08", 3, &error), -EBADMSG);
	assert_non_null(strstr(error.text, "gzip"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_read_in_their_unit),
		TEST(a_unit_that_is_no_time_is_refused),
		TEST(counts_have_no_unit),
		cmocka_unit_test(samples_count_their_period_in_its_unit),
		TEST(a_period_that_is_no_time_is_refused),
		TEST(what_is_cut_off_is_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
