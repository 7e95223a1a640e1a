// SPDX-License-Identifier: BSD-2-Clause
/* Tests which argument of an interpreter is its script. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "process/relation/relation_writer.h"

/* exec closes descriptors before the kernel knows where the new arguments are. */
static void wait_for_arguments(pid_t pid)
{
	char path[64], first = '\0';

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	for (int i = 0; i < 10000 && !first; i++) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);

		assert_true(fd >= 0);
		if (read(fd, &first, 1) != 1)
			usleep(1000);
		close(fd);
	}
	assert_int_not_equal(first, '\0');
}

/* A shell that waits for input, once it runs. */
static pid_t run_shell(const char *const *arguments, int *ret_input)
{
	int input[2], ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe2(input, O_CLOEXEC), 0);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		dup2(input[0], STDIN_FILENO);
		execv("/bin/sh", (char *const *)arguments);
		_exit(1);
	}
	close(ready[1]);
	close(input[0]);
	/* Closed by exec. */
	assert_int_equal(read(ready[0], &byte, 1), 0);
	close(ready[0]);
	wait_for_arguments(pid);
	*ret_input = input[1];
	return pid;
}

static void find_script(const char *const *arguments, char *ret_text, size_t size)
{
	struct event_buffer buffer = {0};
	struct relation_view view;
	uint32_t pid;
	int input;

	pid = (uint32_t)run_shell(arguments, &input);
	relation_scripts(
		&(struct relation_writer){.buffer = &buffer, .pids = &pid, .pid_count = 1});
	kill((pid_t)pid, SIGKILL);
	waitpid((pid_t)pid, NULL, 0);
	close(input);
	ret_text[0] = '\0';
	if (buffer.size) {
		assert_int_equal(relation_event_decode((const void *)buffer.data, &view), 0);
		snprintf(ret_text, size, "%s", view.text);
	}
	event_buffer_done(&buffer);
}

static void the_first_argument_that_is_no_option_is_the_script(void **state)
{
	const char *arguments[] = {"sh", "-s", "-", "job.sh", "other", NULL};
	char text[128];

	find_script(arguments, text, sizeof(text));
	assert_string_equal(text, "job.sh");
}

static void a_class_path_is_no_script(void **state)
{
	const char *arguments[] = {"sh", "-s", "--", "-cp", "a.jar", "Main", NULL};
	char text[128];

	find_script(arguments, text, sizeof(text));
	assert_string_equal(text, "Main");
}

/* 1023 bytes are read. */
static void arguments_may_end_behind_an_option_that_takes_one(void **state)
{
	char padding[1011];
	const char *arguments[] = {"sh", "-s", "--", padding, "-cp", "a.jar", NULL};
	char text[128];

	memset(padding, '-', sizeof(padding) - 1);
	padding[sizeof(padding) - 1] = '\0';
	find_script(arguments, text, sizeof(text));
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_argument_that_is_no_option_is_the_script),
		cmocka_unit_test(a_class_path_is_no_script),
		cmocka_unit_test(arguments_may_end_behind_an_option_that_takes_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
