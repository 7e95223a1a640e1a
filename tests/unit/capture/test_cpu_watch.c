// SPDX-License-Identifier: BSD-2-Clause
/* Tests for capture/cpu_watch: the kernel's announcements, and what merely looks like one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/array.h"
#include "base/clock.h"
#include "capture/cpu_watch.h"

/* With the NUL at the end, as the kernel sends it. */
#define PARSE(text, ret_number) cpu_watch_parse(text, sizeof(text), ret_number)

static void knows_a_cpu_that_came_online(void **state)
{
	uint32_t number = 9;

	assert_true(PARSE("online@/devices/system/cpu/cpu0", &number));
	assert_int_equal(number, 0);
	assert_true(
		PARSE("online@/devices/system/cpu/cpu127\0ACTION=online\0SUBSYSTEM=cpu", &number));
	assert_int_equal(number, 127);
}

static void passes_over_everything_else(void **state)
{
	uint32_t number = 9;

	assert_false(PARSE("offline@/devices/system/cpu/cpu1", &number));
	assert_false(PARSE("online@/devices/system/memory/memory32", &number));
	assert_false(PARSE("online@/devices/system/cpu/cpu", &number));
	assert_false(PARSE("online@/devices/system/cpu/cpu1/cache", &number));
	assert_false(PARSE("online@/devices/system/cpu/cpu-1", &number));
	assert_false(PARSE("online@/devices/system/cpu/cpu65536", &number));
	assert_false(PARSE("online@/devices/system/cpu/cpu4294967297", &number));
	assert_false(PARSE("", &number));
	assert_int_equal(number, 9);
}

static void needs_the_end_of_the_text(void **state)
{
	static const char text[] = "online@/devices/system/cpu/cpu1";
	uint32_t number;

	for (size_t size = 0; size < sizeof(text); size++)
		assert_false(cpu_watch_parse(text, size, &number));
	assert_true(cpu_watch_parse(text, sizeof(text), &number));
}

static void lists_the_same_cpus_until_one_changes(void **state)
{
	struct cpu_watch *watch;
	uint32_t version;

	assert_int_equal(cpu_watch_new(&watch), 0);
	version = cpu_watch_list(watch)->version;
	assert_true(cpu_watch_list(watch)->count > 0);
	assert_false(cpu_watch_poll(watch, false, clock_now_ns() + 10 * NS_PER_SECOND));
	assert_int_equal(cpu_watch_list(watch)->version, version);
	cpu_watch_free(watch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_a_cpu_that_came_online),
		cmocka_unit_test(passes_over_everything_else),
		cmocka_unit_test(needs_the_end_of_the_text),
		cmocka_unit_test(lists_the_same_cpus_until_one_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
