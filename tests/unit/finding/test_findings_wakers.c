// SPDX-License-Identifier: BSD-2-Clause
/* Tests what findings conclude from who woke whom. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "account_machine.h"
#include "finding_fixture.h"

#define MS     1000000ULL
#define SECOND 1000000000ULL

static uint32_t stack_of_kind(const struct fake_profile *fake, enum pkbpf_profile_kind kind)
{
	size_t count;
	const struct profile_row *rows = profile_rows(fake->profile, &count);

	for (size_t i = 0; i < count; i++)
		if (rows[i].kind == kind)
			return rows[i].stack;
	fail_msg("no stack of this kind");
	return 0;
}

/* Threads of app wait in list_append of exec_query, and wake each other with this stack. */
static struct findings woken_by(struct fake_ips waker)
{
	struct fake_profile fake;
	struct relation relation = {
		.kind = PKBPF_RELATION_WAKER, .pid = 5, .other_pid = 5, .other_comm = "app"};

	account_begin(&fake, 1U << PKBPF_PROFILE_OFFCPU | 1U << PKBPF_PROFILE_CPU, SECOND,
		      19 * SECOND);
	account_process(&fake,
			&(struct account_process){.pid = 5, .comm = "app", .run_ns = SECOND});
	account_on_cpu(&fake, 5, "app", SECOND);
	account_waits(&fake, 5, "app", PKBPF_WAIT_SLEEP, 900, 10 * MS, 1, FAKE_IPS(ACCOUNT_FUTEX),
		      FAKE_IPS(ACCOUNT_APPEND, ACCOUNT_QUERY, ACCOUNT_MAIN));
	account_samples(&fake, 5, "app", 99, waker);
	account_end(&fake);
	relation.stack = stack_of_kind(&fake, PKBPF_PROFILE_OFFCPU);
	relation.other_stack = stack_of_kind(&fake, PKBPF_PROFILE_CPU);
	relation.count = 20;
	relation.value = 9 * SECOND;
	assert_int_equal(relation_list_add(profile_relations(fake.profile), &relation), 0);
	return findings_of(&fake);
}

static void a_pool_is_exhausted_when_one_function_takes_and_gives_back(void **state)
{
	struct findings findings = woken_by(FAKE_IPS(ACCOUNT_FLUSH, ACCOUNT_QUERY, ACCOUNT_MAIN));
	const struct finding *finding = finding_of(&findings, "lock_bound");

	assert_non_null(finding);
	assert_non_null(strstr(finding->cause, "what other threads give back"));
	assert_string_equal(finding->by, "given back in `exec_query > XLogFlush`");
}

static void a_queue_that_another_function_fills_is_no_lock(void **state)
{
	struct findings findings = woken_by(FAKE_IPS(ACCOUNT_FLUSH, ACCOUNT_SPIN, ACCOUNT_MAIN));

	assert_null(finding_of(&findings, "lock_bound"));
}

/* A client waits in epoll; this program, at the other end of its socket, ends it. */
static struct findings of_client(const char *waker)
{
	struct fake_profile fake;
	struct relation wakes = {.kind = PKBPF_RELATION_WAKER, .pid = 5, .other_pid = 6},
			peer = {.kind = PKBPF_RELATION_REPLY_IF_READING,
				.pid = 5,
				.other_pid = 6,
				.other_comm = "postgres",
				.text = "/run/postgres",
				.count = 5,
				.value = 5,
				.stack = RELATION_NO_STACK,
				.other_stack = RELATION_NO_STACK};

	account_begin(&fake, 1U << PKBPF_PROFILE_OFFCPU, SECOND, 19 * SECOND);
	account_process(&fake, &(struct account_process){.pid = 5, .comm = "app"});
	account_waits(&fake, 5, "app", PKBPF_WAIT_SLEEP, 95, 100 * MS, 1, FAKE_IPS(ACCOUNT_EPOLL),
		      FAKE_IPS(ACCOUNT_QUERY, ACCOUNT_MAIN));
	account_end(&fake);
	wakes.stack = stack_of_kind(&fake, PKBPF_PROFILE_OFFCPU);
	wakes.other_stack = RELATION_NO_STACK;
	wakes.value = 9 * SECOND;
	strcpy(wakes.other_comm, waker);
	assert_int_equal(relation_list_add(profile_relations(fake.profile), &wakes), 0);
	assert_int_equal(relation_list_add(profile_relations(fake.profile), &peer), 0);
	return findings_of(&fake);
}

static void a_server_that_ends_the_waits_is_named_without_alarm(void **state)
{
	struct findings findings = of_client("postgres");
	const struct finding *finding = finding_of(&findings, "peer_bound");

	assert_non_null(finding);
	assert_false(finding->is_alarm);
	assert_string_equal(finding->by, "peer /run/postgres (postgres 6)");
}

static void a_server_that_others_wake_from_is_not_waited_for(void **state)
{
	struct findings findings = of_client("clicker");

	assert_null(finding_of(&findings, "peer_bound"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pool_is_exhausted_when_one_function_takes_and_gives_back),
		cmocka_unit_test(a_server_that_ends_the_waits_is_named_without_alarm),
		cmocka_unit_test(a_server_that_others_wake_from_is_not_waited_for),
		cmocka_unit_test(a_queue_that_another_function_fills_is_no_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
