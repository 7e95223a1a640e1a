// SPDX-License-Identifier: BSD-2-Clause
/* Tests pressure over time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "alert/host_reading.h"

#define SECOND 1000000000ULL

static void sums_of_a_line_are_read(void **state)
{
	static const char text[] = "some avg10=1.00 avg60=0.50 avg300=0.10 total=123456\n"
				   "full avg10=0.00 avg60=0.00 avg300=0.00 total=99\n";
	uint64_t us;

	assert_true(host_pressure_parse(text, "some", &us));
	assert_int_equal(us, 123456);
	assert_true(host_pressure_parse(text, "full", &us));
	assert_int_equal(us, 99);
	assert_false(host_pressure_parse("some avg10=1.00\nfull total=7\n", "some", &us));
	assert_false(host_pressure_parse("", "some", &us));
	assert_false(host_pressure_parse("something total=1\n", "some", &us));
}

/* Half a second of each second. */
static void add(struct host_readings *readings, uint64_t n)
{
	struct host_reading reading = {.time_ns = (100 + n) * SECOND, .memory_used = 30};

	reading.known[HOST_IO_PRESSURE] = true;
	reading.stalled_us[HOST_IO_PRESSURE] = 5000 + n * 500000;
	host_readings_add(readings, &reading);
}

static void pressure_is_a_share_of_the_time(void **state)
{
	struct host_readings readings = {0};
	double value;

	assert_false(host_readings_value(&readings, HOST_IO_PRESSURE, 0, &value));
	add(&readings, 0);
	assert_false(host_readings_value(&readings, HOST_IO_PRESSURE, 0, &value));
	add(&readings, 1);
	assert_true(host_readings_value(&readings, HOST_IO_PRESSURE, 0, &value));
	assert_float_equal(value, 50, 1e-9);
	assert_true(host_readings_value(&readings, HOST_MEMORY_USED, 0, &value));
	assert_float_equal(value, 30, 1e-9);
	/* Of an interval of which little is known nothing is. */
	assert_false(host_readings_value(&readings, HOST_IO_PRESSURE, 60 * SECOND, &value));
	assert_false(host_readings_value(&readings, HOST_CPU_PRESSURE, 0, &value));
	for (uint64_t n = 2; n < 3 * HOST_READINGS_MAX; n++)
		add(&readings, n);
	assert_true(host_readings_value(&readings, HOST_IO_PRESSURE, 60 * SECOND, &value));
	assert_float_equal(value, 50, 1e-9);
}

static void a_figure_has_a_name(void **state)
{
	for (int i = 0; i < HOST_FIGURES; i++) {
		const char *name = host_figure_name((enum host_figure)i);

		assert_int_equal(host_figure_find(name, strlen(name)), i);
	}
	assert_int_equal(host_figure_find("machine.busy", 12), HOST_FIGURES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_of_a_line_are_read),
		cmocka_unit_test(pressure_is_a_share_of_the_time),
		cmocka_unit_test(a_figure_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
