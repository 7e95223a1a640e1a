// SPDX-License-Identifier: BSD-2-Clause
/* Each test changes a thread of its own: without privileges nobody can undo what it did. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/thread_priority.h"

struct trial {
	int first_nice; /* chosen by the user */
	bool raised;
	int while_raised, restored;
	int child; /* of a thread started meanwhile */
};

static int own_nice(void)
{
	return getpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid));
}

static void *note_nice(void *context)
{
	*(int *)context = own_nice();
	return NULL;
}

static void *try_it(void *context)
{
	struct trial *trial = context;
	pthread_t child;

	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), trial->first_nice);
	trial->raised = thread_priority_raise();
	trial->while_raised = own_nice();
	if (pthread_create(&child, NULL, note_nice, &trial->child) == 0)
		pthread_join(child, NULL);
	thread_priority_restore();
	trial->restored = own_nice();
	return NULL;
}

static struct trial run_trial(int nice)
{
	struct trial trial = {.first_nice = nice};
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, try_it, &trial), 0);
	pthread_join(thread, NULL);
	return trial;
}

static void comes_first_until_restored(void **state)
{
	struct trial trial = run_trial(0);

	if (own_nice() != 0)
		skip();
	if (trial.raised) {
		assert_true(trial.while_raised < 0);
		assert_int_equal(trial.child, trial.while_raised);
	} else {
		assert_int_not_equal(geteuid(), 0);
		assert_int_equal(trial.while_raised, 0);
	}
	assert_int_equal(trial.restored, 0);
	/* Nobody else. */
	assert_int_equal(own_nice(), 0);
}

static void leaves_alone_what_the_user_has_chosen(void **state)
{
	struct trial trial = run_trial(7);

	if (own_nice() > 7)
		skip();
	assert_false(trial.raised);
	assert_int_equal(trial.while_raised, 7);
	assert_int_equal(trial.restored, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_first_until_restored),
		cmocka_unit_test(leaves_alone_what_the_user_has_chosen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
