// SPDX-License-Identifier: BSD-2-Clause
/* Tests that locks are named by the functions that wait for them and by what their holders do, and
 * come through slices and recordings as they were. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lock_scenario.h"
#include "profile/slice/slice.h"
#include "recorded_profile.h"
#include "rows/lock_view.h"

static struct fake_profile fake;

static int setup(void **state)
{
	(void)state;
	lock_scenario(&fake, "");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_profile_done(&fake);
	return 0;
}

static void assert_shown(const struct profile *profile, uint64_t times)
{
	struct function_table *functions =
		function_table_new(profile, &(struct function_table_options){.merge = true});
	char text[LOCK_NAME_TEXT_SIZE > LOCK_HOLDER_TEXT_SIZE ? LOCK_NAME_TEXT_SIZE
							      : LOCK_HOLDER_TEXT_SIZE];
	const struct lock_view *view;
	struct lock_views views;

	assert_non_null(functions);
	assert_int_equal(lock_views_make(&views, profile, functions), 0);
	assert_int_equal(views.count, 2);
	assert_int_equal(views.waits, 12 * times);
	assert_int_equal(views.signal_waits, 4 * times);
	view = &views.items[0];
	assert_int_equal(view->lock->pid, PID);
	assert_string_equal(view->lock->comm, "server");
	assert_int_equal(view->lock->wait_ns, 10 * LOCK_MS * times);
	assert_int_equal(view->lock->max_waiters, 3);
	assert_int_equal(view->held_ns, 10 * LOCK_MS * times);
	assert_in_range(lock_percentile_ns(view->lock, 500), LOCK_MS * 7 / 8, LOCK_MS);
	assert_string_equal(lock_view_held(view), "held by");
	assert_string_equal(lock_view_name(text, view, functions), "mutex in exec_query");
	assert_int_equal(view->holder_count, 3);
	assert_int_equal(view->holders[0].ns, 7 * LOCK_MS * times);
	assert_string_equal(lock_share_holder(text, &view->holders[0], functions),
			    "list_append (disk)");
	assert_string_equal(lock_share_holder(text, &view->holders[1], functions),
			    "worker (on CPU)");
	assert_string_equal(lock_share_holder(text, &view->holders[2], functions), "hand-over");
	assert_string_equal(lock_view_name(text, &views.items[1], functions), "rwlock");
	lock_views_done(&views);
	function_table_free(functions);
}

static void locks_have_waits_and_holders(void **state)
{
	(void)state;
	assert_shown(fake.profile, 1);
}

static void waits_are_rows_of_their_kind(void **state)
{
	size_t count;
	const struct profile_row *rows = profile_rows(fake.profile, &count);
	uint64_t weight = 0;

	(void)state;
	for (size_t i = 0; i < count; i++)
		weight += rows[i].kind == PKBPF_PROFILE_LOCKS ? rows[i].weight : 0;
	assert_int_equal(weight, 10 * LOCK_MS);
}

static void slices_add_up(void **state)
{
	struct profile *into = slice_new();

	(void)state;
	assert_non_null(into);
	assert_int_equal(slice_merge(into, fake.profile), 0);
	assert_int_equal(slice_merge(into, fake.profile), 0);
	assert_shown(into, 2);
	profile_free(into);
}

static void recordings_have_them(void **state)
{
	const struct profile *profile = fake.profile;
	int fd = recorded_profiles(&profile, 1);
	struct profile *read = recorded_read(fd, 0, NULL);

	(void)state;
	assert_shown(read, 1);
	profile_free(read);
	close(fd);
}

static void a_process_has_its_own_alone(void **state)
{
	const uint32_t pid = OTHER;
	const struct slice_choice choice = {.pids = &pid, .pid_count = 1};
	const struct profile *profile = fake.profile;
	int fd = recorded_profiles(&profile, 1);
	struct profile *read = recorded_read(fd, 0, &choice);

	(void)state;
	assert_int_equal(profile_locks(read)->locks.count, 1);
	assert_int_equal(profile_locks(read)->locks.items[0].pid, OTHER);
	assert_int_equal(profile_locks(read)->parts.count, 0);
	profile_free(read);
	close(fd);
}

static void locks_of_the_kernel_are_named_by_the_function_that_needs_them(void **state)
{
	struct fake_profile other;
	struct function_table *functions;
	struct lock_part part = {.kind = PKBPF_LOCK_SITE, .count = 3, .ns = 3 * LOCK_MS};
	char text[LOCK_NAME_TEXT_SIZE];
	struct lock_views views;
	size_t count;

	(void)state;
	account_begin(&other, 1U << PKBPF_PROFILE_OFFCPU | 1U << PKBPF_PROFILE_LOCKS, 0,
		      15000000000);
	account_process(&other, &(struct account_process){.pid = PID, .comm = "server"});
	account_waits(&other, PID, "server", PKBPF_WAIT_SLEEP, 3, LOCK_MS, 1,
		      FAKE_IPS(ACCOUNT_MADVISE), FAKE_IPS(ACCOUNT_MAIN));
	account_end(&other);
	part.stack = profile_rows(other.profile, &count)->stack;
	part.lock = (uint32_t)lock_list_add(profile_locks(other.profile),
					    &(struct lock){.address = 0x2000,
							   .pid = PID,
							   .class = PKBPF_LOCK_KERNEL_RWSEM,
							   .name = "mmap_lock",
							   .waits = 3,
							   .wait_ns = 3 * LOCK_MS});
	assert_int_equal(lock_list_add_part(profile_locks(other.profile), &part), 0);
	functions =
		function_table_new(other.profile, &(struct function_table_options){.merge = true});
	assert_int_equal(lock_views_make(&views, other.profile, functions), 0);
	assert_true(lock_is_of_kernel(views.items[0].lock));
	assert_string_equal(lock_view_name(text, &views.items[0], functions),
			    "mmap_lock (kernel rwsem) in __x64_sys_madvise");
	assert_false(lock_is_of_kernel(&(struct lock){.class = PKBPF_LOCK_MUTEX}));
	lock_views_done(&views);
	function_table_free(functions);
	fake_profile_done(&other);
}

static void a_lock_that_names_no_owner_was_taken(void **state)
{
	const struct lock word = {.class = PKBPF_LOCK_WORD};

	(void)state;
	assert_string_equal(lock_view_held(&(struct lock_view){.lock = &word}), "last taken by");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(locks_have_waits_and_holders, setup, teardown),
		cmocka_unit_test_setup_teardown(waits_are_rows_of_their_kind, setup, teardown),
		cmocka_unit_test_setup_teardown(slices_add_up, setup, teardown),
		cmocka_unit_test_setup_teardown(recordings_have_them, setup, teardown),
		cmocka_unit_test_setup_teardown(a_process_has_its_own_alone, setup, teardown),
		cmocka_unit_test(locks_of_the_kernel_are_named_by_the_function_that_needs_them),
		cmocka_unit_test(a_lock_that_names_no_owner_was_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
