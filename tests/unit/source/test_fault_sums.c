// SPDX-License-Identifier: BSD-2-Clause
/* Tests that what is added to a process's page faults is sent once, whenever it was added. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "source/fault_sums.h"

static void check(struct fault_sums *sums, uint32_t pid, struct pkbpf_fault_process now,
		  struct pkbpf_fault_process wanted)
{
	struct pkbpf_fault_announced announced = {0};

	assert_int_equal(fault_sums_take(sums, pid, &now, &announced), 1);
	assert_int_equal(now.minor, wanted.minor);
	assert_int_equal(now.major, wanted.major);
}

static void sends_what_was_added(void **state)
{
	struct fault_sums sums = {0};

	(void)state;
	check(&sums, 7, (struct pkbpf_fault_process){.minor = 100, .major = 3},
	      (struct pkbpf_fault_process){.minor = 100, .major = 3});
	check(&sums, 8, (struct pkbpf_fault_process){.minor = 5},
	      (struct pkbpf_fault_process){.minor = 5});
	check(&sums, 7, (struct pkbpf_fault_process){.minor = 117, .major = 3},
	      (struct pkbpf_fault_process){.minor = 17});
	check(&sums, 7, (struct pkbpf_fault_process){.minor = 117, .major = 4},
	      (struct pkbpf_fault_process){.major = 1});
	fault_sums_done(&sums);
}

static void what_was_announced_waits_for_its_number(void **state)
{
	struct pkbpf_fault_announced announced = {{34, 1}, {578, 1}};
	struct pkbpf_fault_process process = {.minor = 40, .major = 1};
	struct fault_sums sums = {0};

	(void)state;
	assert_int_equal(fault_sums_take(&sums, 7, &process, &announced), 1);
	assert_int_equal(announced.count[0], 34);
	/* 17 more were announced, of which the exact number does not know. */
	process = (struct pkbpf_fault_process){.minor = 40, .major = 1};
	announced = (struct pkbpf_fault_announced){{51, 1}, {867, 1}};
	assert_int_equal(fault_sums_take(&sums, 7, &process, &announced), 0);
	process.minor = 60;
	assert_int_equal(fault_sums_take(&sums, 7, &process, &announced), 1);
	assert_int_equal(process.minor, 20);
	assert_int_equal(process.major, 0);
	assert_int_equal(announced.count[0], 17);
	assert_int_equal(announced.squares[0], 289);
	assert_int_equal(announced.count[1], 0);
	assert_int_equal(announced.squares[1], 0);
	/* The entry was deleted at the exit of a thread, and made anew. */
	process = (struct pkbpf_fault_process){.minor = 70, .major = 1};
	announced = (struct pkbpf_fault_announced){{17, 0}, {289, 0}};
	assert_int_equal(fault_sums_take(&sums, 7, &process, &announced), 1);
	assert_int_equal(announced.count[0], 17);
	assert_int_equal(announced.squares[0], 289);
	fault_sums_done(&sums);
}

static void a_number_that_comes_again_begins_anew(void **state)
{
	struct fault_sums sums = {0};

	(void)state;
	for (uint32_t pid = 1; pid <= 3; pid++)
		check(&sums, pid, (struct pkbpf_fault_process){.minor = 10 * pid},
		      (struct pkbpf_fault_process){.minor = 10 * pid});
	fault_sums_forget(&sums, 1);
	fault_sums_forget(&sums, 99);
	assert_int_equal(sums.items.count, 2);
	check(&sums, 1, (struct pkbpf_fault_process){.minor = 4},
	      (struct pkbpf_fault_process){.minor = 4});
	check(&sums, 3, (struct pkbpf_fault_process){.minor = 31},
	      (struct pkbpf_fault_process){.minor = 1});
	check(&sums, 2, (struct pkbpf_fault_process){.minor = 22},
	      (struct pkbpf_fault_process){.minor = 2});
	fault_sums_done(&sums);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sends_what_was_added),
		cmocka_unit_test(what_was_announced_waits_for_its_number),
		cmocka_unit_test(a_number_that_comes_again_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
