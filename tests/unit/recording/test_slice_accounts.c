// SPDX-License-Identifier: BSD-2-Clause
/* Tests that rows of accounts that name what is not there are refused: what merges them would read
 * beyond its tables. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "account_scenario.h"
#include "recorded_profile.h"
#include "recording/slice_codec.h"

static struct fake_profile fake;
static uint32_t process, stack;

static int start(void **state)
{
	const struct profile_row *rows;
	size_t count;

	(void)state;
	account_scenario_init(&fake);
	rows = profile_rows(fake.profile, &count);
	process = rows[0].process;
	stack = rows[0].stack;
	return 0;
}

static int stop(void **state)
{
	(void)state;
	fake_profile_done(&fake);
	return 0;
}

/* What reading the profile's recording says. */
static int read_again(void)
{
	const struct profile *profile = fake.profile;
	int fd = recorded_profiles(&profile, 1), err;
	struct recording_reader reader = {0};
	struct recording_block block;
	struct profile *read = NULL;
	struct error error;

	assert_int_equal(recording_reader_open(&reader, fd, &error), 0);
	assert_int_equal(recording_reader_read(&reader, 0, &block), 0);
	err = slice_decode(&block, NULL, &read);
	recording_block_done(&block);
	recording_reader_done(&reader);
	close(fd);
	if (!err)
		profile_free(read);
	return err;
}

static void add_slow_io(uint32_t of_stack)
{
	struct slow_io_list *list = profile_slow_io(fake.profile);

	slow_io_list_limit(list, 100);
	assert_int_equal(slow_io_list_add(list, &(struct slow_io){.process = process,
								  .stack = of_stack,
								  .device_ns = 1000000000}),
			 0);
}

static void a_request_has_a_stack(void **state)
{
	(void)state;
	add_slow_io(stack);
	assert_int_equal(read_again(), 0);
	add_slow_io(UINT32_MAX);
	assert_int_equal(read_again(), -EBADMSG);
}

static void add_slow_region(uint32_t of_stack)
{
	struct slow_region_list *list = profile_slow_regions(fake.profile);

	slow_region_list_limit(list, 100);
	assert_int_equal(slow_region_list_add(list, &(struct slow_region){.process = process,
									  .stack = of_stack,
									  .wall_ns = 1000000000}),
			 0);
}

static void a_slow_region_has_a_stack(void **state)
{
	(void)state;
	add_slow_region(stack);
	assert_int_equal(read_again(), 0);
	add_slow_region(UINT32_MAX);
	assert_int_equal(read_again(), -EBADMSG);
}

static void a_part_is_of_a_lock(void **state)
{
	struct lock_list *list = profile_locks(fake.profile);
	struct lock_part part = {.kind = PKBPF_LOCK_SITE, .stack = stack, .count = 1};

	(void)state;
	assert_int_equal(lock_list_add(list, &(struct lock){.address = 1, .pid = 2}), 0);
	assert_int_equal(lock_list_add_part(list, &part), 0);
	assert_int_equal(read_again(), 0);
	part.lock = 1;
	assert_int_equal(lock_list_add_part(list, &part), 0);
	assert_int_equal(read_again(), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_request_has_a_stack, start, stop),
		cmocka_unit_test_setup_teardown(a_slow_region_has_a_stack, start, stop),
		cmocka_unit_test_setup_teardown(a_part_is_of_a_lock, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
