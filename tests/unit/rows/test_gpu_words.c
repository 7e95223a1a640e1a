// SPDX-License-Identifier: BSD-2-Clause
/* What is said of a GPU, and that figures which are absent are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rows/gpu_words.h"

static void says_what_is_known(void **state)
{
	const struct gpu_device device = {.id = "0000:03:00.0",
					  .driver = "nvidia",
					  .name = "Tesla T4",
					  .busy_ns = 31,
					  .busy_of_ns = 100,
					  .memory_kib = {4 << 20, 1},
					  .memory_peak = 4ULL << 30,
					  .memory_total = 16ULL << 30,
					  .energy_uj = 61000000,
					  .energy_ns = 1000000000,
					  .millicelsius = 65000,
					  .temperature_readings = 1,
					  .clock_mhz = {1900, 1},
					  .sm_permille = {725, 1},
					  .dram_permille = {440, 1},
					  .throttled_heat_ms = 5,
					  .throttled_power_ms = 12,
					  .throttle_of_ms = 100};
	char text[512];

	gpu_words(&device, text, sizeof(text));
	assert_string_equal(text,
			    "0000:03:00.0 (nvidia, Tesla T4): 31% busy, memory at most 4.00 GiB of "
			    "16.0 GiB, 61.0 W, at most 65 C, 1.90 GHz, SMs 72%, memory bandwidth "
			    "44%; throttled by heat 5% of the time, by power 12% of the time");
	(void)state;
}

static void says_what_is_not(void **state)
{
	const struct gpu_device device = {.id = "card0", .driver = "nouveau", .reason = "no times"};
	char text[512];

	gpu_words(&device, text, sizeof(text));
	assert_string_equal(text, "card0 (nouveau): utilization not known; no times");
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_what_is_known),
		cmocka_unit_test(says_what_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
