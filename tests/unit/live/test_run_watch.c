// SPDX-License-Identifier: BSD-2-Clause
/* What ends a run, and what does not. */
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "live/run_watch.h"
#include "process/cgroup/cgroup.h"

static pid_t start_sleeper(int *ret_pidfd)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failing test must not leave it behind */
		pause();
		_exit(0);
	}
	assert_true(pid > 0);
	*ret_pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	assert_true(*ret_pidfd >= 0);
	return pid;
}

static void end_sleeper(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void the_run_goes_on_until_the_last_process_has_ended(void **state)
{
	struct run_watch *watch;
	struct pollfd fd;
	struct error error;
	pid_t first, second;
	int pidfd;

	watch = run_watch_new(&error);
	assert_non_null(watch);
	first = start_sleeper(&pidfd);
	assert_int_equal(run_watch_add_process(watch, (uint32_t)first, pidfd, &error), 0);
	second = start_sleeper(&pidfd);
	assert_int_equal(run_watch_add_process(watch, (uint32_t)second, pidfd, &error), 0);
	fd = (struct pollfd){.fd = run_watch_fd(watch), .events = POLLIN};

	assert_int_equal(poll(&fd, 1, 0), 0);
	assert_int_equal(run_watch_check(watch, 1, 0), RUN_GOES_ON);
	end_sleeper(first);
	assert_int_equal(poll(&fd, 1, 1000), 1);
	assert_int_equal(run_watch_check(watch, 1, 0), RUN_GOES_ON);
	/* one that has ended must not keep the descriptor readable */
	assert_int_equal(poll(&fd, 1, 0), 0);
	end_sleeper(second);
	assert_int_equal(poll(&fd, 1, 1000), 1);
	assert_int_equal(run_watch_check(watch, 1, 0), RUN_TARGETS_ENDED);
	run_watch_free(watch);
}

static void a_process_without_pidfd_is_asked_for_by_number(void **state)
{
	struct run_watch *watch;
	struct error error;
	int pidfd;
	pid_t pid = start_sleeper(&pidfd);

	close(pidfd);
	watch = run_watch_new(&error);
	assert_int_equal(run_watch_add_process(watch, (uint32_t)pid, -1, &error), 0);
	assert_int_equal(run_watch_check(watch, 1, 0), RUN_GOES_ON);
	end_sleeper(pid);
	assert_int_equal(run_watch_check(watch, 1, 0), RUN_TARGETS_ENDED);
	run_watch_free(watch);
}

static void time_and_stop_end_a_run_without_targets(void **state)
{
	int stop = eventfd(0, EFD_CLOEXEC);
	struct run_watch *watch;
	struct error error;

	watch = run_watch_new(&error);
	assert_int_equal(run_watch_set_stop(watch, stop, &error), 0);
	assert_int_equal(run_watch_check(watch, 99, 0), RUN_GOES_ON);
	assert_int_equal(run_watch_check(watch, 99, 100), RUN_GOES_ON);
	assert_int_equal(run_watch_check(watch, 100, 100), RUN_TIME_IS_UP);
	eventfd_write(stop, 1);
	assert_int_equal(run_watch_check(watch, 100, 100), RUN_STOPPED);
	run_watch_free(watch);
	close(stop);
}

static void a_pipe_that_nobody_reads_ends_a_run(void **state)
{
	struct run_watch *watch;
	struct error error;
	int ends[2], file = open("/dev/null", O_WRONLY | O_CLOEXEC);

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	watch = run_watch_new(&error);
	assert_int_equal(run_watch_set_output(watch, file, &error), 0);
	assert_int_equal(run_watch_set_output(watch, ends[1], &error), 0);
	assert_int_equal(run_watch_check(watch, 1, 0), RUN_GOES_ON);
	close(ends[0]);
	assert_int_equal(run_watch_check(watch, 1, 0), RUN_STOPPED);
	run_watch_free(watch);
	close(ends[1]);
	close(file);
}

static void cgroups_that_are_removed_end_a_run(void **state)
{
	char path[] = "/tmp/pkbpf-run-watch-XXXXXX", other[] = "/tmp/pkbpf-run-watch-XXXXXX";
	char *items[] = {path, other};
	struct cgroup_paths cgroups = {items, 2, 2};
	struct run_watch *watch;
	struct error error;

	assert_non_null(mkdtemp(path));
	assert_non_null(mkdtemp(other));
	watch = run_watch_new(&error);
	run_watch_set_cgroups(watch, &cgroups, false);
	assert_int_equal(run_watch_check(watch, 1, 0), RUN_GOES_ON);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(run_watch_check(watch, 1, 0), RUN_GOES_ON);
	assert_int_equal(rmdir(other), 0);
	assert_int_equal(run_watch_check(watch, 1, 0), RUN_TARGETS_ENDED);
	run_watch_set_cgroups(watch, &cgroups, true);
	assert_int_equal(run_watch_check(watch, 1, 0), RUN_GOES_ON);
	run_watch_free(watch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_run_goes_on_until_the_last_process_has_ended),
		cmocka_unit_test(a_process_without_pidfd_is_asked_for_by_number),
		cmocka_unit_test(time_and_stop_end_a_run_without_targets),
		cmocka_unit_test(a_pipe_that_nobody_reads_ends_a_run),
		cmocka_unit_test(cgroups_that_are_removed_end_a_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
