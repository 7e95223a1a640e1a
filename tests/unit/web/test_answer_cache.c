// SPDX-License-Identifier: BSD-2-Clause
/* Tests that an answer is made once for all who ask for it, and that what is kept is bounded. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "web/answer_cache.h"

static struct answer_cache cache;

static int setup(void **state)
{
	(void)state;
	answer_cache_init(&cache);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	answer_cache_done(&cache);
	return 0;
}

static struct answer_key key_until(int64_t to)
{
	struct answer_key key;

	memset(&key, 0, sizeof(key));
	key.to_unix_ns = to;
	return key;
}

static int take(int64_t to, char **ret_body)
{
	struct answer_key key = key_until(to);
	size_t size = 0;
	int state = answer_cache_take(&cache, &key, ret_body, &size);

	if (state == ANSWER_FOUND)
		assert_int_equal(size, 6);
	return state;
}

static void put(int64_t to, const char *body)
{
	struct answer_key key = key_until(to);

	answer_cache_put(&cache, &key, body, body ? strlen(body) : 0);
}

static void what_was_made_is_found(void **state)
{
	struct answer_key other = key_until(1);
	char *body = NULL;
	size_t size;

	(void)state;
	assert_int_equal(take(1, &body), ANSWER_TO_MAKE);
	put(1, "answer");
	assert_int_equal(take(1, &body), ANSWER_FOUND);
	assert_memory_equal(body, "answer", 6);
	free(body);
	other.pid = 7;
	assert_int_equal(answer_cache_take(&cache, &other, &body, &size), ANSWER_TO_MAKE);
	answer_cache_put(&cache, &other, NULL, 0);
}

static void what_could_not_be_made_is_tried_again(void **state)
{
	char *body;

	(void)state;
	assert_int_equal(take(1, &body), ANSWER_TO_MAKE);
	put(1, NULL);
	assert_int_equal(take(1, &body), ANSWER_TO_MAKE);
	put(1, "answer");
}

static void the_oldest_makes_room(void **state)
{
	char *body;

	(void)state;
	for (int64_t to = 1; to <= ANSWER_CACHE_ENTRIES + 1; to++) {
		assert_int_equal(take(to, &body), ANSWER_TO_MAKE);
		put(to, "answer");
	}
	assert_int_equal(take(ANSWER_CACHE_ENTRIES + 1, &body), ANSWER_FOUND);
	free(body);
	assert_int_equal(take(1, &body), ANSWER_TO_MAKE);
	put(1, NULL);
}

static void without_room_an_answer_is_made_at_once(void **state)
{
	char *body;

	(void)state;
	for (int64_t to = 1; to <= ANSWER_CACHE_ENTRIES; to++)
		assert_int_equal(take(to, &body), ANSWER_TO_MAKE);
	assert_int_equal(take(100, &body), ANSWER_TO_MAKE);
	put(100, "answer");
	for (int64_t to = 1; to <= ANSWER_CACHE_ENTRIES; to++)
		put(to, "answer");
	assert_int_equal(take(2, &body), ANSWER_FOUND);
	free(body);
}

static void long_answers_and_unused_ones_take_no_memory(void **state)
{
	static char body[ANSWER_CACHE_BODY_MAX + 1];
	struct answer_key key = key_until(1);
	char *found;

	(void)state;
	assert_int_equal(take(1, &found), ANSWER_TO_MAKE);
	answer_cache_put(&cache, &key, body, sizeof(body));
	assert_int_equal(take(1, &found), ANSWER_TO_MAKE);
	put(1, "answer");
	answer_cache_expire(&cache, 1);
	assert_int_equal(take(1, &found), ANSWER_FOUND);
	free(found);
	answer_cache_expire(&cache, clock_now_ns() + 1);
	assert_int_equal(take(1, &found), ANSWER_TO_MAKE);
	put(1, NULL);
}

static void *ask_in_a_thread(void *unused)
{
	char *body = NULL;

	(void)unused;
	return take(1, &body) == ANSWER_FOUND ? body : NULL;
}

static void wait_for_threads(unsigned int count)
{
	unsigned int waiting;

	do {
		sched_yield();
		pthread_mutex_lock(&cache.lock);
		waiting = cache.waiting;
		pthread_mutex_unlock(&cache.lock);
	} while (waiting < count);
}

static void threads_that_wait_get_the_same(void **state)
{
	pthread_t threads[8];
	char *body;

	(void)state;
	assert_int_equal(take(1, &body), ANSWER_TO_MAKE);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask_in_a_thread, NULL), 0);
	wait_for_threads(8);
	put(1, "answer");
	for (size_t i = 0; i < 8; i++) {
		void *found;

		assert_int_equal(pthread_join(threads[i], &found), 0);
		assert_non_null(found);
		assert_memory_equal(found, "answer", 6);
		free(found);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_made_is_found),
		TEST(what_could_not_be_made_is_tried_again),
		TEST(the_oldest_makes_room),
		TEST(without_room_an_answer_is_made_at_once),
		TEST(long_answers_and_unused_ones_take_no_memory),
		TEST(threads_that_wait_get_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
