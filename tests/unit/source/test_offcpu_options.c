// SPDX-License-Identifier: BSD-2-Clause
/* The options of the off-CPU source, as its rows of the option table read them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/array.h"
#include "source/source_options.h"

static const struct option_row *row_of(const char *name)
{
	const struct option_row *row = offcpu_option_rows;

	while (row->name && strcmp(row->name, name) != 0)
		row++;
	assert_non_null(row->name);
	return row;
}

static void the_overhead_is_limited_to_a_hundredth_of_the_machine(void **state)
{
	struct source_options options;

	source_options_init(&options);
	assert_int_equal(options.offcpu.max_overhead_permille, 10 * sysconf(_SC_NPROCESSORS_ONLN));
	assert_false(options.offcpu.wakers || options.offcpu.kernel_threads);
	assert_int_equal(options.offcpu.min_block_ns, 0);
}

static void the_overhead_is_percent_of_one_cpu_or_none(void **state)
{
	static const struct {
		const char *value;
		int err;
		uint32_t permille;
	} rows[] = {
		{"1", 0, 10},
		{"3%", 0, 30},
		{"100", 0, 1000},
		{"none", 0, 0},
		{"0", -ERANGE, 77},
		{"101%", -ERANGE, 77},
		{"", -EINVAL, 77},
		{"%", -EINVAL, 77},
		{"much", -EINVAL, 77},
		{"1.5", -EINVAL, 77},
		{"1%%", -EINVAL, 77},
		{"-1", -EINVAL, 77},
		{"00000000000000000001", -EINVAL, 77},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct source_options options = {.offcpu.max_overhead_permille = 77};
		struct error error = {0};

		assert_int_equal(
			option_row_apply(row_of("max-overhead"), &options, rows[i].value, &error),
			rows[i].err);
		assert_int_equal(options.offcpu.max_overhead_permille, rows[i].permille);
		if (rows[i].err)
			assert_non_null(strstr(error.text, "--max-overhead: expected 1 to 100 "
							   "(percent of one CPU) or none"));
	}
}

static void every_option_lands_in_its_member(void **state)
{
	struct source_options options = {0};
	struct error error;

	assert_int_equal(option_row_apply(row_of("min-block"), &options, "20us", &error), 0);
	assert_int_equal(options.offcpu.min_block_ns, 20000);
	assert_int_equal(option_row_apply(row_of("wakers"), &options, NULL, &error), 0);
	assert_true(options.offcpu.wakers && !options.offcpu.kernel_threads);
	assert_int_equal(option_row_apply(row_of("kernel-threads"), &options, NULL, &error), 0);
	assert_true(options.offcpu.kernel_threads);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_overhead_is_limited_to_a_hundredth_of_the_machine),
		cmocka_unit_test(the_overhead_is_percent_of_one_cpu_or_none),
		cmocka_unit_test(every_option_lands_in_its_member),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
