// SPDX-License-Identifier: BSD-2-Clause
/* Tests for base/roomy_stack: where a small limit holds, and where none does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/roomy_stack.h"

static pthread_t caller;

static int fill(int argc, char **argv)
{
	volatile char room[512 << 10];
	sigset_t mask;

	memset((char *)room, argc, sizeof(room));
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	if (room[sizeof(room) - 1] != argc || argv[0][0] != 'x' || sigismember(&mask, SIGTERM) ||
	    !sigismember(&mask, SIGUSR1))
		return 1;
	return pthread_equal(pthread_self(), caller) ? 40 : 41;
}

/* In a child, whose limit is set for good. */
static int status_with_limit(rlim_t bytes)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		struct rlimit limit = {bytes, bytes};
		sigset_t one;

		caller = pthread_self();
		sigemptyset(&one);
		sigaddset(&one, SIGUSR1);
		sigprocmask(SIG_SETMASK, &one, NULL);
		setrlimit(RLIMIT_STACK, &limit);
		_exit(roomy_stack_run(fill, 2, (char *[]){(char[]){"x"}, NULL}));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void with_a_small_limit_it_is_another_thread_that_has_room(void **state)
{
	int status = status_with_limit(64 << 10);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 41);
}

static void with_an_ordinary_limit_it_is_the_same_thread(void **state)
{
	int status = status_with_limit(8 << 20);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(with_a_small_limit_it_is_another_thread_that_has_room),
		cmocka_unit_test(with_an_ordinary_limit_it_is_the_same_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
