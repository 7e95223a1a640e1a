// SPDX-License-Identifier: BSD-2-Clause
/* Tests that the threads of a pool are one, and others are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "account_machine.h"
#include "base/array.h"
#include "report/comm_groups.h"

#define SECOND 1000000000ULL

static void names_that_differ_in_numbers_are_one(void **state)
{
	static const struct {
		const char *name, *text;
	} threads[] = {
		{"pool-1-thread-1", "pool-*-thread-*"},
		{"pool-12-thread-8", "pool-*-thread-*"},
		{"GC Thread#0", "GC Thread#0"},
		{"12", "12"},
		{"main", "main"},
		{"C1 Compiler", "C1 Compiler"},
		{"C2 Compiler", "C2 Compiler"},
		{"worker7", "worker*"},
		{"worker22", "worker*"},
		{"pool-x-thread-1", "pool-x-thread-1"},
		{"", ""},
	};
	struct fake_profile fake;
	struct comm_groups groups;
	const struct profile_row *rows;
	size_t count, seen = 0;

	account_begin(&fake, 1U << PKBPF_PROFILE_CPU, SECOND, SECOND);
	for (uint32_t i = 0; i < ARRAY_SIZE(threads); i++)
		account_samples(&fake, 5 + i, threads[i].name, 3,
				FAKE_IPS(ACCOUNT_APPEND, ACCOUNT_MAIN));
	account_end(&fake);
	assert_int_equal(comm_groups_init(&groups, fake.profile), 0);
	rows = profile_rows(fake.profile, &count);
	for (size_t i = 0; i < count; i++) {
		const char *name = profile_string(fake.profile, rows[i].comm);
		uint32_t first = comm_groups_first(&groups, rows[i].comm);

		assert_int_equal(comm_groups_first(&groups, first), first);
		for (size_t j = 0; j < ARRAY_SIZE(threads); j++) {
			if (strcmp(threads[j].name, name) != 0)
				continue;
			assert_string_equal(comm_groups_text(&groups, fake.profile, rows[i].comm),
					    threads[j].text);
			seen++;
			if (!strchr(threads[j].text, '*'))
				assert_int_equal(first, rows[i].comm);
		}
	}
	assert_int_equal(seen, ARRAY_SIZE(threads));
	assert_int_equal(comm_groups_first(&groups, UINT32_MAX), UINT32_MAX);
	comm_groups_done(&groups);
	fake_profile_done(&fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_that_differ_in_numbers_are_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
