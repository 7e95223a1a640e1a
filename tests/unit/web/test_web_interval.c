// SPDX-License-Identifier: BSD-2-Clause
/* Tests of which interval an answer is, and that a failure leaves nothing to be freed twice. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "web/web_private.h"

#define SECOND 1000000000LL
#define NOW    (1700000000LL * SECOND)

static int interval(int64_t from, int64_t to, struct history_range *ret_range)
{
	struct web_query query;
	struct error error;

	web_query_init(&query, NOW);
	query.from_unix_ns = from;
	query.to_unix_ns = to;
	return web_interval(&query, WEB_FIVE_MINUTES, ret_range, &error);
}

static void nothing_said_is_the_last_five_minutes(void **state)
{
	struct history_range range;

	(void)state;
	assert_int_equal(interval(WEB_NO_TIME, WEB_NO_TIME, &range), 0);
	assert_int_equal(range.from_unix_ns, NOW - 300 * SECOND);
	assert_int_equal(range.to_unix_ns, NOW);
	assert_int_equal(interval(WEB_NO_TIME, NOW - 3600 * SECOND, &range), 0);
	assert_int_equal(range.from_unix_ns, NOW - 3900 * SECOND);
	assert_int_equal(range.to_unix_ns, NOW - 3600 * SECOND);
}

static void zero_is_the_beginning_of_time(void **state)
{
	struct history_range range;

	(void)state;
	assert_int_equal(interval(0, WEB_NO_TIME, &range), 0);
	assert_int_equal(range.from_unix_ns, 0);
	assert_int_equal(range.to_unix_ns, NOW);
}

static void an_interval_that_ends_before_it_begins_is_refused(void **state)
{
	struct history_range range;

	(void)state;
	assert_int_equal(interval(NOW, NOW - SECOND, &range), -EINVAL);
	assert_int_equal(interval(NOW, NOW, &range), -EINVAL);
	assert_int_equal(interval(WEB_NO_TIME, 0, &range), 0);
	assert_int_equal(interval(NOW + SECOND, WEB_NO_TIME, &range), -EINVAL);
}

static int objectives_err;

static int write_objectives(void *context, const struct history_range *range, FILE *out,
			    struct error *error)
{
	(void)context;
	fprintf(out, "%lld", (long long)((range->to_unix_ns - range->from_unix_ns) / SECOND));
	return objectives_err < 0 ? error_set(error, -objectives_err, "why not") : 0;
}

static struct web_answer ask_for_objectives(int err, int *ret_err)
{
	struct web web = {.options = {.write_objectives = write_objectives}};
	struct web_answer answer = {0};
	struct web_query query;

	pthread_mutex_init(&web.lock, NULL);
	pthread_cond_init(&web.news, NULL);
	web_query_init(&query, NOW);
	objectives_err = err;
	*ret_err = web_answer_objectives(&web, &query, &answer);
	pthread_cond_destroy(&web.news);
	pthread_mutex_destroy(&web.lock);
	return answer;
}

static void objectives_are_those_of_the_last_hour(void **state)
{
	int err;
	struct web_answer answer = ask_for_objectives(0, &err);

	(void)state;
	assert_int_equal(err, 0);
	assert_int_equal(answer.status, 200);
	assert_string_equal(answer.body, "3600");
	free(answer.body);
}

static void a_failure_of_objectives_leaves_one_answer_or_none(void **state)
{
	int err;
	struct web_answer answer = ask_for_objectives(-E2BIG, &err);

	(void)state;
	assert_int_equal(err, 0);
	assert_int_equal(answer.status, 413);
	assert_string_equal(answer.body, "why not\n");
	free(answer.body);
	/* A broken store is no answer of this kind: its caller has another one. */
	answer = ask_for_objectives(-EIO, &err);
	assert_int_equal(err, -EIO);
	assert_null(answer.body);
	answer = ask_for_objectives(-ENOMEM, &err);
	assert_int_equal(err, -ENOMEM);
	assert_null(answer.body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_said_is_the_last_five_minutes),
		cmocka_unit_test(zero_is_the_beginning_of_time),
		cmocka_unit_test(an_interval_that_ends_before_it_begins_is_refused),
		cmocka_unit_test(objectives_are_those_of_the_last_hour),
		cmocka_unit_test(a_failure_of_objectives_leaves_one_answer_or_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
