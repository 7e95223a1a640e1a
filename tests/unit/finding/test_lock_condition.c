// SPDX-License-Identifier: BSD-2-Clause
/* Tests conditions on locks. */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "finding/lock_condition.h"
#include "lock_scenario.h"

static struct fake_profile fake;
static struct function_table *functions;
static char sentences[512];

static int begin(const char *name)
{
	lock_scenario(&fake, name);
	functions =
		function_table_new(fake.profile, &(struct function_table_options){.merge = true});
	return functions ? 0 : -1;
}

static int setup(void **state)
{
	(void)state;
	return begin("cache_lock");
}

static int setup_without_name(void **state)
{
	(void)state;
	return begin("");
}

static int teardown(void **state)
{
	(void)state;
	function_table_free(functions);
	fake_profile_done(&fake);
	return 0;
}

static void take(void *context, const char *sentence)
{
	size_t used = strlen(sentences);

	(void)context;
	snprintf(sentences + used, sizeof(sentences) - used, "%s%s", used ? "; " : "", sentence);
}

static int check(const char *text)
{
	struct lock_condition condition;
	struct error error = {""};

	sentences[0] = '\0';
	assert_true(lock_condition_is(text));
	if (lock_condition_parse(text, &condition, &error))
		fail_msg("%s: %s", text, error.text);
	return lock_condition_check(&condition, fake.profile, functions, take, NULL);
}

static void expect(const char *text, int breaches, const char *wanted)
{
	assert_int_equal(check(text), breaches);
	assert_string_equal(sentences, wanted);
}

static void figures_are_those_of_the_lock(void **state)
{
	(void)state;
	expect("lock[cache_lock].wait>9ms", 1, "lock[cache_lock].wait is 10.0 ms");
	expect("lock[cache_lock].wait>10ms", 0, "");
	expect("lock[cache_lock].waits>=10", 1, "lock[cache_lock].waits is 10");
	expect("lock[cache_lock].mean>=1ms", 1, "lock[cache_lock].mean is 1.00 ms");
	expect("lock[cache_lock].max > 2ms", 0, "");
	expect("lock[cache_lock].waiters<4", 1, "lock[cache_lock].waiters is 3");
	assert_int_equal(check("lock[cache_lock].p99>0.8ms"), 1);
	assert_int_equal(check("lock[cache_lock].p50>1.2ms"), 0);
	/* By what a report calls it. */
	assert_int_equal(check("lock[cache_lock (mutex) in exec_query].wait>9ms"), 1);
}

static void shares_are_of_the_threads_that_wait(void **state)
{
	(void)state;
	assert_int_equal(check("lock[cache_lock].wait_share>=0%"), 1);
	assert_int_equal(check("lock[cache_lock].wait_share>100%"), 0);
}

static void all_together_and_each_alone(void **state)
{
	(void)state;
	expect("lock.waits>11", 1, "lock.waits is 12");
	expect("lock.wait>12ms", 0, "");
	expect("lock[*].waits>1", 2, "lock[cache_lock].waits is 10; lock[rwlock].waits is 2");
	expect("lock[*].waits>5", 1, "lock[cache_lock].waits is 10");
	expect("lock[rwlock].waits>1", 1, "lock[rwlock].waits is 2");
	assert_int_equal(check("lock[none].waits>1"), -ESRCH);
	assert_int_equal(check("?lock[none].waits>1"), -ESRCH);
}

static void a_lock_without_a_symbol_has_the_name_of_the_report(void **state)
{
	(void)state;
	expect("lock[mutex in exec_query].waits>1", 1, "lock[mutex in exec_query].waits is 10");
	assert_int_equal(check("lock[cache_lock].waits>1"), -ESRCH);
}

static void what_is_no_condition_is_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{"lock.wait", "expected a condition like lock.wait_share>5%"},
		{"lock.wait>5", "expected one like"},
		{"lock.nothing>5", "unknown figure 'nothing' of a lock"},
		{"lock.>5", "unknown figure ''"},
		{"lock[].wait>5ms", "invalid lock"},
		{"lock[a>5ms", "invalid lock"},
		{"lock[a]wait>5ms", "invalid lock"},
		{"lock[a].p98>5ms", "unknown figure 'p98'"},
		{"lock[>5", "invalid lock"},
	};
	struct lock_condition condition;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error error = {""};

		assert_true(lock_condition_is(rows[i].text));
		assert_int_equal(lock_condition_parse(rows[i].text, &condition, &error), -EINVAL);
		if (!strstr(error.text, rows[i].why))
			fail_msg("%s: %s", rows[i].text, error.text);
	}
	assert_false(lock_condition_is("locks>5"));
	assert_false(lock_condition_is("offcpu.total>5ms"));
	assert_int_equal(lock_condition_parse("? lock.wait>1ms", &condition, NULL), -EINVAL);
	assert_int_equal(lock_condition_parse("?lock[a].wait>1ms", &condition, NULL), 0);
	assert_true(condition.may_be_absent);
}

static void it_needs_locks(void **state)
{
	struct error error = {""};

	(void)state;
	assert_int_equal(lock_condition_check_possible(1U << PKBPF_PROFILE_LOCKS, &error), 0);
	assert_int_equal(lock_condition_check_possible(1U << PKBPF_PROFILE_OFFCPU, &error),
			 -EINVAL);
	assert_non_null(strstr(error.text, "add locks to --events"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(figures_are_those_of_the_lock, setup, teardown),
		cmocka_unit_test_setup_teardown(shares_are_of_the_threads_that_wait, setup,
						teardown),
		cmocka_unit_test_setup_teardown(all_together_and_each_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(a_lock_without_a_symbol_has_the_name_of_the_report,
						setup_without_name, teardown),
		cmocka_unit_test(what_is_no_condition_is_refused),
		cmocka_unit_test(it_needs_locks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
