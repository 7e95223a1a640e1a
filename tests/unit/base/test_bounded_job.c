// SPDX-License-Identifier: BSD-2-Clause
/* Tests for base/bounded_job: an answer or none, but never later than asked for, and nothing that
 * stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bounded_job.h"
#include "base/clock.h"

static const struct timespec long_time = {.tv_sec = 60}, short_time = {.tv_nsec = 20000000};

/* Nobody else's processes are there to be waited for. */
static void assert_ends(pid_t left)
{
	uint64_t begin_ns = clock_now_ns();

	while (!bounded_job_has_ended(left)) {
		assert_true(clock_now_ns() - begin_ns < 30 * NS_PER_SECOND);
		nanosleep(&short_time, NULL);
	}
	assert_int_equal(kill(left, 0), -1);
}

static int add_one(void *context, void *result)
{
	*(int *)result = *(int *)context + 1;
	*(int *)context = 0;
	return 7;
}

static void what_the_job_has_found_comes_back(void **state)
{
	int number = 41, result = 0;
	pid_t left = 0;
	struct bounded_job job = {.run = add_one,
				  .context = &number,
				  .result = &result,
				  .result_size = sizeof(result),
				  .kept_fd = -1,
				  .quiet_ns = 30 * NS_PER_SECOND,
				  .limit_ns = 30 * NS_PER_SECOND};

	assert_int_equal(bounded_job_run(&job, &left), 7);
	assert_int_equal(result, 42);
	assert_int_equal(number, 41);
	assert_int_equal(left, 0);
}

static int refuse(void *context, void *result)
{
	return -EACCES;
}

static int die(void *context, void *result)
{
	raise(SIGKILL);
	return 0;
}

static void a_job_may_fail_or_end_without_an_answer(void **state)
{
	struct bounded_job job = {.run = refuse,
				  .kept_fd = -1,
				  .quiet_ns = 30 * NS_PER_SECOND,
				  .limit_ns = 30 * NS_PER_SECOND};
	pid_t left = 0;

	assert_int_equal(bounded_job_run(&job, &left), -EACCES);
	job.run = die;
	assert_int_equal(bounded_job_run(&job, &left), -EIO);
	assert_int_equal(left, 0);
}

static int sleep_long(void *context, void *result)
{
	nanosleep(&long_time, NULL);
	return 0;
}

static void a_job_that_sleeps_is_left_behind(void **state)
{
	struct bounded_job job = {.run = sleep_long,
				  .kept_fd = -1,
				  .quiet_ns = 50 * NS_PER_MS,
				  .limit_ns = 10 * NS_PER_SECOND};
	uint64_t begin_ns = clock_now_ns(), took_ns;
	pid_t left = 0;

	assert_int_equal(bounded_job_run(&job, &left), -ETIMEDOUT);
	took_ns = clock_now_ns() - begin_ns;
	assert_true(took_ns >= 50 * NS_PER_MS && took_ns < 30 * NS_PER_SECOND);
	assert_true(left > 0);
	assert_ends(left);
}

static int grow(void *context, void *result)
{
	int fd = *(int *)context;

	for (int i = 0; i < 20; i++) {
		nanosleep(&short_time, NULL);
		if (write(fd, "x", 1) != 1)
			return -EIO;
	}
	return 0;
}

static int grow_without_end(void *context, void *result)
{
	while (grow(context, result) == 0)
		;
	return -EIO;
}

static void a_job_that_goes_on_is_waited_for_until_its_limit(void **state)
{
	int fd = memfd_create("job", MFD_CLOEXEC);
	struct bounded_job job = {.run = grow,
				  .context = &fd,
				  .kept_fd = fd,
				  .quiet_ns = 300 * NS_PER_MS,
				  .limit_ns = 60 * NS_PER_SECOND};
	struct stat status;
	pid_t left = 0;

	/* In all it takes longer than it may be quiet. */
	assert_int_equal(bounded_job_run(&job, &left), 0);
	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(status.st_size, 20);
	job.run = grow_without_end;
	job.limit_ns = 400 * NS_PER_MS;
	assert_int_equal(bounded_job_run(&job, &left), -ETIMEDOUT);
	assert_ends(left);
	close(fd);
}

static int count_descriptors(void *context, void *result)
{
	int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void a_job_has_no_descriptor_but_the_one_it_is_given(void **state)
{
	int fd = memfd_create("job", MFD_CLOEXEC), pair[2];
	struct bounded_job job = {.run = count_descriptors,
				  .kept_fd = -1,
				  .quiet_ns = 30 * NS_PER_SECOND,
				  .limit_ns = 30 * NS_PER_SECOND};
	pid_t left;

	/* Beside the one of its answer. */
	assert_int_equal(pipe(pair), 0);
	assert_int_equal(bounded_job_run(&job, &left), 1);
	job.kept_fd = fd;
	assert_int_equal(bounded_job_run(&job, &left), 2);
	close(pair[0]);
	close(pair[1]);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_job_has_found_comes_back),
		cmocka_unit_test(a_job_may_fail_or_end_without_an_answer),
		cmocka_unit_test(a_job_that_sleeps_is_left_behind),
		cmocka_unit_test(a_job_that_goes_on_is_waited_for_until_its_limit),
		cmocka_unit_test(a_job_has_no_descriptor_but_the_one_it_is_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
