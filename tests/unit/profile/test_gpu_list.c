// SPDX-License-Identifier: BSD-2-Clause
/* Levels of two intervals are a mean over both; times and energy add up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "profile/account/gpu_list.h"

static void joins_intervals(void **state)
{
	struct gpu_device first = {.id = "0000:03:00.0",
				   .driver = "amdgpu",
				   .busy_ns = 500,
				   .busy_of_ns = 1000,
				   .memory_kib = {4000 * 1000, 1000},
				   .memory_peak = 9000,
				   .memory_total = 10000,
				   .energy_uj = 50000000,
				   .energy_ns = 1000000000,
				   .millicelsius = 70000,
				   .temperature_readings = 1};
	struct gpu_device second = first, other = {.id = "b", .busy_ns = 0, .busy_of_ns = 2000};
	struct gpu_list list = {.devices.count = 0};
	const struct gpu_device *sum;
	double percent;

	second.memory_kib = (struct gpu_level){8000ULL * 3000, 3000};
	second.busy_ns = 1000;
	second.energy_uj = 10000000;
	second.millicelsius = 60000;
	second.memory_peak = 4000;
	assert_int_equal(gpu_list_add_device(&list, &first), 0);
	assert_int_equal(gpu_list_add_device(&list, &other), 1);
	assert_int_equal(gpu_list_add_device(&list, &second), 0);
	sum = &list.devices.items[0];
	assert_true(gpu_level_mean(&sum->memory_kib) == 7000);
	assert_int_equal(sum->memory_peak, 9000);
	assert_int_equal(sum->millicelsius, 70000);
	assert_true(gpu_device_watts(sum) == 30);
	assert_true(gpu_list_busy_percent(&list, &percent));
	assert_true(percent == 37.5);
	assert_true(gpu_list_memory_percent(&list, &percent));
	assert_true(percent == 90);
	gpu_list_done(&list);
	assert_false(gpu_list_busy_percent(&list, &percent));
	assert_false(gpu_list_memory_percent(&list, &percent));
	(void)state;
}

static void joins_processes_of_a_device(void **state)
{
	struct gpu_process process = {.pid = 7,
				      .comm = "train",
				      .begin_ns = 100,
				      .end_ns = 200,
				      .busy_ns = 10,
				      .memory_peak = 5};
	struct gpu_list list = {.devices.count = 0};

	assert_int_equal(gpu_list_add_process(&list, &process), 0);
	process.begin_ns = 50;
	process.end_ns = 300;
	process.memory_peak = 3;
	assert_int_equal(gpu_list_add_process(&list, &process), 0);
	process.device = 1;
	assert_int_equal(gpu_list_add_process(&list, &process), 0);
	strcpy(process.comm, "other");
	assert_int_equal(gpu_list_add_process(&list, &process), 0);
	assert_int_equal(list.processes.count, 3);
	assert_int_equal(list.processes.items[0].busy_ns, 20);
	assert_int_equal(list.processes.items[0].begin_ns, 50);
	assert_int_equal(list.processes.items[0].end_ns, 300);
	assert_int_equal(list.processes.items[0].memory_peak, 5);
	gpu_list_done(&list);
	(void)state;
}

static void has_bounds(void **state)
{
	struct gpu_list list = {.devices.count = 0};
	struct gpu_process process = {.pid = 0};
	struct gpu_device device = {.busy_ns = 1};

	for (int i = 0; i < GPU_LIST_DEVICES_MAX; i++) {
		snprintf(device.id, sizeof(device.id), "%d", i);
		assert_int_equal(gpu_list_add_device(&list, &device), i);
	}
	strcpy(device.id, "more");
	assert_int_equal(gpu_list_add_device(&list, &device), -ENOSPC);
	for (uint32_t i = 0; i < GPU_LIST_PROCESSES_MAX; i++) {
		process.pid = i;
		assert_int_equal(gpu_list_add_process(&list, &process), 0);
	}
	process.pid = GPU_LIST_PROCESSES_MAX;
	assert_int_equal(gpu_list_add_process(&list, &process), -ENOSPC);
	gpu_list_done(&list);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(joins_intervals),
		cmocka_unit_test(joins_processes_of_a_device),
		cmocka_unit_test(has_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
