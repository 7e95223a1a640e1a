// SPDX-License-Identifier: BSD-2-Clause
/* Tests why a lock is said to make threads wait, each with a twin for which it is not said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "account_machine.h"
#include "finding/finding_rules.h"
#include "finding_fixture.h"

#define MS     1000000ULL
#define SECOND 1000000000ULL
#define ALL    (1U << PKBPF_PROFILE_OFFCPU | 1U << PKBPF_PROFILE_LOCKS)

/* 8 s of waits in an interval of 10 s. */
struct planted {
	uint32_t class;
	uint64_t waits, wait_ns;
	uint64_t lock_function; /* that waits */
	uint32_t state;		/* of the holder, for percent of the time */
	uint64_t percent;
	uint64_t holder_function; /* it waits in; 0: no stack */
};

static uint32_t stack_with(const struct fake_profile *fake, uint32_t state, uint64_t count)
{
	size_t rows;
	const struct profile_row *row = profile_rows(fake->profile, &rows);

	(void)state;
	for (size_t i = 0; i < rows; i++)
		if (row[i].kind == PKBPF_PROFILE_OFFCPU && row[i].count == count)
			return row[i].stack;
	fail_msg("no such waits");
	return 0;
}

static void add_part(struct fake_profile *fake, const struct lock_part *part)
{
	assert_int_equal(lock_list_add_part(profile_locks(fake->profile), part), 0);
}

static struct findings findings_with(const struct planted *planted)
{
	struct fake_profile fake;
	struct lock_part part = {.kind = PKBPF_LOCK_HOLDER,
				 .state = planted->state,
				 .pid = 5,
				 .tid = 6,
				 .stack = LOCK_NO_STACK,
				 .comm = "evict",
				 .ns = planted->wait_ns * planted->percent / 100};

	account_begin(&fake, ALL, SECOND, 19 * SECOND);
	profile_info(fake.profile)->has_targets = true;
	account_process(&fake, &(struct account_process){.pid = 5, .comm = "app", .run_ns = MS});
	account_waits(&fake, 5, "app", PKBPF_WAIT_SLEEP, (uint32_t)planted->waits,
		      planted->wait_ns / planted->waits, 1, FAKE_IPS(ACCOUNT_FUTEX),
		      FAKE_IPS(planted->lock_function, ACCOUNT_QUERY, ACCOUNT_MAIN));
	account_waits(&fake, 5, "app", PKBPF_WAIT_SLEEP, 7, MS, 2, FAKE_IPS(ACCOUNT_NANOSLEEP),
		      FAKE_IPS(planted->holder_function ? planted->holder_function : ACCOUNT_SPIN,
			       ACCOUNT_APPEND, ACCOUNT_MAIN));
	account_end(&fake);
	part.lock = (uint32_t)lock_list_add(profile_locks(fake.profile),
					    &(struct lock){.address = 0x1000,
							   .pid = 5,
							   .class = planted->class,
							   .name = "cache_lock",
							   .waits = planted->waits,
							   .wait_ns = planted->wait_ns});
	if (planted->holder_function)
		part.stack = stack_with(&fake, planted->state, 7);
	add_part(&fake, &part);
	part.state = PKBPF_WAIT_NONE;
	part.stack = LOCK_NO_STACK;
	part.ns = planted->wait_ns * (100 - planted->percent) / 100;
	add_part(&fake, &part);
	part = (struct lock_part){.lock = part.lock,
				  .kind = PKBPF_LOCK_SITE,
				  .stack = stack_with(&fake, 0, planted->waits),
				  .count = planted->waits,
				  .ns = planted->wait_ns};
	add_part(&fake, &part);
	return findings_of(&fake);
}

static void expect_pattern(const struct planted *planted, const char *by, const char *next)
{
	struct findings findings = findings_with(planted);
	const struct finding *finding = finding_of(&findings, "lock_bound");

	assert_non_null(finding);
	if (!strstr(finding->by, by))
		fail_msg("'%s' is not in '%s'", by, finding->by);
	if (!strstr(finding->next, next))
		fail_msg("'%s' is not in '%s'", next, finding->next);
}

static void expect_none(const struct planted *planted)
{
	struct findings findings = findings_with(planted);
	const struct finding *finding = finding_of(&findings, "lock_bound");

	assert_non_null(finding);
	if (strchr(finding->by, ';'))
		fail_msg("said: %s", finding->by);
	assert_string_equal(finding->next, "do less while the lock is held, or divide it");
}

static const struct planted plain = {.class = PKBPF_LOCK_MUTEX,
				     .waits = 80,
				     .wait_ns = 8 * SECOND,
				     .lock_function = ACCOUNT_LIBC_LOCK,
				     .state = PKBPF_WAIT_SLEEP,
				     .percent = 70};

static void a_lock_may_be_held_across_io(void **state)
{
	struct planted planted = plain;

	(void)state;
	expect_none(&planted);
	planted.state = PKBPF_WAIT_DISK;
	expect_pattern(&planted, "most for the cache_lock (mutex) in exec_query, held by",
		       "do the I/O before");
	expect_pattern(&planted, "; held across I/O, 70 % of it", "do the I/O before");
	/* Asleep in a call of I/O, or in another one. */
	planted.state = PKBPF_WAIT_SLEEP;
	planted.holder_function = ACCOUNT_FSYNC;
	expect_pattern(&planted, "; held across I/O, 70 % of it", "do the I/O before");
	planted.holder_function = ACCOUNT_RESOLVE;
	expect_none(&planted);
	/* A smaller part of it. */
	planted.state = PKBPF_WAIT_DISK;
	planted.percent = 40;
	expect_none(&planted);
}

static void a_holder_may_wait_behind_a_lower_priority(void **state)
{
	struct planted planted = plain;

	(void)state;
	planted.state = PKBPF_LOCK_INVERTED;
	expect_pattern(&planted, "; priority inversion: for 70 % of it the holder waits for a CPU",
		       "PTHREAD_PRIO_INHERIT");
	/* The same wait, without a difference of priorities. */
	planted.state = PKBPF_WAIT_RUNQUEUE;
	expect_none(&planted);
	planted.state = PKBPF_LOCK_INVERTED;
	planted.percent = 10;
	expect_none(&planted);
}

static void writers_may_starve(void **state)
{
	struct planted planted = plain;

	(void)state;
	planted.class = PKBPF_LOCK_RWLOCK;
	planted.lock_function = ACCOUNT_WRITE_LOCK;
	planted.state = PKBPF_LOCK_UNKNOWN;
	expect_pattern(
		&planted,
		"; writers starve behind readers, or holders that are not known: 100 ms a wait",
		"PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP");
	/* Readers wait, writers wait for a short time, or for a writer. */
	planted.lock_function = ACCOUNT_READ_LOCK;
	expect_none(&planted);
	planted.lock_function = ACCOUNT_WRITE_LOCK;
	planted.waits = 8000;
	expect_none(&planted);
	planted.waits = 80;
	planted.percent = 30;
	expect_none(&planted);
}

static void a_convoy_is_many_waits_for_short_holds(void **state)
{
	struct planted planted = plain;

	(void)state;
	planted.wait_ns = 45 * SECOND;
	planted.waits = 200000;
	expect_pattern(&planted,
		       "; a convoy: 4.5 threads wait for it on average, 200,000 times in all",
		       "take it less often");
	/* Fewer that wait; longer holds. */
	planted.wait_ns = 25 * SECOND;
	expect_none(&planted);
	planted.wait_ns = 45 * SECOND;
	planted.waits = 20000;
	expect_none(&planted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lock_may_be_held_across_io),
		cmocka_unit_test(a_holder_may_wait_behind_a_lower_priority),
		cmocka_unit_test(writers_may_starve),
		cmocka_unit_test(a_convoy_is_many_waits_for_short_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
