// SPDX-License-Identifier: BSD-2-Clause
/* The option of the memory source, as its row of the option table reads it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "source/source_options.h"

#define MS 1000000ULL

static void readings_are_a_tenth_of_a_second_apart(void **state)
{
	struct source_options options;

	source_options_init(&options);
	assert_int_equal(options.memory.every_ns, 100 * MS);
}

static void the_time_between_readings_has_bounds(void **state)
{
	static const struct {
		const char *value;
		int err;
		uint64_t every_ns;
	} rows[] = {
		{"1ms", 0, MS},		{"250ms", 0, 250 * MS}, {"1h", 0, 3600000 * MS},
		{"999us", -EINVAL, 77}, {"61m", -EINVAL, 77},	{"0", -ERANGE, 77},
		{"", -EINVAL, 77},	{"often", -EINVAL, 77}, {"-1s", -EINVAL, 77},
	};

	assert_string_equal(memory_option_rows[0].name, "memory-every");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct source_options options = {.memory.every_ns = 77};
		struct error error = {0};
		int err = memory_option_rows[0].parse(&options, rows[i].value, &error);

		if (err != rows[i].err)
			fail_msg("%s: %d instead of %d", rows[i].value, err, rows[i].err);
		assert_int_equal(options.memory.every_ns, rows[i].every_ns);
		if (err)
			assert_non_null(strstr(error.text, "--memory-every"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readings_are_a_tenth_of_a_second_apart),
		cmocka_unit_test(the_time_between_readings_has_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
