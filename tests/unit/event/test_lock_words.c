// SPDX-License-Identifier: BSD-2-Clause
/* Tests which lock and which owner the words at a futex name, and that records of locks are checked
 * before they are read. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "event/lock_event.h"

#define ADDRESS	     0x1000
#define WAIT	     (PKBPF_FUTEX_WAIT | PKBPF_FUTEX_PRIVATE)
#define BITSET	     (PKBPF_FUTEX_WAIT_BITSET | PKBPF_FUTEX_PRIVATE)
#define TIMED	     (BITSET | PKBPF_FUTEX_REALTIME)
#define TID	     4711
#define WAITERS	     PKBPF_FUTEX_WAITERS
#define RANDOM_WORDS 1000000

struct example {
	const char *name;
	uint64_t address;
	uint32_t operation, value;
	uint32_t words[PKBPF_LOCK_WORDS];
	struct pkbpf_lock_view view;
};

static const struct example examples[] = {
	{"mutex", ADDRESS, WAIT, 2, {2, 0, TID, 1, 0}, {ADDRESS, PKBPF_LOCK_MUTEX, TID}},
	{"recursive", ADDRESS, WAIT, 2, {2, 3, TID, 1, 1}, {ADDRESS, PKBPF_LOCK_RECURSIVE, TID}},
	{"error-checking",
	 ADDRESS,
	 WAIT,
	 2,
	 {2, 0, TID, 1, 2},
	 {ADDRESS, PKBPF_LOCK_ERRORCHECK, TID}},
	{"adaptive", ADDRESS, WAIT, 2, {2, 0, TID, 1, 3}, {ADDRESS, PKBPF_LOCK_ADAPTIVE, TID}},
	{"shared",
	 ADDRESS,
	 PKBPF_FUTEX_WAIT,
	 2,
	 {2, 0, TID, 1, 128},
	 {ADDRESS, PKBPF_LOCK_MUTEX, TID}},
	{"timed mutex", ADDRESS, TIMED, 2, {2, 0, TID, 1, 0}, {ADDRESS, PKBPF_LOCK_MUTEX, TID}},
	{"mutex between two owners",
	 ADDRESS,
	 WAIT,
	 2,
	 {0, 0, 0, 1, 0},
	 {ADDRESS, PKBPF_LOCK_MUTEX, 0}},
	{"robust",
	 ADDRESS,
	 WAIT,
	 TID | WAITERS,
	 {TID | WAITERS, 0, TID, 1, 16},
	 {ADDRESS, PKBPF_LOCK_ROBUST, TID}},
	{"robust, owner died",
	 ADDRESS,
	 WAIT,
	 TID | WAITERS,
	 {PKBPF_FUTEX_DIED | WAITERS, 0, 0, 1, 16},
	 {ADDRESS, PKBPF_LOCK_ROBUST, 0}},
	{"PI",
	 ADDRESS,
	 PKBPF_FUTEX_LOCK_PI | PKBPF_FUTEX_PRIVATE,
	 0,
	 {TID | WAITERS, 0, 1, 1, 32},
	 {ADDRESS, PKBPF_LOCK_PI, TID}},
	{"PI with a time-out",
	 ADDRESS,
	 PKBPF_FUTEX_LOCK_PI2 | PKBPF_FUTEX_PRIVATE,
	 0,
	 {TID | WAITERS, 0, 1, 1, 32},
	 {ADDRESS, PKBPF_LOCK_PI, TID}},
	{"rwlock, phase of writers",
	 ADDRESS + 8,
	 TIMED,
	 3,
	 {3, 1, 0, 0, TID, 0},
	 {ADDRESS, PKBPF_LOCK_RWLOCK, TID}},
	{"rwlock, writers",
	 ADDRESS + 12,
	 TIMED,
	 3,
	 {3, 0, 0, TID, 0},
	 {ADDRESS, PKBPF_LOCK_RWLOCK, TID}},
	{"rwlock, readers have it",
	 ADDRESS + 8,
	 TIMED,
	 2,
	 {2, 1, 0, 0, 0, 0},
	 {ADDRESS, PKBPF_LOCK_RWLOCK, 0}},
	{"condition variable",
	 ADDRESS + 40,
	 TIMED,
	 0,
	 {0, 0, TID, 1, 0},
	 {0, PKBPF_LOCK_SIGNAL, 0}},
	{"musl, typed",
	 ADDRESS + 4,
	 WAIT,
	 TID | WAITERS,
	 {TID | WAITERS},
	 {ADDRESS + 4, PKBPF_LOCK_MUSL, TID}},
	{"musl, FILE",
	 ADDRESS + 4,
	 WAIT,
	 TID | PKBPF_FUTEX_DIED,
	 {TID | PKBPF_FUTEX_DIED},
	 {ADDRESS + 4, PKBPF_LOCK_MUSL, TID}},
	{"musl, default",
	 ADDRESS + 4,
	 WAIT,
	 PKBPF_MUSL_TAKEN,
	 {PKBPF_MUSL_TAKEN},
	 {ADDRESS + 4, PKBPF_LOCK_WORD, 0}},
	{"musl, semaphore",
	 ADDRESS,
	 WAIT,
	 PKBPF_MUSL_SEMAPHORE,
	 {PKBPF_MUSL_SEMAPHORE},
	 {0, PKBPF_LOCK_SIGNAL, 0}},
	{"musl, rwlock with one reader",
	 ADDRESS,
	 WAIT,
	 1 | WAITERS,
	 {1 | WAITERS, 1},
	 {ADDRESS, PKBPF_LOCK_WORD, 0}},
	{"Rust, rwlock with one reader",
	 ADDRESS + 4,
	 BITSET,
	 1 | WAITERS | PKBPF_FUTEX_DIED,
	 {1 | WAITERS | PKBPF_FUTEX_DIED},
	 {ADDRESS + 4, PKBPF_LOCK_WORD, 0}},
	{"the end of thread 2 of a container",
	 ADDRESS,
	 PKBPF_FUTEX_WAIT_BITSET | PKBPF_FUTEX_REALTIME,
	 2,
	 {2, 0, 0xf7d0a6c0, 0x7f1e, 0xf7d0a6c8, 0x7f1e},
	 {ADDRESS, PKBPF_LOCK_NONE, 0}},
	{"Rust", ADDRESS, BITSET, 2, {2, 0, 0, 0, 0, 0}, {ADDRESS, PKBPF_LOCK_WORD, 0}},
	{"malloc's arena",
	 ADDRESS,
	 WAIT,
	 2,
	 {2, 0, 1, 0x7fff0000, 0x7fff},
	 {ADDRESS, PKBPF_LOCK_WORD, 0}},
};

static void words_name_the_lock_and_its_owner(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
		const struct example *example = &examples[i];
		struct pkbpf_lock_view view;

		pkbpf_lock_read(example->address, example->operation, example->value,
				example->words, &view);
		if (view.class != example->view.class || view.owner != example->view.owner ||
		    view.address != example->view.address)
			fail_msg("%s: class %u, owner %u at %#llx", example->name, view.class,
				 view.owner, (unsigned long long)view.address);
	}
}

static void other_waits_are_for_no_lock(void **state)
{
	const uint32_t words[PKBPF_LOCK_WORDS] = {TID};
	struct pkbpf_lock_view view;

	(void)state;
	/* The end of a thread; then an operation that does not wait. */
	pkbpf_lock_read(ADDRESS, PKBPF_FUTEX_WAIT_BITSET | PKBPF_FUTEX_REALTIME, TID, words, &view);
	assert_int_equal(view.class, PKBPF_LOCK_NONE);
	pkbpf_lock_read(ADDRESS, 1 | PKBPF_FUTEX_PRIVATE, TID, words, &view);
	assert_int_equal(view.class, PKBPF_LOCK_NONE);
}

static void any_words_have_a_class_and_a_possible_owner(void **state)
{
	(void)state;
	srandom(1);
	for (int i = 0; i < RANDOM_WORDS; i++) {
		uint32_t words[PKBPF_LOCK_WORDS];
		struct pkbpf_lock_view view;
		uint64_t address = (uint64_t)random() << 16 ^ (uint64_t)random();

		for (size_t j = 0; j < PKBPF_LOCK_WORDS; j++)
			words[j] = random() % 3 ? (uint32_t)random() << (random() % 2)
						: (uint32_t)random() % 4;
		pkbpf_lock_read(address, (uint32_t)random() % 512, words[0], words, &view);
		assert_true(view.class < PKBPF_LOCK_CLASSES);
		assert_true(view.class == PKBPF_LOCK_SIGNAL ||
			    (view.address <= address && address - view.address <= 12));
		if (view.class == PKBPF_LOCK_WORD || view.class == PKBPF_LOCK_SIGNAL)
			assert_int_equal(view.owner, 0);
	}
}

static struct pkbpf_event_lock lock_record(void)
{
	return (struct pkbpf_event_lock){
		.header = {.size = sizeof(struct pkbpf_event_lock) +
				   2 * sizeof(struct pkbpf_histogram_bucket)},
		.class = PKBPF_LOCK_MUTEX,
		.waits = 2,
		.wait_ns = 2000,
		.queue_ns = 100,
		.n_buckets = 2,
	};
}

static int check(const struct pkbpf_event_lock *lock, uint32_t first, uint32_t second)
{
	union {
		struct pkbpf_event_lock record;
		uint64_t words[sizeof(struct pkbpf_event_lock) / 8 + 2];
	} room = {.record = *lock};

	room.record.buckets[0] = (struct pkbpf_histogram_bucket){first, 1};
	room.record.buckets[1] = (struct pkbpf_histogram_bucket){second, 1};
	return lock_event_check(&room.record.header);
}

static void records_that_cannot_be_are_refused(void **state)
{
	struct pkbpf_event_lock lock = lock_record();

	(void)state;
	assert_int_equal(check(&lock, 1, 2), 0);
	assert_int_equal(check(&lock, 2, 2), -EBADMSG);
	assert_int_equal(check(&lock, 1, PKBPF_LOCK_BUCKETS), -EBADMSG);
	lock.n_buckets = 3;
	assert_int_equal(check(&lock, 1, 2), -EBADMSG);
	lock = lock_record();
	lock.class = PKBPF_LOCK_CLASSES;
	assert_int_equal(check(&lock, 1, 2), -EBADMSG);
	lock = lock_record();
	lock.queue_ns = lock.wait_ns + 1;
	assert_int_equal(check(&lock, 1, 2), -EBADMSG);
	lock = lock_record();
	memset(lock.name, 'x', sizeof(lock.name));
	assert_int_equal(check(&lock, 1, 2), -EBADMSG);
}

static void parts_that_cannot_be_are_refused(void **state)
{
	struct pkbpf_event_lock_part part = {.header = {.size = sizeof(part)},
					     .class = PKBPF_LOCK_MUTEX,
					     .state = PKBPF_LOCK_UNKNOWN};

	(void)state;
	assert_int_equal(lock_part_event_check(&part.header), 0);
	part.state = PKBPF_LOCK_STATES;
	assert_int_equal(lock_part_event_check(&part.header), -EBADMSG);
	part.state = 0;
	part.kind = PKBPF_LOCK_SITE + 1;
	assert_int_equal(lock_part_event_check(&part.header), -EBADMSG);
	part.kind = 0;
	part.header.size -= 8;
	assert_int_equal(lock_part_event_check(&part.header), -EBADMSG);
}

static void deadlocks_that_cannot_be_are_refused(void **state)
{
	const struct pkbpf_event_deadlock sound = {.header = {.size = sizeof(sound)},
						   .class = PKBPF_LOCK_MUTEX,
						   .tid = 7,
						   .index = 1,
						   .count = 2};
	struct pkbpf_event_deadlock thread = sound;

	(void)state;
	assert_int_equal(deadlock_event_check(&thread.header), 0);
	thread.index = 2;
	assert_int_equal(deadlock_event_check(&thread.header), -EBADMSG);
	thread = sound;
	thread.tid = 0;
	assert_int_equal(deadlock_event_check(&thread.header), -EBADMSG);
	thread = sound;
	thread.class = PKBPF_LOCK_NONE;
	assert_int_equal(deadlock_event_check(&thread.header), -EBADMSG);
	thread.class = PKBPF_LOCK_CLASSES;
	assert_int_equal(deadlock_event_check(&thread.header), -EBADMSG);
	thread = sound;
	thread.header.size--;
	assert_int_equal(deadlock_event_check(&thread.header), -EBADMSG);
}

static void waits_time_out_by_their_clock(void **state)
{
	const uint64_t now_ns = 5000000000, wall_ns = 1700000000ULL * 1000000000;
	const uint32_t bitset = PKBPF_FUTEX_WAIT_BITSET, wall = PKBPF_FUTEX_REALTIME;

	(void)state;
	assert_int_equal(pkbpf_lock_expiry(WAIT, 2, 7, now_ns, wall_ns), 7000000007);
	assert_int_equal(pkbpf_lock_expiry(BITSET, 6, 1, now_ns, wall_ns), 6000000001);
	assert_int_equal(pkbpf_lock_expiry(bitset | wall, 1700000006, 0, now_ns, wall_ns),
			 6000000000 - PKBPF_LOCK_CLOCK_ERROR_NS);
	assert_int_equal(pkbpf_lock_expiry(PKBPF_FUTEX_LOCK_PI, 1700000006, 0, now_ns, wall_ns),
			 6000000000 - PKBPF_LOCK_CLOCK_ERROR_NS);
	assert_int_equal(pkbpf_lock_expiry(PKBPF_FUTEX_LOCK_PI2, 6, 0, now_ns, wall_ns),
			 6000000000);
	/* Long over, and never. */
	assert_int_equal(pkbpf_lock_expiry(bitset | wall, 6, 0, now_ns, wall_ns), 0);
	assert_int_equal(pkbpf_lock_expiry(WAIT, 0, 1000000000, now_ns, wall_ns), UINT64_MAX);
	assert_int_equal(pkbpf_lock_expiry(WAIT, UINT64_MAX, 0, now_ns, wall_ns), UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_name_the_lock_and_its_owner),
		cmocka_unit_test(other_waits_are_for_no_lock),
		cmocka_unit_test(waits_time_out_by_their_clock),
		cmocka_unit_test(any_words_have_a_class_and_a_possible_owner),
		cmocka_unit_test(records_that_cannot_be_are_refused),
		cmocka_unit_test(parts_that_cannot_be_are_refused),
		cmocka_unit_test(deadlocks_that_cannot_be_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
