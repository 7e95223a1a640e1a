// SPDX-License-Identifier: BSD-2-Clause
/* Commands that end, fail, die or cannot be started; as whom they run. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/array.h"
#include "live/command_launch.h"

static struct command *launch(char *const argv[])
{
	struct invoking_user user = {0};
	struct command *command;
	struct error error;
	sigset_t mask;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	command = command_launch(argv, &user, &mask, NULL, &error);
	assert_non_null(command);
	return command;
}

static void the_status_of_the_command_is_passed_on(void **state)
{
	static char *const shell[][4] = {
		{(char *)"true", NULL},
		{(char *)"false", NULL},
		{(char *)"sh", (char *)"-c", (char *)"exit 7", NULL},
		{(char *)"sh", (char *)"-c", (char *)"kill -KILL $$", NULL},
		{(char *)"sh", (char *)"-c", (char *)"kill -TERM $$", NULL},
		{(char *)"sh", (char *)"-c", (char *)"kill -PIPE $$; exit 3", NULL},
	};
	static const int statuses[] = {0, 1, 7, 128 + SIGKILL, 128 + SIGTERM, 128 + SIGPIPE};

	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++) {
		struct command *command = launch(shell[i]);
		struct error error;

		assert_int_equal(command_release(command, &error), 0);
		assert_int_equal(command_wait(command), statuses[i]);
		assert_int_equal(command_wait(command), statuses[i]);
		command_free(command);
	}
	signal(SIGPIPE, SIG_DFL);
}

static void what_was_ignored_stays_ignored_for_the_command(void **state)
{
	static char *const shell[] = {(char *)"sh", (char *)"-c",
				      (char *)"kill -PIPE $$; kill -XFSZ $$; exit 3", NULL};
	struct command *command;
	struct error error;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	command = launch(shell);
	assert_int_equal(command_release(command, &error), 0);
	assert_int_equal(command_wait(command), 3);
	command_free(command);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
}

static void what_cannot_be_started_says_why(void **state)
{
	char script[] = "/tmp/pkbpf-launch-XXXXXX";
	int fd = mkstemp(script);
	char *const rows[][2] = {
		{(char *)"pkbpf-no-such-command", NULL},
		{(char *)"/nowhere/command", NULL},
		{(char *)"/etc/passwd", NULL},
		{(char *)"/", NULL},
		{script, NULL},
	};
	static const struct {
		int status;
		const char *sentence;
	} expected[] = {
		{127, "cannot start pkbpf-no-such-command: command not found in PATH"},
		{127, "cannot start /nowhere/command: No such file or directory"},
		{126, "cannot start /etc/passwd: Permission denied"},
		{126, "cannot start /: Permission denied"},
		{127, "its interpreter (#! line) or dynamic loader does not exist"},
	};

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "#!/nowhere/sh\n", 14), 14);
	fchmod(fd, 0755);
	close(fd);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		struct command *command = launch(rows[i]);
		struct error error;
		int err = command_release(command, &error);

		assert_true(err < 0);
		assert_int_equal(command_failure_status(err), expected[i].status);
		assert_non_null(strstr(error.text, expected[i].sentence));
		command_free(command);
	}
	unlink(script);
}

static void nothing_runs_before_it_is_released(void **state)
{
	char path[] = "/tmp/pkbpf-launch-XXXXXX";
	int fd = mkstemp(path);
	char *const argv[] = {(char *)"rm", path, NULL};
	struct command *command = launch(argv);
	struct error error;

	assert_true(fd >= 0);
	close(fd);
	usleep(50000);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(kill(command_pid(command), 0), 0);
	assert_int_equal(command_release(command, &error), 0);
	assert_int_equal(command_wait(command), 0);
	assert_int_equal(access(path, F_OK), -1);
	command_free(command);
}

static void a_command_that_is_given_up_never_runs(void **state)
{
	char path[] = "/tmp/pkbpf-launch-XXXXXX";
	int fd = mkstemp(path);
	char *const argv[] = {(char *)"rm", path, NULL};
	struct command *command = launch(argv);
	pid_t pid = command_pid(command);

	assert_true(fd >= 0);
	close(fd);
	command_free(command);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(access(path, F_OK), 0);
	unlink(path);
}

static void a_command_killed_while_it_waits_is_no_success(void **state)
{
	char *const argv[] = {(char *)"true", NULL};
	struct command *command = launch(argv);
	struct error error;

	signal(SIGPIPE, SIG_IGN);
	command_signal(command, SIGKILL);
	assert_int_equal(command_release(command, &error), 0);
	assert_int_equal(command_wait(command), 128 + SIGKILL);
	command_free(command);
	signal(SIGPIPE, SIG_DFL);
}

static void behind_sudo_the_command_runs_as_the_user(void **state)
{
	/* Fails unless everything of the user is there and nothing of root is left. */
	char *const argv[] = {
		(char *)"sh", (char *)"-c",
		(char *)"test $(id -ru) = 65534 && test $(id -u) = 65534 && test $(id -rg) = 65533 "
			"&& "
			"test $(id -G) = 65533 && test $HOME = /home/who && test $USER = who && "
			"test $LOGNAME = who && test -z "
			"\"$SUDO_UID$SUDO_GID$SUDO_USER$SUDO_COMMAND\"",
		NULL};
	struct invoking_user user = {
		.behind_sudo = true,
		.uid = 65534,
		.gid = 65533,
		.name = (char *)"who",
		.home = (char *)"/home/who",
	};
	struct command *command;
	struct error error;
	sigset_t mask;

	if (geteuid() != 0) {
		print_message("not root: cannot become another user\n");
		skip();
	}
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_COMMAND", "pkbpf", 1);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	command = command_launch(argv, &user, &mask, NULL, &error);
	assert_non_null(command);
	assert_int_equal(command_release(command, &error), 0);
	assert_int_equal(command_wait(command), 0);
	command_free(command);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_COMMAND");
}

static int status_with(const struct command_libraries *libraries, const char *script)
{
	char *const argv[] = {(char *)"sh", (char *)"-c", (char *)script, NULL};
	struct invoking_user user = {0};
	struct command *command;
	struct error error;
	sigset_t mask;
	int status;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	command = command_launch(argv, &user, &mask, libraries, &error);
	assert_non_null(command);
	assert_int_equal(command_release(command, &error), 0);
	status = command_wait(command);
	command_free(command);
	return status;
}

static void libraries_are_in_the_environment_of_the_command_alone(void **state)
{
	struct command_libraries libraries = {.regions = "/dev/null", .python_objects = true};
	static const char set[] = "test $NVTX_INJECTION64_PATH = /dev/null && "
				  "test $INTEL_LIBITTNOTIFY64 = mine && test -z \"$PYTHONMALLOC\"";

	setenv("INTEL_LIBITTNOTIFY64", "mine", 1);
	assert_int_equal(status_with(&libraries, set), 0);
	assert_null(getenv("NVTX_INJECTION64_PATH"));
	snprintf(libraries.regions, sizeof(libraries.regions), "/nowhere/library.so");
	assert_int_equal(status_with(&libraries, "test -z \"$NVTX_INJECTION64_PATH\""), 0);
	unsetenv("INTEL_LIBITTNOTIFY64");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_status_of_the_command_is_passed_on),
		cmocka_unit_test(what_was_ignored_stays_ignored_for_the_command),
		cmocka_unit_test(what_cannot_be_started_says_why),
		cmocka_unit_test(nothing_runs_before_it_is_released),
		cmocka_unit_test(a_command_that_is_given_up_never_runs),
		cmocka_unit_test(a_command_killed_while_it_waits_is_no_success),
		cmocka_unit_test(libraries_are_in_the_environment_of_the_command_alone),
		cmocka_unit_test(behind_sudo_the_command_runs_as_the_user),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
