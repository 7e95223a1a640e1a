// SPDX-License-Identifier: BSD-2-Clause
/* Tests for bench/launched_process: what processes used that the command did not wait for is added
 * to what it used. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/launched_process.h"

#define CPU_NS 30000000L

static void usages_add_up_but_memory_is_the_largest(void **state)
{
	struct rusage sum = {.ru_utime = {1, 700000},
			     .ru_stime = {0, 5},
			     .ru_maxrss = 300,
			     .ru_minflt = 1,
			     .ru_majflt = 2,
			     .ru_nvcsw = 3,
			     .ru_nivcsw = 4};
	const struct rusage more = {.ru_utime = {2, 600000},
				    .ru_stime = {3, 0},
				    .ru_maxrss = 200,
				    .ru_minflt = 10,
				    .ru_majflt = 20,
				    .ru_nvcsw = 30,
				    .ru_nivcsw = 40};

	(void)state;
	launched_usage_add(&sum, &more);
	assert_int_equal(sum.ru_utime.tv_sec, 4);
	assert_int_equal(sum.ru_utime.tv_usec, 300000);
	assert_int_equal(sum.ru_stime.tv_sec, 3);
	assert_int_equal(sum.ru_stime.tv_usec, 5);
	assert_int_equal(sum.ru_maxrss, 300);
	assert_int_equal(sum.ru_minflt, 11);
	assert_int_equal(sum.ru_majflt, 22);
	assert_int_equal(sum.ru_nvcsw, 33);
	assert_int_equal(sum.ru_nivcsw, 44);
}

/* A child that uses some CPU time, and has exited. */
static pid_t burn(void)
{
	siginfo_t info;
	pid_t pid = fork();

	if (pid == 0) {
		struct timespec used = {0};

		while (used.tv_nsec < CPU_NS && !used.tv_sec)
			clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
		_exit(0);
	}
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	return pid;
}

static void the_cpu_time_of_an_orphan_is_that_of_the_run(void **state)
{
	struct launch_result result = {.usage = {.ru_utime = {5, 0}}};
	long used_us;

	(void)state;
	launched_orphan_reap(burn(), &result);
	used_us = (result.usage.ru_utime.tv_sec - 5) * 1000000 + result.usage.ru_utime.tv_usec +
		  result.usage.ru_stime.tv_sec * 1000000 + result.usage.ru_stime.tv_usec;
	assert_in_range(used_us, CPU_NS / 1000 - 10000, 10000000);
	/* One of a run before is only reaped. */
	launched_orphan_reap(burn(), NULL);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usages_add_up_but_memory_is_the_largest),
		cmocka_unit_test(the_cpu_time_of_an_orphan_is_that_of_the_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
