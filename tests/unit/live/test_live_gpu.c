// SPDX-License-Identifier: BSD-2-Clause
/* Figures of GPUs over intervals, on a tree as a machine has it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "live/live_gpu.h"
#include "temp_tree.h"

#define DEVICE "sys/class/drm/card0/device/"
#define GIB    (1024ULL * 1024 * 1024)
#define S      NS_PER_SECOND

static void set(struct temp_tree *tree, const char *watts, const char *used, const char *celsius,
		unsigned long long gfx_ns)
{
	char text[256];

	temp_tree_file(tree, DEVICE "uevent", "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:03:00.0\n");
	temp_tree_file(tree, DEVICE "mem_info_vram_used", used);
	temp_tree_file(tree, DEVICE "mem_info_vram_total", "8589934592\n");
	temp_tree_file(tree, DEVICE "hwmon/hwmon0/power1_average", watts);
	temp_tree_file(tree, DEVICE "hwmon/hwmon0/temp1_input", celsius);
	temp_tree_file(tree, "proc/10/comm", "train\n");
	snprintf(text, sizeof(text),
		 "drm-driver: amdgpu\ndrm-pdev: 0000:03:00.0\ndrm-client-id: 1\n"
		 "drm-resident-vram: 1024 MiB\ndrm-engine-gfx: %llu ns\n",
		 gfx_ns);
	temp_tree_file(tree, "proc/10/fdinfo/3", text);
}

static void figures_are_those_of_their_interval(void **state)
{
	struct live_gpu_figures first, second;
	const struct gpu_process *process;
	const struct gpu_device *device;
	struct live_gpu gpu;
	struct temp_tree tree;

	temp_tree_init(&tree);
	temp_tree_folder(&tree, "dev/dri/by-path");
	temp_tree_link(&tree, "proc/10/fd/3", "/dev/dri/renderD128");
	set(&tree, "10000000\n", "1073741824\n", "50000\n", 100 * S);
	live_gpu_begin(&gpu, tree.root, NULL, S, S);
	set(&tree, "20000000\n", "2147483648\n", "80000\n", 101 * S);
	/* Not yet time to look. */
	live_gpu_look(&gpu, S + 1);
	assert_int_equal(gpu.figures.list.devices.count, 0);
	gpu.next_ns = 0;
	live_gpu_look(&gpu, 3 * S);
	set(&tree, "40000000\n", "1073741824\n", "60000\n", 102 * S);
	first = live_gpu_cut(&gpu, 5 * S);
	set(&tree, "5000000\n", "0\n", "55000\n", 102 * S);
	second = live_gpu_cut(&gpu, 6 * S);
	live_gpu_done(&gpu);

	assert_int_equal(first.list.devices.count, 1);
	device = &first.list.devices.items[0];
	assert_string_equal(device->driver, "amdgpu");
	assert_int_equal(device->busy_ns, 2 * S);
	assert_int_equal(device->busy_of_ns, 4 * S);
	/* 2 GiB for 2 s, 1 GiB for 2 s: a mean, not a sum. */
	assert_true(gpu_level_mean(&device->memory_kib) * 1024 == 1.5 * (double)GIB);
	assert_int_equal(device->memory_peak, 2 * GIB);
	assert_int_equal(device->memory_total, 8 * GIB);
	assert_int_equal(device->energy_uj, 120 * 1000000);
	assert_true(gpu_device_watts(device) == 30);
	assert_int_equal(device->millicelsius, 80000);
	assert_int_equal(first.list.processes.count, 1);
	process = &first.list.processes.items[0];
	assert_int_equal(process->pid, 10);
	assert_string_equal(process->comm, "train");
	assert_int_equal(process->busy_ns, 2 * S);
	assert_int_equal(process->begin_ns, S);
	assert_int_equal(process->end_ns, 5 * S);
	assert_int_equal(process->memory_peak, GIB);
	assert_int_equal(second.list.devices.items[0].busy_ns, 0);
	assert_int_equal(second.list.devices.items[0].energy_uj, 5 * 1000000);
	assert_int_equal(second.list.processes.items[0].busy_ns, 0);
	gpu_list_done(&first.list);
	gpu_list_done(&second.list);
	temp_tree_done(&tree);
	(void)state;
}

/* i915 before 5.19 and others know of clients, not of their time. */
static void users_without_time_are_counted(void **state)
{
	struct live_gpu_figures figures;
	struct live_gpu gpu;
	struct temp_tree tree;

	temp_tree_init(&tree);
	temp_tree_folder(&tree, "dev/dri/by-path");
	temp_tree_link(&tree, "proc/10/fd/3", "/dev/dri/renderD128");
	set(&tree, "10000000\n", "1073741824\n", "50000\n", 100 * S);
	temp_tree_file(&tree, "proc/11/comm", "viewer\n");
	temp_tree_link(&tree, "proc/11/fd/3", "/dev/dri/renderD129");
	temp_tree_file(&tree, "proc/11/fdinfo/3",
		       "drm-driver: old\ndrm-pdev: 0000:04:00.0\ndrm-client-id: 5\n");
	live_gpu_begin(&gpu, tree.root, NULL, S, S);
	figures = live_gpu_cut(&gpu, 2 * S);
	assert_int_equal(figures.untimed, 1);
	gpu_list_done(&figures.list);
	temp_tree_file(&tree, "proc/11/fdinfo/3",
		       "drm-driver: nvidia-drm\ndrm-pdev: 0000:04:00.0\ndrm-client-id: 6\n");
	gpu.next_ns = 0;
	figures = live_gpu_cut(&gpu, 40 * S);
	assert_int_equal(figures.untimed, 0);
	live_gpu_done(&gpu);
	gpu_list_done(&figures.list);
	temp_tree_done(&tree);
	(void)state;
}

static void regions_are_short(void **state)
{
	assert_int_equal(live_gpu_look_ns(false), S);
	assert_int_equal(live_gpu_look_ns(true), S / 4);
	(void)state;
}

static void a_device_that_shows_a_picture_is_none(void **state)
{
	struct live_gpu_figures figures;
	struct live_gpu gpu;
	struct temp_tree tree;

	temp_tree_init(&tree);
	temp_tree_file(&tree, DEVICE "uevent", "DRIVER=bochs-drm\nPCI_SLOT_NAME=0000:00:01.0\n");
	temp_tree_folder(&tree, "dev/dri/by-path");
	live_gpu_begin(&gpu, tree.root, NULL, S, S);
	figures = live_gpu_cut(&gpu, 2 * S);
	assert_int_equal(figures.list.devices.count, 0);
	assert_int_equal(figures.left_out, 0);
	live_gpu_done(&gpu);
	gpu_list_done(&figures.list);
	temp_tree_done(&tree);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_are_those_of_their_interval),
		cmocka_unit_test(regions_are_short),
		cmocka_unit_test(users_without_time_are_counted),
		cmocka_unit_test(a_device_that_shows_a_picture_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
