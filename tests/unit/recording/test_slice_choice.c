// SPDX-License-Identifier: BSD-2-Clause
/* Tests for recording/slice_choice: which processes of a recording are wanted. */
#include "recording/slice_choice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "recording/slice_tables.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct recorded_cgroup cgroups[] = {
	{7, "/docker/" ID, false},
	{7, "web-1", true},
	{8, "/system.slice/nginx.service/workers", false},
	{9, "no path, only a name", true},
	{10, "", false},
};

static bool has(const struct slice_choice *choice, uint32_t pid, const char *comm, uint64_t cgroup)
{
	return slice_choice_has(choice, pid, comm, cgroup, cgroups, ARRAY_SIZE(cgroups));
}

static void without_conditions_every_process_is_wanted(void **state)
{
	static const struct slice_choice none = {.kinds_mask = 1};

	assert_false(slice_choice_is_of_processes(NULL));
	assert_false(slice_choice_is_of_processes(&none));
	assert_true(has(NULL, 1, "a", 0));
	assert_true(has(&none, 1, "a", 7));
}

static void all_conditions_must_hold(void **state)
{
	static const uint32_t pids[] = {12, 5};
	const struct slice_choice choice = {.pids = pids, .pid_count = 2, .comm = "nginx"};

	assert_true(slice_choice_is_of_processes(&choice));
	assert_true(has(&choice, 5, "nginx", 0));
	assert_true(has(&choice, 12, "nginx", 7));
	assert_false(has(&choice, 6, "nginx", 0));
	assert_false(has(&choice, 5, "nginx: worker", 0));
	assert_false(has(&choice, 5, "", 0));
}

static void containers_are_known_by_name_id_and_unit(void **state)
{
	static const struct {
		const char *text;
		uint64_t cgroup;
		bool is_wanted;
	} cases[] = {
		{"web-1", 7, true},
		{"docker:web-1", 7, true},
		{"0123456789ab", 7, true},
		{"web-2", 7, false},
		{"nginx.service", 8, true},
		{"nginx.service", 7, false},
		/* Its path was not recorded; it is the root; there is no such cgroup. */
		{"no path, only a name", 9, false},
		{"nginx.service", 10, false},
		{"nginx.service", 11, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct slice_choice choice = {.container = cases[i].text};

		if (has(&choice, 1, "a", cases[i].cgroup) != cases[i].is_wanted)
			fail_msg("%s in %llu", cases[i].text, (unsigned long long)cases[i].cgroup);
	}
}

static void says_what_was_chosen(void **state)
{
	static const uint32_t pids[] = {812, UINT32_MAX};
	struct slice_choice choice = {.pids = pids, .pid_count = 1, .comm = "nginx"};
	char text[128];

	slice_choice_describe(&choice, "the whole host", text, sizeof(text));
	assert_string_equal(text, "pid 812, comm nginx of the whole host");
	choice = (struct slice_choice){.pids = pids, .pid_count = 2, .container = "web-1"};
	slice_choice_describe(&choice, "pid 1", text, sizeof(text));
	assert_string_equal(text, "pid 812,4294967295, container web-1 of pid 1");
	/* No room for more. */
	memset(text, 'x', sizeof(text));
	slice_choice_describe(&choice, "pid 1", text, 12);
	assert_int_equal(text[12], 'x');
	assert_true(memchr(text, '\0', 12) != NULL);
	assert_int_equal(strncmp(text, "pid 812", 7), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_conditions_every_process_is_wanted),
		cmocka_unit_test(all_conditions_must_hold),
		cmocka_unit_test(containers_are_known_by_name_id_and_unit),
		cmocka_unit_test(says_what_was_chosen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
