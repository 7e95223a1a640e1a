// SPDX-License-Identifier: BSD-2-Clause
/* NVIDIA's library in a process of its own: what it tells when it is sound, and that one which
 * hangs, crashes, lies or lacks functions costs its figures and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "gpu/gpu_meter.h"
#include "gpu/nvml_keeper.h"

#define FIRST "0000:3b:00.0"
#define GIB   (1ULL << 30)

static struct nvml_keeper *start(const char *library, const char *behaviour)
{
	const struct nvml_keeper_options options = {
		.library = library,
		.look_ns = NS_PER_MS,
		.limit_ns = 300 * NS_PER_MS,
		.pause_ns = NS_PER_MS,
	};
	struct nvml_keeper *keeper;
	struct error error;
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", getpid());
	setenv("NVML_STAND_IN_PID", pid, 1);
	setenv("NVML_STAND_IN", behaviour, 1);
	assert_int_equal(nvml_keeper_start(&options, &keeper, &error), 0);
	return keeper;
}

/* Waits until something new is told: a look, or a reason. */
static const struct gpu_look *await_look(struct nvml_keeper *keeper)
{
	struct pollfd told = {.fd = nvml_keeper_fd(keeper), .events = POLLIN};
	const char *reason;

	while (!nvml_keeper_read(keeper))
		assert_int_equal(poll(&told, 1, 60000), 1);
	return nvml_keeper_look(keeper, &reason);
}

static const char *await_reason(struct nvml_keeper *keeper)
{
	struct pollfd told = {.fd = nvml_keeper_fd(keeper), .events = POLLIN};
	const char *reason;

	for (;;) {
		nvml_keeper_read(keeper);
		if (!nvml_keeper_look(keeper, &reason) && reason[0])
			return reason;
		assert_int_equal(poll(&told, 1, 60000), 1);
	}
}

static void tells_what_the_library_knows(void **state)
{
	const unsigned int known = GPU_HAS_BUSY | GPU_HAS_MEMORY | GPU_HAS_TOTAL | GPU_HAS_POWER |
				   GPU_HAS_TEMPERATURE | GPU_HAS_CLOCK | GPU_HAS_THROTTLE;
	struct nvml_keeper *keeper = start(NVML_STAND_IN_FILE, "sound");
	const struct gpu_look *look = await_look(keeper);
	const struct gpu_reading *first = &look->devices[0];

	assert_int_equal(look->device_count, 2);
	assert_string_equal(first->id, FIRST);
	assert_string_equal(first->name, "Stand-in T4");
	assert_string_equal(first->driver, "nvidia");
	assert_int_equal(first->known, known);
	assert_int_equal(first->busy_permille, 400);
	assert_int_equal(first->memory_used, 4 * GIB);
	assert_int_equal(first->memory_total, 16 * GIB);
	assert_int_equal(first->power_mw, 61000);
	assert_int_equal(first->millicelsius, 65000);
	assert_int_equal(first->clock_hz, 1590000000);
	assert_int_equal(first->throttle, GPU_THROTTLED_POWER);
	assert_string_equal(look->devices[1].id, "0000:af:00.0");
	assert_int_equal(look->devices[1].throttle, 0);
	assert_int_equal(look->uses.count, 1);
	assert_int_equal(look->uses.items[0].pid, getpid());
	assert_int_equal(look->uses.items[0].device, 0);
	assert_int_equal(look->uses.items[0].known, GPU_HAS_BUSY | GPU_HAS_MEMORY);
	assert_int_equal(look->uses.items[0].busy_ns, 35);
	assert_int_equal(look->uses.items[0].memory, 3 * GIB);
	assert_int_equal(nvml_keeper_dropped(keeper), 0);
	nvml_keeper_stop(keeper);
	(void)state;
}

static void counters_are_of_the_time_between_looks(void **state)
{
	struct nvml_keeper *keeper = start(NVML_STAND_IN_FILE, "sound");
	const struct gpu_look *look = await_look(keeper);
	const struct gpu_activity *activity;

	while (!(look->devices[0].known & GPU_HAS_SM))
		look = await_look(keeper);
	activity = &look->devices[0].activity;
	assert_int_equal(activity->sm_permille, 725);
	assert_int_equal(activity->tensor_permille, 310);
	assert_int_equal(activity->dram_permille, 444);
	assert_int_equal(activity->pcie_tx, 100 << 20);
	assert_int_equal(activity->pcie_rx, 200 << 20);
	assert_true(look->devices[0].known & GPU_HAS_PCIE);
	assert_false(look->devices[0].known & GPU_HAS_NVLINK);
	assert_false(look->devices[1].known & GPU_HAS_SM);
	assert_int_equal(nvml_keeper_dropped(keeper), 0);
	nvml_keeper_stop(keeper);
	(void)state;
}

static void joins_what_the_kernel_knows(void **state)
{
	struct nvml_keeper *keeper = start(NVML_STAND_IN_FILE, "sound");
	struct gpu_meter *meter = gpu_meter_new("/nowhere", keeper);
	struct gpu_look look = {.device_count = 0};

	await_look(keeper);
	gpu_meter_look(meter, NS_PER_SECOND, &look);
	assert_int_equal(look.uses.items[0].busy_ns, 0);
	gpu_look_clear(&look);
	gpu_meter_look(meter, 3 * NS_PER_SECOND, &look);
	assert_int_equal(look.device_count, 2);
	assert_int_equal(look.uses.count, 1);
	assert_int_equal(look.uses.items[0].busy_ns, 700 * NS_PER_MS);
	gpu_look_clear(&look);
	gpu_meter_free(meter);
	nvml_keeper_stop(keeper);
	(void)state;
}

static void does_without_what_an_old_library_lacks(void **state)
{
	struct nvml_keeper *keeper = start(NVML_OLD_FILE, "sound");
	const struct gpu_look *look = await_look(keeper);

	assert_int_equal(look->devices[0].known, GPU_HAS_BUSY | GPU_HAS_MEMORY | GPU_HAS_TOTAL |
							 GPU_HAS_POWER | GPU_HAS_TEMPERATURE);
	assert_int_equal(look->uses.count, 0);
	nvml_keeper_stop(keeper);
	(void)state;
}

static void believes_no_lies(void **state)
{
	struct nvml_keeper *keeper = start(NVML_STAND_IN_FILE, "lies");
	const struct gpu_look *look = await_look(keeper);

	assert_int_equal(look->devices[0].known, GPU_HAS_TOTAL | GPU_HAS_CLOCK | GPU_HAS_THROTTLE);
	assert_int_equal(look->devices[0].busy_permille, 0);
	assert_int_equal(strlen(look->devices[0].name), GPU_NAME_SIZE - 1);
	assert_true(nvml_keeper_dropped(keeper) > 0);
	nvml_keeper_stop(keeper);
	(void)state;
}

static void says_which_device_is_lost(void **state)
{
	struct nvml_keeper *keeper = start(NVML_STAND_IN_FILE, "lost");
	const struct gpu_look *look = await_look(keeper);

	assert_int_equal(look->device_count, 2);
	assert_int_equal(look->devices[1].known, 0);
	assert_non_null(strstr(look->devices[1].reason, "does not answer on the bus"));
	assert_true(look->devices[0].known & GPU_HAS_BUSY);
	nvml_keeper_stop(keeper);
	(void)state;
}

static void ends_what_hangs_and_begins_again(void **state)
{
	static const struct {
		const char *behaviour, *reason;
	} cases[] = {
		{"hangs_later", "does not answer"},
		{"crashes", "crashed (signal 11)"},
		{"exits", "has ended the process"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct nvml_keeper *keeper = start(NVML_STAND_IN_FILE, cases[i].behaviour);

		await_look(keeper);
		assert_non_null(strstr(await_reason(keeper), cases[i].reason));
		/* The next one works until it does the same. */
		assert_int_equal(await_look(keeper)->device_count, 2);
		nvml_keeper_stop(keeper);
	}
	(void)state;
}

static void says_why_there_is_nothing(void **state)
{
	struct nvml_keeper *keeper = start("/nowhere/libnvidia-ml.so.1", "sound");

	assert_non_null(strstr(await_reason(keeper), "cannot be loaded"));
	nvml_keeper_stop(keeper);
	keeper = start(NVML_STAND_IN_FILE, "none");
	assert_non_null(strstr(await_reason(keeper), "finds no device: Driver Not Loaded (9)"));
	nvml_keeper_stop(keeper);
	keeper = start(NVML_STAND_IN_FILE, "hangs");
	assert_non_null(strstr(await_reason(keeper), "does not answer"));
	nvml_keeper_stop(keeper);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_what_the_library_knows),
		cmocka_unit_test(joins_what_the_kernel_knows),
		cmocka_unit_test(counters_are_of_the_time_between_looks),
		cmocka_unit_test(does_without_what_an_old_library_lacks),
		cmocka_unit_test(believes_no_lies),
		cmocka_unit_test(says_which_device_is_lost),
		cmocka_unit_test(ends_what_hangs_and_begins_again),
		cmocka_unit_test(says_why_there_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
