// SPDX-License-Identifier: BSD-2-Clause
/* What a capture checks and prepares before it needs any rights. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "live/live_run.h"

/* Beyond PID_MAX_LIMIT: nobody has it. */
static uint32_t no_process = 4194305;

static void a_target_that_does_not_exist_is_refused_before_anything_is_loaded(void **state)
{
	struct live_options options;
	struct live_run *run = NULL;
	struct error error;

	live_options_init(&options);
	options.targets.pids = (struct u32_list){&no_process, 1, 0};
	assert_int_equal(live_run_new(&options, &run, &error), -ESRCH);
	assert_non_null(strstr(error.text, "pid 4194305"));
	options.targets.pids = (struct u32_list){0};
	options.targets.tids = (struct u32_list){&no_process, 1, 0};
	assert_int_equal(live_run_new(&options, &run, &error), -ESRCH);
	assert_non_null(strstr(error.text, "tid 4194305"));
	options.targets.tids = (struct u32_list){0};
	options.targets.cgroup_path = "/nowhere/at/all";
	assert_int_equal(live_run_new(&options, &run, &error), -ENOENT);
	assert_null(run);
}

static struct live_run *launch(char *const argv[])
{
	struct live_options options;
	struct live_run *run;
	struct error error;
	sigset_t mask;

	live_options_init(&options);
	options.targets.command = argv;
	sigemptyset(&mask);
	assert_int_equal(live_run_new(&options, &run, &error), 0);
	assert_false(live_run_has_command(run));
	assert_int_equal(live_run_launch(run, &mask, &error), 0);
	assert_true(live_run_has_command(run));
	return run;
}

static void a_command_runs_when_it_is_released_and_its_status_is_known(void **state)
{
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)"exit 7", NULL};
	struct live_run *run = launch(argv);
	struct error error;

	assert_true(live_run_command_runs(run));
	assert_int_equal(live_run_release(run, &error), 0);
	live_run_wait_for_command(run);
	assert_false(live_run_command_runs(run));
	assert_int_equal(live_run_command_status(run), 7);
	live_run_free(run);
}

static void a_signal_reaches_the_command(void **state)
{
	char *argv[] = {(char *)"sleep", (char *)"60", NULL};
	struct live_run *run = launch(argv);
	struct error error;

	assert_int_equal(live_run_release(run, &error), 0);
	live_run_signal_command(run, SIGTERM);
	live_run_wait_for_command(run);
	assert_int_equal(live_run_command_status(run), 128 + SIGTERM);
	live_run_free(run);
}

static void a_command_that_was_never_released_ends_with_the_run(void **state)
{
	char *argv[] = {(char *)"sleep", (char *)"60", NULL};

	live_run_free(launch(argv));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void somebody_who_wants_to_stop_ends_the_wait_for_the_command(void **state)
{
	char *argv[] = {(char *)"sleep", (char *)"60", NULL};
	struct live_run *run = launch(argv);
	struct error error;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(live_run_set_stop(run, ends[0], &error), 0);
	assert_int_equal(write(ends[1], "", 1), 1);
	live_run_wait_for_command(run);
	live_run_signal_command(run, SIGKILL);
	assert_int_equal(live_run_command_status(run), 128 + SIGKILL);
	live_run_free(run);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_target_that_does_not_exist_is_refused_before_anything_is_loaded),
		cmocka_unit_test(a_command_runs_when_it_is_released_and_its_status_is_known),
		cmocka_unit_test(a_signal_reaches_the_command),
		cmocka_unit_test(a_command_that_was_never_released_ends_with_the_run),
		cmocka_unit_test(somebody_who_wants_to_stop_ends_the_wait_for_the_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
