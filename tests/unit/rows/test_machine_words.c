// SPDX-License-Identifier: BSD-2-Clause
/* Tests what is said of disks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rows/machine_words.h"

#define SECOND 1000000000ULL
#define MIB    (1ULL << 20)

static void the_busiest_disks_come_first_and_idle_ones_not_at_all(void **state)
{
	struct disk_list list = {.items.count = 0};
	const struct disk disks[] = {
		{.name = "sda",
		 .reads = 1,
		 .read_bytes = MIB,
		 .busy_ns = SECOND,
		 .of_ns = 10 * SECOND},
		{.name = "loop0", .of_ns = 10 * SECOND},
		{.name = "vda",
		 .writes = 3,
		 .written_bytes = 12 * MIB,
		 .busy_ns = 5 * SECOND,
		 .queue_ns = 21 * SECOND,
		 .of_ns = 10 * SECOND},
	};
	char text[512];

	machine_words_disks(&list, 8, text, sizeof(text));
	assert_string_equal(text, "");
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(disk_list_add(&list, &disks[i]), 0);
	machine_words_disks(&list, 8, text, sizeof(text));
	assert_string_equal(text,
			    "vda 50.0 % busy, 2.10 requests at a time, read 0 B, written 12.0 MiB; "
			    "sda 10.0 % busy, 0.00 requests at a time, read 1.00 MiB, written 0 B");
	machine_words_disks(&list, 1, text, sizeof(text));
	assert_non_null(strstr(text, "vda 50.0 % busy"));
	assert_non_null(strstr(text, "; and 1 more"));
	array_free(&list.items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_busiest_disks_come_first_and_idle_ones_not_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
