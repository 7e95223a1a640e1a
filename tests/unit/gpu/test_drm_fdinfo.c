// SPDX-License-Identifier: BSD-2-Clause
/* What drivers say of their clients, as recorded of amdgpu, i915 and xe, and what is broken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "gpu/drm_fdinfo.h"

#define MIB (1024ULL * 1024)

static const struct drm_engine *engine(const struct drm_fdinfo *info, const char *name)
{
	for (size_t i = 0; i < info->engine_count; i++)
		if (strcmp(info->engines[i].name, name) == 0)
			return &info->engines[i];
	fail_msg("no engine %s", name);
	return NULL;
}

static void reads_amdgpu(void **state)
{
	struct drm_fdinfo info;
	uint64_t bytes;

	assert_true(drm_fdinfo_read("pos:\t0\nflags:\t02100002\nmnt_id:\t25\nino:\t512\n"
				    "drm-driver:\tamdgpu\ndrm-client-id:\t42\n"
				    "drm-pdev:\t0000:03:00.0\npasid:\t32771\n"
				    "drm-total-cpu:\t0\ndrm-total-gtt:\t12 MiB\n"
				    "drm-total-vram:\t300 MiB\ndrm-shared-vram:\t8 MiB\n"
				    "drm-resident-vram:\t256 MiB\ndrm-memory-vram:\t262144 KiB\n"
				    "drm-memory-gtt:\t12288 KiB\ndrm-memory-cpu:\t0 KiB\n"
				    "drm-engine-gfx:\t1234567890 ns\ndrm-engine-compute:\t7 ns\n",
				    &info));
	assert_string_equal(info.driver, "amdgpu");
	assert_string_equal(info.device, "0000:03:00.0");
	assert_true(info.has_client);
	assert_int_equal(info.client, 42);
	assert_int_equal(info.engine_count, 2);
	assert_true(engine(&info, "gfx")->has_time);
	assert_int_equal(engine(&info, "gfx")->busy_ns, 1234567890);
	assert_int_equal(engine(&info, "gfx")->capacity, 1);
	/* Its own memory alone, once. */
	assert_true(drm_fdinfo_memory(&info, &bytes));
	assert_int_equal(bytes, 256 * MIB);
	(void)state;
}

static void reads_the_older_name_of_memory(void **state)
{
	struct drm_fdinfo info;
	uint64_t bytes;

	assert_true(drm_fdinfo_read("drm-driver: amdgpu\ndrm-memory-vram: 2048 KiB\n"
				    "drm-memory-gtt: 1024 KiB\n",
				    &info));
	assert_true(drm_fdinfo_memory(&info, &bytes));
	assert_int_equal(bytes, 2 * MIB);
	assert_false(info.has_client);
	(void)state;
}

static void reads_i915_without_memory_of_its_own(void **state)
{
	struct drm_fdinfo info;
	uint64_t bytes;

	assert_true(drm_fdinfo_read("drm-driver:\ti915\ndrm-pdev:\t0000:00:02.0\n"
				    "drm-client-id:\t7\ndrm-total-system0:\t16 MiB\n"
				    "drm-resident-system0:\t12 MiB\n"
				    "drm-total-stolen-system0:\t1 MiB\n"
				    "drm-engine-render:\t25662044495 ns\n"
				    "drm-engine-video:\t0 ns\ndrm-engine-capacity-video:\t2\n",
				    &info));
	assert_true(drm_fdinfo_memory(&info, &bytes));
	assert_int_equal(bytes, 12 * MIB);
	assert_int_equal(engine(&info, "video")->capacity, 2);
	assert_int_equal(info.engine_count, 2);
	(void)state;
}

static void reads_cycles_of_xe(void **state)
{
	struct drm_fdinfo info;

	assert_true(drm_fdinfo_read("drm-driver:\txe\ndrm-client-id:\t3\n"
				    "drm-cycles-rcs:\t28257900\n"
				    "drm-total-cycles-rcs:\t7655183225\n"
				    "drm-total-vram0:\t20 MiB\n",
				    &info));
	assert_false(engine(&info, "rcs")->has_time);
	assert_true(engine(&info, "rcs")->has_cycles);
	assert_int_equal(engine(&info, "rcs")->cycles, 28257900);
	assert_int_equal(engine(&info, "rcs")->total_cycles, 7655183225);
	assert_int_equal(info.region_count, 1);
	(void)state;
}

static void passes_over_what_is_broken(void **state)
{
	struct drm_fdinfo info;
	uint64_t bytes;

	assert_false(drm_fdinfo_read("", &info));
	assert_false(drm_fdinfo_read("pos:\t0\ndrm-client-id:\t3\n", &info));
	assert_true(drm_fdinfo_read("drm-driver: x\ndrm-client-id: -1\ndrm-engine-: 3 ns\n"
				    "drm-engine-a: 1 ticks\ndrm-engine-b: ns\n"
				    "drm-engine-capacity-a: 0\ndrm-engine-capacity-c: 99999999999\n"
				    "drm-memory-vram: 4 KB\ndrm-total-y: 99999999999999999999 KiB\n"
				    "drm-total-z: 18446744073709551615 KiB\ndrm-\ndrm-x\n:\n"
				    "drm-engine-a-name-that-is-too-long-for-an-engine: 5 ns\n",
				    &info));
	assert_false(info.has_client);
	assert_false(engine(&info, "a")->has_time);
	assert_int_equal(engine(&info, "a")->capacity, 1);
	assert_int_equal(engine(&info, "c")->capacity, 1);
	assert_false(drm_fdinfo_memory(&info, &bytes));
	(void)state;
}

static void bounds_engines_and_regions(void **state)
{
	char text[8192] = "drm-driver: x\n";
	struct drm_fdinfo info;

	for (int i = 0; i < 2 * DRM_ENGINES_MAX; i++) {
		char line[96];

		snprintf(line, sizeof(line), "drm-engine-e%d: %d ns\ndrm-total-r%d: 1 KiB\n", i, i,
			 i);
		strcat(text, line);
	}
	assert_true(drm_fdinfo_read(text, &info));
	assert_int_equal(info.engine_count, DRM_ENGINES_MAX);
	assert_int_equal(info.region_count, DRM_REGIONS_MAX);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_amdgpu),
		cmocka_unit_test(reads_the_older_name_of_memory),
		cmocka_unit_test(reads_i915_without_memory_of_its_own),
		cmocka_unit_test(reads_cycles_of_xe),
		cmocka_unit_test(passes_over_what_is_broken),
		cmocka_unit_test(bounds_engines_and_regions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
