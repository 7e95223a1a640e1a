// SPDX-License-Identifier: BSD-2-Clause
/* Tests what is believed of packets from a process in which a library may write anything. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "gpu/nvml_message.h"

static struct nvml_told told;

static int empty(void **state)
{
	(void)state;
	nvml_told_clear(&told);
	return 0;
}

static struct nvml_message device_message(uint32_t number)
{
	struct nvml_message message = {
		.magic = NVML_MAGIC,
		.kind = NVML_DEVICE,
		.device = number,
		.known = GPU_HAS_BUSY | GPU_HAS_MEMORY | GPU_HAS_TOTAL | GPU_HAS_POWER |
			 GPU_HAS_TEMPERATURE | GPU_HAS_CLOCK | GPU_HAS_THROTTLE | GPU_HAS_ENERGY,
		.memory_used = 1 << 20,
		.memory_total = 1 << 30,
		.of_device = {.id = "0000:3b:00.0",
			      .name = "Stand-in",
			      .energy_uj = 12,
			      .busy_percent = 40,
			      .power_mw = 70000,
			      .celsius = 60,
			      .clock_mhz = 1500,
			      .throttle = GPU_THROTTLED_HEAT | 0xf0},
	};

	return message;
}

static void take(const struct nvml_message *message)
{
	nvml_told_take(&told, message, sizeof(*message));
}

static void take_use(uint32_t device, uint32_t pid, uint32_t busy_percent, uint64_t memory)
{
	const struct nvml_message message = {
		.magic = NVML_MAGIC,
		.kind = NVML_USE,
		.device = device,
		.known = GPU_HAS_BUSY | GPU_HAS_MEMORY,
		.memory_used = memory,
		.of_use = {.pid = pid, .busy_percent = busy_percent},
	};

	take(&message);
}

static void a_device_has_its_figures_in_our_units(void **state)
{
	struct nvml_message message = device_message(0);
	const struct gpu_reading *device = &told.look.devices[0];

	take(&message);
	assert_int_equal(told.look.device_count, 1);
	assert_string_equal(device->id, "0000:3b:00.0");
	assert_string_equal(device->name, "Stand-in");
	assert_string_equal(device->driver, "nvidia");
	assert_int_equal(device->known, message.known);
	assert_int_equal(device->busy_permille, 400);
	assert_int_equal(device->memory_used, 1 << 20);
	assert_int_equal(device->memory_total, 1 << 30);
	assert_int_equal(device->power_mw, 70000);
	assert_int_equal(device->energy_uj, 12);
	assert_int_equal(device->millicelsius, 60000);
	assert_int_equal(device->clock_hz, 1500000000);
	assert_int_equal(device->throttle, GPU_THROTTLED_HEAT);
	assert_int_equal(told.rejected + told.unbelieved, 0);
}

static void figures_that_cannot_be_are_dropped_and_counted(void **state)
{
	struct nvml_message message = device_message(0);
	const struct gpu_reading *device = &told.look.devices[0];

	message.of_device.busy_percent = 101;
	message.of_device.celsius = 151;
	message.of_device.clock_mhz = 20001;
	message.of_device.power_mw = 10000001;
	message.memory_used = (1 << 30) + 1;
	take(&message);
	assert_int_equal(device->known, GPU_HAS_TOTAL | GPU_HAS_ENERGY | GPU_HAS_THROTTLE);
	assert_int_equal(device->busy_permille, 0);
	assert_int_equal(device->memory_used, 0);
	assert_int_equal(told.unbelieved, 5);
	assert_int_equal(told.rejected, 0);
}

static void the_largest_that_can_be_is_believed(void **state)
{
	struct nvml_message message = device_message(0);

	message.of_device.busy_percent = 100;
	message.of_device.celsius = 150;
	message.of_device.clock_mhz = 20000;
	message.of_device.power_mw = 10000000;
	message.memory_used = message.memory_total = 1ULL << 44;
	take(&message);
	assert_int_equal(told.look.devices[0].known, message.known);
	assert_int_equal(told.unbelieved, 0);
}

static void what_is_not_known_is_not_judged(void **state)
{
	struct nvml_message message = device_message(0);

	message.known = 0x10000;
	message.of_device.busy_percent = 500;
	take(&message);
	assert_int_equal(told.look.devices[0].known, 0);
	assert_int_equal(told.look.devices[0].busy_permille, 0);
	assert_int_equal(told.unbelieved, 0);
}

static void a_text_without_an_end_is_cut(void **state)
{
	struct nvml_message message = device_message(0);

	memset(message.of_device.id, 'i', sizeof(message.of_device.id));
	memset(message.of_device.name, 'n', sizeof(message.of_device.name));
	take(&message);
	assert_int_equal(strlen(told.look.devices[0].id), GPU_ID_SIZE - 1);
	assert_int_equal(strlen(told.look.devices[0].name), GPU_NAME_SIZE - 1);
}

static void devices_come_in_order_and_once(void **state)
{
	struct nvml_message message = device_message(1);

	take(&message);
	assert_int_equal(told.rejected, 1);
	for (uint32_t i = 0; i < GPU_DEVICES_MAX + 2; i++) {
		message = device_message(i);
		take(&message);
	}
	assert_int_equal(told.look.device_count, GPU_DEVICES_MAX);
	assert_int_equal(told.rejected, 3);
	/* The first one again: the end of the look before did not arrive. */
	take_use(0, 7, 1, 1);
	message = device_message(0);
	take(&message);
	assert_int_equal(told.look.device_count, 1);
	assert_int_equal(told.look.uses.count, 0);
}

static void a_process_has_its_largest_figures(void **state)
{
	struct nvml_message message = device_message(0);

	take(&message);
	take_use(0, 7, 30, 1000);
	take_use(0, 7, 20, 3000);
	take_use(0, 8, 101, 5);
	assert_int_equal(told.look.uses.count, 2);
	assert_int_equal(told.look.uses.items[0].pid, 7);
	assert_int_equal(told.look.uses.items[0].busy_ns, 30);
	assert_int_equal(told.look.uses.items[0].memory, 3000);
	assert_int_equal(told.look.uses.items[1].known, GPU_HAS_MEMORY);
	assert_int_equal(told.unbelieved, 1);
	assert_int_equal(told.rejected, 0);
	/* Of a device that is not there, of no process, of none that can be. */
	take_use(1, 7, 1, 1);
	take_use(0, 0, 1, 1);
	take_use(0, (1U << 22) + 1, 1, 1);
	assert_int_equal(told.rejected, 3);
	assert_int_equal(told.look.uses.count, 2);
}

static void a_look_and_a_keeper_end(void **state)
{
	struct nvml_message message = {.magic = NVML_MAGIC, .kind = NVML_LOOK};

	take(&message);
	assert_true(told.is_complete && !told.has_ended);
	message.kind = NVML_ENDED;
	memset(message.reason, 'r', sizeof(message.reason));
	take(&message);
	assert_true(told.has_ended);
	assert_int_equal(strlen(told.reason), GPU_REASON_SIZE - 1);
	nvml_told_clear(&told);
	assert_true(!told.is_complete && !told.has_ended);
}

static void what_is_no_packet_is_counted(void **state)
{
	struct nvml_message message = device_message(0);

	nvml_told_take(&told, &message, sizeof(message) - 1);
	nvml_told_take(&told, &message, 0);
	message.magic++;
	take(&message);
	message = device_message(0);
	message.kind = 99;
	take(&message);
	assert_int_equal(told.rejected, 4);
	assert_int_equal(told.look.device_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_device_has_its_figures_in_our_units, empty,
						empty),
		cmocka_unit_test_setup_teardown(figures_that_cannot_be_are_dropped_and_counted,
						empty, empty),
		cmocka_unit_test_setup_teardown(the_largest_that_can_be_is_believed, empty, empty),
		cmocka_unit_test_setup_teardown(what_is_not_known_is_not_judged, empty, empty),
		cmocka_unit_test_setup_teardown(a_text_without_an_end_is_cut, empty, empty),
		cmocka_unit_test_setup_teardown(devices_come_in_order_and_once, empty, empty),
		cmocka_unit_test_setup_teardown(a_process_has_its_largest_figures, empty, empty),
		cmocka_unit_test_setup_teardown(a_look_and_a_keeper_end, empty, empty),
		cmocka_unit_test_setup_teardown(what_is_no_packet_is_counted, empty, empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
