// SPDX-License-Identifier: BSD-2-Clause
/* Tests what waits are told to be for, by the functions on their stacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "account_machine.h"
#include "finding/wait_class.h"
#include "finding_fixture.h"

#define SECOND 1000000000ULL

/* The class of the only wait of a profile. */
static enum wait_class class_of(struct fake_profile *fake)
{
	struct resource_rows rows;
	enum wait_class class = WAIT_CLASS_OTHER;

	account_end(fake);
	assert_int_equal(resource_rows_init(&rows, fake->profile, ROWS_BY_PROCESS), 0);
	for (size_t i = 0; i < rows.weight_count; i++) {
		size_t count;
		const uint32_t *functions =
			resource_rows_stack(&rows, rows.weights[i].stack.stack, &count);

		class = wait_class_of_functions(&rows, functions, count);
	}
	resource_rows_done(&rows);
	fake_profile_done(fake);
	return class;
}

static void begin(struct fake_profile *fake)
{
	account_begin(fake, 1U << PKBPF_PROFILE_OFFCPU, SECOND, 19 * SECOND);
	account_process(fake, &(struct account_process){.pid = 5, .comm = "app"});
}

static void what_a_program_takes_says_more_than_that_it_is_a_futex(void **state)
{
	struct fake_profile fake;

	begin(&fake);
	account_waits(&fake, 5, "app", PKBPF_WAIT_SLEEP, 2, SECOND, 1, FAKE_IPS(ACCOUNT_FUTEX),
		      FAKE_IPS(ACCOUNT_LOCK, ACCOUNT_APPEND, ACCOUNT_MAIN));
	assert_int_equal(class_of(&fake), WAIT_CLASS_MUTEX);
	begin(&fake);
	account_waits(&fake, 5, "app", PKBPF_WAIT_SLEEP, 2, SECOND, 1, FAKE_IPS(ACCOUNT_FUTEX),
		      FAKE_IPS(ACCOUNT_APPEND, ACCOUNT_MAIN));
	assert_int_equal(class_of(&fake), WAIT_CLASS_FUTEX);
}

static void the_state_counts_where_a_stack_does_not_say_what_the_kernel_does(void **state)
{
	assert_int_equal(wait_class_in_state(WAIT_CLASS_MUTEX, PKBPF_WAIT_SLEEP), WAIT_CLASS_MUTEX);
	assert_int_equal(wait_class_in_state(WAIT_CLASS_MUTEX, PKBPF_WAIT_DISK), WAIT_CLASS_DISK);
	assert_int_equal(wait_class_in_state(WAIT_CLASS_OTHER, PKBPF_WAIT_UNINTERRUPTIBLE),
			 WAIT_CLASS_KERNEL);
	assert_int_equal(wait_class_in_state(WAIT_CLASS_FSYNC, PKBPF_WAIT_DISK), WAIT_CLASS_FSYNC);
	assert_int_equal(wait_class_in_state(WAIT_CLASS_MMAP_LOCK, PKBPF_WAIT_UNINTERRUPTIBLE),
			 WAIT_CLASS_MMAP_LOCK);
}

static void each_class_that_limits_has_a_rule_that_exists(void **state)
{
	for (unsigned int class = 0; class < WAIT_CLASS_COUNT; class ++) {
		const struct wait_class_row *row = wait_class_row(class);
		bool exists = !row->rule;

		assert_non_null(row->cause);
		for (size_t i = 0; finding_rule_name_at(i)[0]; i++)
			exists |= row->rule && !strcmp(finding_rule_name_at(i), row->rule);
		assert_true(exists);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_program_takes_says_more_than_that_it_is_a_futex),
		cmocka_unit_test(the_state_counts_where_a_stack_does_not_say_what_the_kernel_does),
		cmocka_unit_test(each_class_that_limits_has_a_rule_that_exists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
