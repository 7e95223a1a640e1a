// SPDX-License-Identifier: BSD-2-Clause
/* Tests figures of the machine, and the share of its energy that a row has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "profile/profile.h"
#include "rows/figure_table.h"

#define S 1000000000ULL

static struct resource_rows rows;

static int setup(void **state)
{
	struct profile *profile = profile_new(NULL);

	memset(&rows, 0, sizeof(rows));
	rows.profile = profile;
	*state = profile;
	return 0;
}

static int teardown(void **state)
{
	profile_free(*state);
	return 0;
}

static bool value_of(const char *name, const struct resource_row *row, double *ret_value)
{
	const struct figure *figure = figure_find(name);

	assert_non_null(figure);
	return figure_value(figure, &rows, row, ret_value);
}

static void energy_is_shared_out_by_cpu_time(void **state)
{
	struct machine_figures *machine = &profile_info(*state)->machine;
	struct resource_row row;
	double value;

	memset(&row, 0, sizeof(row));
	row.cpu.total_ns = 2 * S;
	rows.machine.known = true;
	rows.machine.busy_ns = 8 * S;
	row_cpu_part.finish(&rows, &row);
	assert_false(value_of("cpu.energy_mj", &row, &value));
	machine->energy_uj = 40000000;
	machine->energy_ns = 10 * S;
	row_cpu_part.finish(&rows, &row);
	assert_true(value_of("cpu.energy_mj", &row, &value));
	assert_float_equal(value, 10000, 0);
	assert_true(value_of("machine.power_watts", NULL, &value));
	assert_float_equal(value, 4, 0);
	/* The share is not known. */
	memset(&row, 0, sizeof(row));
	rows.machine.busy_ns = 0;
	row_cpu_part.finish(&rows, &row);
	assert_false(value_of("cpu.energy_mj", &row, &value));
}

static void the_busiest_disk_is_a_figure(void **state)
{
	struct disk disk = {.name = "sda", .busy_ns = S, .of_ns = 4 * S};
	double value;

	assert_false(value_of("machine.disk_busy", NULL, &value));
	assert_int_equal(disk_list_add(profile_disks(*state), &disk), 0);
	assert_true(value_of("machine.disk_busy", NULL, &value));
	assert_float_equal(value, 25, 0);
}

static void what_was_not_read_is_no_figure(void **state)
{
	static const char *const names[] = {
		"machine.memory_used_peak", "machine.temperature_celsius",
		"machine.throttled_times",  "machine.frequency_mhz",
		"machine.power_watts",
	};
	struct machine_figures *machine = &profile_info(*state)->machine;
	double value;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_false(value_of(names[i], NULL, &value));
	machine->memory_used_peak_bytes = 4096;
	machine->millicelsius = 61500;
	snprintf(machine->temperature_source, sizeof(machine->temperature_source), "coretemp");
	machine->throttles_known = true;
	machine->frequency_readings = 2;
	machine->frequency_sum_hz = 5 * S;
	assert_true(value_of(names[0], NULL, &value));
	assert_float_equal(value, 4096, 0);
	assert_true(value_of(names[1], NULL, &value));
	assert_float_equal(value, 61.5, 0);
	assert_true(value_of(names[2], NULL, &value));
	assert_float_equal(value, 0, 0);
	assert_true(value_of(names[3], NULL, &value));
	assert_float_equal(value, 2500, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(energy_is_shared_out_by_cpu_time, setup, teardown),
		cmocka_unit_test_setup_teardown(what_was_not_read_is_no_figure, setup, teardown),
		cmocka_unit_test_setup_teardown(the_busiest_disk_is_a_figure, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
