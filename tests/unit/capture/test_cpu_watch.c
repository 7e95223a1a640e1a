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

/* One poll: the list is `text`, and uevents said that `count` of `numbers` came online. */
static bool poll_once(struct cpu_list *known, const char *text, const uint32_t *numbers,
		      size_t count, uint32_t *last)
{
	struct cpu_arrivals arrivals = {.any = count > 0};
	struct cpu_list fresh = {0};
	bool changed;

	for (size_t i = 0; i < count; i++)
		*(uint32_t *)array_add(&arrivals.numbers) = numbers[i];
	assert_int_equal(cpu_list_parse(text, &fresh), 0);
	changed = cpu_watch_number(known, &fresh, &arrivals, last);
	array_free(&arrivals.numbers);
	cpu_list_done(known);
	*known = fresh;
	return changed;
}

static void counts_each_arrival_once(void **state)
{
	static const uint32_t twice[] = {1, 1};
	struct cpu_list list = {0};
	uint32_t last = 0;

	assert_int_equal(cpu_list_parse("0", &list), 0);
	/* Its uevent comes with the list. */
	assert_true(poll_once(&list, "0-1", twice, 1, &last));
	assert_int_equal(last, 1);
	assert_false(poll_once(&list, "0-1", NULL, 0, &last));
	/* It has left and returned between two polls. */
	assert_true(poll_once(&list, "0-1", twice, 1, &last));
	assert_int_equal(last, 2);
	assert_int_equal(list.items[1].arrival, 2);
	assert_int_equal(list.items[0].arrival, 0);
	assert_true(poll_once(&list, "0", NULL, 0, &last));
	assert_int_equal(last, 2);
	cpu_list_done(&list);
}

static void a_uevent_may_come_after_the_list(void **state)
{
	static const uint32_t twice[] = {1, 1};
	struct cpu_list list = {0};
	uint32_t last = 0;

	assert_int_equal(cpu_list_parse("0", &list), 0);
	assert_true(poll_once(&list, "0-1", NULL, 0, &last));
	assert_false(poll_once(&list, "0-1", NULL, 0, &last));
	assert_false(poll_once(&list, "0-1", twice, 1, &last));
	assert_int_equal(last, 1);
	/* The next one reports another arrival. */
	assert_true(poll_once(&list, "0-1", twice, 1, &last));
	assert_int_equal(last, 2);
	/* So does a second one at once. */
	assert_true(poll_once(&list, "0", NULL, 0, &last));
	assert_true(poll_once(&list, "0-1", NULL, 0, &last));
	assert_true(poll_once(&list, "0-1", twice, 2, &last));
	assert_int_equal(last, 4);
	assert_false(poll_once(&list, "0-1", NULL, 0, &last));
	cpu_list_done(&list);
}

static void after_lost_uevents_any_cpu_may_have_arrived(void **state)
{
	struct cpu_arrivals lost = {.any = true, .all = true};
	struct cpu_list list = {0}, fresh = {0};
	uint32_t last = 0;

	assert_int_equal(cpu_list_parse("0-1", &list), 0);
	list.items[1].is_early = true;
	assert_int_equal(cpu_list_parse("0-1", &fresh), 0);
	assert_true(cpu_watch_number(&list, &fresh, &lost, &last));
	assert_int_equal(last, 2);
	assert_false(fresh.items[1].is_early);
	cpu_list_done(&list);
	cpu_list_done(&fresh);
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
		cmocka_unit_test(counts_each_arrival_once),
		cmocka_unit_test(a_uevent_may_come_after_the_list),
		cmocka_unit_test(after_lost_uevents_any_cpu_may_have_arrived),
		cmocka_unit_test(lists_the_same_cpus_until_one_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
