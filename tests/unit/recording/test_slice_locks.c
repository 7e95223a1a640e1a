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

#include "account_machine.h"
#include "event/decoder.h"
#include "event/lock_event.h"
#include "profile/slice/slice.h"
#include "recorded_profile.h"
#include "rows/lock_view.h"

#define PID	100
#define OTHER	101
#define ADDRESS 0x1000
#define MS	1000000ULL
#define SITE	1
#define HOLDER	2

static struct fake_profile fake;

static void play(struct event_buffer *buffer)
{
	struct event_sink sink = aggregator_sink(fake.aggregator);

	for (size_t offset = 0; offset < buffer->size;) {
		int used = event_decode(buffer->data + offset, buffer->size - offset, &sink);

		assert_true(used > 0);
		offset += (size_t)used;
	}
	event_buffer_done(buffer);
}

static void send_stack(uint64_t stack_id, struct fake_ips user)
{
	struct stack_view stack = {.stack_id = stack_id,
				   .pid = PID,
				   .user_end = PKBPF_END_ROOT,
				   .user_ips = user.items,
				   .user_count = user.count};
	struct event_buffer buffer = {0};

	assert_int_equal(event_encode_stack(&buffer, ACCOUNT_START_NS + 1, &stack), 0);
	play(&buffer);
}

/* Waits of 1 ms each at a lock. */
static void send_lock(uint32_t pid, uint64_t address, uint32_t class, uint64_t waits)
{
	struct pkbpf_event_lock lock = {
		.header.time_ns = ACCOUNT_START_NS + 2,
		.address = address,
		.pid = pid,
		.class = class,
		.max_waiters = 3,
		.waits = waits,
		.wait_ns = waits * MS,
		.queue_ns = waits,
		.max_ns = MS,
		.n_buckets = 1,
	};
	struct pkbpf_histogram_bucket bucket = {
		pkbpf_histogram_index(MS) >> PKBPF_LOCK_BUCKET_SHIFT, (uint32_t)waits};
	struct event_buffer buffer = {0};

	assert_int_equal(lock_event_encode(&buffer, &lock, &bucket), 0);
	play(&buffer);
}

static void send_part(uint32_t kind, uint64_t stack_id, uint32_t state, uint64_t ns)
{
	struct pkbpf_event_lock_part part = {
		.header.time_ns = ACCOUNT_START_NS + 2,
		.address = ADDRESS,
		.lock_pid = PID,
		.class = PKBPF_LOCK_MUTEX,
		.stack_id = stack_id,
		.pid = kind == PKBPF_LOCK_HOLDER && state != PKBPF_LOCK_HAND_OVER ? PID : 0,
		.tid = kind == PKBPF_LOCK_HOLDER && state != PKBPF_LOCK_HAND_OVER ? PID + 1 : 0,
		.kind = kind,
		.state = state,
		.count = 1,
		.ns = ns,
		.comm = "worker",
	};
	struct event_buffer buffer = {0};

	assert_int_equal(lock_part_event_encode(&buffer, &part), 0);
	play(&buffer);
}

static int setup(void **state)
{
	(void)state;
	account_begin(&fake, 1U << PKBPF_PROFILE_OFFCPU | 1U << PKBPF_PROFILE_LOCKS, 5000000000,
		      15000000000);
	account_process(&fake, &(struct account_process){
				       .pid = PID, .comm = "server", .run_ns = 4000000000});
	account_process(&fake, &(struct account_process){
				       .pid = OTHER, .comm = "other", .run_ns = 1000000000});
	send_stack(SITE, FAKE_IPS(ACCOUNT_LOCK, ACCOUNT_QUERY, ACCOUNT_MAIN));
	send_stack(HOLDER, FAKE_IPS(ACCOUNT_APPEND, ACCOUNT_MAIN));
	send_lock(PID, ADDRESS, PKBPF_LOCK_MUTEX, 10);
	send_part(PKBPF_LOCK_SITE, SITE, 0, 10 * MS);
	send_part(PKBPF_LOCK_HOLDER, HOLDER, PKBPF_WAIT_DISK, 7 * MS);
	send_part(PKBPF_LOCK_HOLDER, 0, PKBPF_WAIT_NONE, 2 * MS);
	send_part(PKBPF_LOCK_HOLDER, 0, PKBPF_LOCK_HAND_OVER, 1 * MS);
	send_lock(OTHER, ADDRESS, PKBPF_LOCK_RWLOCK, 2);
	send_lock(PID, 0, PKBPF_LOCK_SIGNAL, 4);
	account_end(&fake);
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
	assert_int_equal(view->lock->wait_ns, 10 * MS * times);
	assert_int_equal(view->lock->max_waiters, 3);
	assert_int_equal(view->held_ns, 10 * MS * times);
	assert_in_range(lock_percentile_ns(view->lock, 500), MS * 7 / 8, MS);
	assert_string_equal(lock_view_held(view), "held by");
	assert_string_equal(lock_view_name(text, view, functions), "mutex in exec_query");
	assert_int_equal(view->holder_count, 3);
	assert_int_equal(view->holders[0].ns, 7 * MS * times);
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
	assert_int_equal(weight, 10 * MS);
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
		cmocka_unit_test(a_lock_that_names_no_owner_was_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
