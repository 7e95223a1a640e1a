// SPDX-License-Identifier: BSD-2-Clause
/* Looks at trees as machines with GPUs have them: what each process used between two looks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "gpu/gpu_meter.h"
#include "temp_tree.h"

#define AMD   "0000:03:00.0"
#define INTEL "0000:00:02.0"
#define MIB   (1024ULL * 1024)
#define S     NS_PER_SECOND

static void add_card(struct temp_tree *tree, const char *card, const char *driver, const char *id)
{
	char path[128], text[256];

	snprintf(path, sizeof(path), "sys/class/drm/%s/device/uevent", card);
	snprintf(text, sizeof(text), "DRIVER=%s\nPCI_CLASS=30000\nPCI_SLOT_NAME=%s\n", driver, id);
	temp_tree_file(tree, path, text);
	temp_tree_folder(tree, "dev/dri/by-path");
}

static void add_file(struct temp_tree *tree, const char *card, const char *name, const char *text)
{
	char path[160];

	snprintf(path, sizeof(path), "sys/class/drm/%s/device/%s", card, name);
	temp_tree_file(tree, path, text);
}

/* A descriptor with this text; each is linked once. */
static void open_device(struct temp_tree *tree, unsigned int pid, unsigned int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "proc/%u/fd/%u", pid, fd);
	temp_tree_link(tree, path, "/dev/dri/renderD128");
}

static void tell(struct temp_tree *tree, unsigned int pid, unsigned int fd, const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "proc/%u/fdinfo/%u", pid, fd);
	temp_tree_file(tree, path, text);
}

static void tell_amd(struct temp_tree *tree, unsigned int pid, unsigned int fd, unsigned int client,
		     unsigned long long gfx_ns, unsigned int vram_mib)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "drm-driver:\tamdgpu\ndrm-pdev:\t" AMD "\ndrm-client-id:\t%u\n"
		 "drm-resident-vram:\t%u MiB\ndrm-engine-gfx:\t%llu ns\ndrm-engine-dec:\t5 ns\n",
		 client, vram_mib, gfx_ns);
	tell(tree, pid, fd, text);
}

static const struct gpu_use *use_of(const struct gpu_look *look, const char *id, uint32_t pid)
{
	array_foreach(&look->uses, use)
		if (use->pid == pid && strcmp(look->devices[use->device].id, id) == 0)
			return use;
	return NULL;
}

static const struct gpu_reading *device_of(const struct gpu_look *look, const char *id)
{
	for (size_t i = 0; i < look->device_count; i++)
		if (strcmp(look->devices[i].id, id) == 0)
			return &look->devices[i];
	return NULL;
}

static void reads_sensors_of_amdgpu(void **state)
{
	const unsigned int known = GPU_HAS_BUSY | GPU_HAS_MEMORY | GPU_HAS_TOTAL | GPU_HAS_POWER |
				   GPU_HAS_TEMPERATURE | GPU_HAS_CLOCK;
	struct gpu_look look = {.device_count = 0};
	const struct gpu_reading *device;
	struct gpu_meter *meter;
	struct temp_tree tree;

	temp_tree_init(&tree);
	add_card(&tree, "card1", "amdgpu", AMD);
	temp_tree_folder(&tree, "sys/class/drm/card1-DP-1");
	temp_tree_folder(&tree, "sys/class/drm/renderD128");
	add_file(&tree, "card1", "gpu_busy_percent", "37\n");
	add_file(&tree, "card1", "mem_info_vram_used", "1073741824\n");
	add_file(&tree, "card1", "mem_info_vram_total", "8589934592\n");
	add_file(&tree, "card1", "hwmon/hwmon4/power1_average", "61000000\n");
	add_file(&tree, "card1", "hwmon/hwmon4/temp1_input", "65000\n");
	add_file(&tree, "card1", "hwmon/hwmon4/freq1_input", "1900000000\n");
	meter = gpu_meter_new(tree.root, NULL);
	gpu_meter_look(meter, S, &look);
	assert_int_equal(look.device_count, 1);
	device = device_of(&look, AMD);
	assert_string_equal(device->driver, "amdgpu");
	assert_int_equal(device->known, known);
	assert_int_equal(device->busy_permille, 370);
	assert_int_equal(device->memory_used, 1024 * MIB);
	assert_int_equal(device->memory_total, 8192 * MIB);
	assert_int_equal(device->power_mw, 61000);
	assert_int_equal(device->millicelsius, 65000);
	assert_int_equal(device->clock_hz, 1900000000);
	gpu_look_clear(&look);
	gpu_meter_free(meter);
	temp_tree_done(&tree);
	(void)state;
}

static void reads_sensors_of_intel(void **state)
{
	struct gpu_look look = {.device_count = 0};
	const struct gpu_reading *device;
	struct gpu_meter *meter;
	struct temp_tree tree;

	temp_tree_init(&tree);
	add_card(&tree, "card0", "i915", INTEL);
	temp_tree_file(&tree, "sys/class/drm/card0/gt_act_freq_mhz", "1350\n");
	temp_tree_file(&tree, "sys/class/drm/card0/gt/gt0/throttle_reason_pl1", "1\n");
	temp_tree_file(&tree, "sys/class/drm/card0/gt/gt0/throttle_reason_thermal", "0\n");
	add_file(&tree, "card0", "hwmon/hwmon2/energy1_input", "123456789\n");
	add_file(&tree, "card0", "hwmon/hwmon2/temp1_input", "999999999\n");
	add_file(&tree, "card0", "gpu_busy_percent", "250\n");
	meter = gpu_meter_new(tree.root, NULL);
	gpu_meter_look(meter, S, &look);
	device = device_of(&look, INTEL);
	assert_int_equal(device->known, GPU_HAS_CLOCK | GPU_HAS_THROTTLE | GPU_HAS_ENERGY);
	assert_int_equal(device->clock_hz, 1350000000);
	assert_int_equal(device->throttle, GPU_THROTTLED_POWER);
	assert_int_equal(device->energy_uj, 123456789);
	gpu_look_clear(&look);
	/* Nobody has it open, which is known from the second look on. */
	gpu_meter_look(meter, 2 * S, &look);
	assert_true(device_of(&look, INTEL)->known & GPU_HAS_BUSY);
	assert_int_equal(device_of(&look, INTEL)->busy_permille, 0);
	gpu_look_clear(&look);
	gpu_meter_free(meter);
	temp_tree_done(&tree);
	(void)state;
}

static void divides_a_device_among_processes(void **state)
{
	struct gpu_look look = {.device_count = 0};
	struct gpu_meter *meter;
	struct temp_tree tree;

	temp_tree_init(&tree);
	add_card(&tree, "card0", "amdgpu", AMD);
	/* 10 has two descriptors of a client, which 11 inherited, and another client. */
	open_device(&tree, 10, 4);
	open_device(&tree, 10, 5);
	open_device(&tree, 10, 6);
	open_device(&tree, 11, 4);
	open_device(&tree, 12, 3);
	tell_amd(&tree, 10, 4, 1, 5 * S, 100);
	tell_amd(&tree, 10, 5, 1, 5 * S, 100);
	tell_amd(&tree, 10, 6, 2, 0, 10);
	tell_amd(&tree, 11, 4, 1, 5 * S, 100);
	tell_amd(&tree, 12, 3, 3, 900, 1);
	temp_tree_file(&tree, "proc/13/fdinfo/0", "pos: 0\n");
	temp_tree_link(&tree, "proc/13/fd/0", "/dev/null");
	meter = gpu_meter_new(tree.root, NULL);
	gpu_meter_look(meter, S, &look);
	assert_int_equal(look.uses.count, 2);
	assert_int_equal(use_of(&look, AMD, 10)->busy_ns, 0);
	assert_int_equal(use_of(&look, AMD, 10)->memory, 110 * MIB);
	gpu_look_clear(&look);

	tell_amd(&tree, 10, 4, 1, 5 * S + 200 * NS_PER_MS, 100);
	tell_amd(&tree, 10, 5, 1, 5 * S + 200 * NS_PER_MS, 100);
	tell_amd(&tree, 10, 6, 2, 100 * NS_PER_MS, 20);
	tell_amd(&tree, 11, 4, 1, 5 * S + 200 * NS_PER_MS, 100);
	tell_amd(&tree, 12, 3, 3, 900 + 50 * NS_PER_MS, 1);
	gpu_meter_look(meter, 2 * S, &look);
	assert_int_equal(use_of(&look, AMD, 10)->busy_ns, 300 * NS_PER_MS);
	assert_int_equal(use_of(&look, AMD, 12)->busy_ns, 50 * NS_PER_MS);
	assert_null(use_of(&look, AMD, 11));
	assert_int_equal(device_of(&look, AMD)->busy_permille, 350);
	assert_int_equal(look.ended, 0);
	gpu_look_clear(&look);
	gpu_meter_free(meter);
	temp_tree_done(&tree);
	(void)state;
}

static void counts_clients_that_come_and_go(void **state)
{
	struct gpu_look look = {.device_count = 0};
	struct gpu_meter *meter;
	struct temp_tree tree;

	temp_tree_init(&tree);
	add_card(&tree, "card0", "amdgpu", AMD);
	open_device(&tree, 10, 4);
	tell_amd(&tree, 10, 4, 1, 9 * S, 100);
	meter = gpu_meter_new(tree.root, NULL);
	gpu_meter_look(meter, S, &look);
	gpu_look_clear(&look);
	/* A counter that goes back catches up; a client that is new has all its time inside, and
	 * one that cannot have it all no more than there was. */
	tell_amd(&tree, 10, 4, 1, 8 * S, 100);
	open_device(&tree, 11, 3);
	tell_amd(&tree, 11, 3, 2, 30 * NS_PER_MS, 1);
	open_device(&tree, 12, 3);
	tell_amd(&tree, 12, 3, 3, 60 * S, 1);
	gpu_meter_look(meter, 3 * S, &look);
	assert_int_equal(use_of(&look, AMD, 10)->busy_ns, 0);
	assert_int_equal(use_of(&look, AMD, 11)->busy_ns, 30 * NS_PER_MS);
	assert_int_equal(use_of(&look, AMD, 12)->busy_ns, 2 * S);
	assert_int_equal(device_of(&look, AMD)->busy_permille, 1000);
	gpu_look_clear(&look);
	/* What was told twice counts once. */
	tell_amd(&tree, 10, 4, 1, 9 * S + 10 * NS_PER_MS, 100);
	remove(temp_tree_path(&tree, "proc/12/fd/3"));
	gpu_meter_look(meter, 60 * S, &look);
	assert_int_equal(use_of(&look, AMD, 10)->busy_ns, 10 * NS_PER_MS);
	assert_null(use_of(&look, AMD, 12));
	assert_int_equal(look.ended, 1);
	gpu_look_clear(&look);
	gpu_meter_free(meter);
	temp_tree_done(&tree);
	(void)state;
}

static void reads_cycles_and_several_engines_of_a_kind(void **state)
{
	static const char first[] = "drm-driver: xe\ndrm-pdev: " INTEL "\ndrm-client-id: 9\n"
				    "drm-cycles-rcs: 1000\ndrm-total-cycles-rcs: 10000\n"
				    "drm-cycles-vcs: 0\ndrm-total-cycles-vcs: 10000\n"
				    "drm-engine-capacity-vcs: 2\n";
	static const char second[] = "drm-driver: xe\ndrm-pdev: " INTEL "\ndrm-client-id: 9\n"
				     "drm-cycles-rcs: 1250\ndrm-total-cycles-rcs: 11000\n"
				     "drm-cycles-vcs: 1600\ndrm-total-cycles-vcs: 11000\n"
				     "drm-engine-capacity-vcs: 2\n";
	struct gpu_look look = {.device_count = 0};
	struct gpu_meter *meter;
	struct temp_tree tree;

	temp_tree_init(&tree);
	add_card(&tree, "card0", "xe", INTEL);
	open_device(&tree, 10, 4);
	tell(&tree, 10, 4, first);
	meter = gpu_meter_new(tree.root, NULL);
	gpu_meter_look(meter, S, &look);
	gpu_look_clear(&look);
	tell(&tree, 10, 4, second);
	gpu_meter_look(meter, 3 * S, &look);
	/* rcs: a quarter of 2 s; vcs: 1.6 of two engines. */
	assert_int_equal(use_of(&look, INTEL, 10)->busy_ns, 1600 * NS_PER_MS);
	assert_int_equal(device_of(&look, INTEL)->busy_permille, 800);
	gpu_look_clear(&look);
	gpu_meter_free(meter);
	temp_tree_done(&tree);
	(void)state;
}

static void tells_nothing_where_nothing_is(void **state)
{
	struct gpu_look look = {.device_count = 0};
	struct gpu_meter *meter;
	struct temp_tree tree;

	temp_tree_init(&tree);
	temp_tree_folder(&tree, "proc/10/fd");
	meter = gpu_meter_new(tree.root, NULL);
	assert_false(gpu_meter_has_drm(tree.root));
	gpu_meter_look(meter, S, &look);
	assert_int_equal(look.device_count, 0);
	assert_int_equal(look.uses.count, 0);
	gpu_look_clear(&look);
	gpu_meter_free(meter);
	temp_tree_done(&tree);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_sensors_of_amdgpu),
		cmocka_unit_test(reads_sensors_of_intel),
		cmocka_unit_test(divides_a_device_among_processes),
		cmocka_unit_test(counts_clients_that_come_and_go),
		cmocka_unit_test(reads_cycles_and_several_engines_of_a_kind),
		cmocka_unit_test(tells_nothing_where_nothing_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
