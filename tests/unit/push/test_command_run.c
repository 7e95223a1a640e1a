// SPDX-License-Identifier: BSD-2-Clause
/* Tests for push/command_run: what a command of the user gets, and that it ends. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file_io.h"
#include "push/command_run.h"
#include "temp_tree.h"

static struct temp_tree tree;
static struct command_words words;
static struct error error;

static int setup(void **state)
{
	(void)state;
	temp_tree_init(&tree);
	words = (struct command_words){"busy", "turn07", "page", "firing", "cpu.share is 97 %"};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	temp_tree_done(&tree);
	return 0;
}

/* Runs a script, whose $1 is the folder of the test. */
static int run(const char *script, struct command command)
{
	char line[256];

	temp_tree_file(&tree, "script", script);
	assert_int_equal(chmod(temp_tree_path(&tree, "script"), 0700), 0);
	snprintf(line, sizeof(line), "%s  %s\t", temp_tree_path(&tree, "script"), tree.root);
	command.line = line;
	command.words = &words;
	command.body = "{}\n";
	command.size = 3;
	if (!command.seconds)
		command.seconds = 20;
	return command_run(&command, &error);
}

static void assert_file(const char *path, const char *expected)
{
	size_t size;
	char *text;

	assert_int_equal(file_read_all(-1, temp_tree_path(&tree, path), 4096, &text, &size), 0);
	assert_string_equal(text, expected);
	free(text);
}

static void a_command_gets_the_alert_by_environment_and_stdin(void **state)
{
	(void)state;
	memset(words.text, 'x', sizeof(words.text) - 1);
	words.text[sizeof(words.text) - 1] = '\0';
	assert_int_equal(run("#!/bin/sh\ncat > $1/body\n"
			     "echo $PKBPF_ALERT_RULE $PKBPF_ALERT_WHO $PKBPF_ALERT_SEVERITY "
			     "$PKBPF_ALERT_STATUS ${#PKBPF_ALERT_TEXT} $# > $1/words\n",
			     (struct command){0}),
			 0);
	assert_file("body", "{}\n");
	assert_file("words", "busy turn07 page firing 159 1\n");
}

/* yes | head ends by SIGPIPE. */
static void a_command_has_the_usual_signals(void **state)
{
	void (*pipe_before)(int) = signal(SIGPIPE, SIG_IGN);
	void (*size_before)(int) = signal(SIGXFSZ, SIG_IGN);

	(void)state;
	/* Digits of SIGXFSZ (25) and SIGPIPE (13); the C library ignores its own. */
	assert_int_equal(run("#!/bin/sh\nexec grep -q '^SigIgn:.*0..0...$' /proc/self/status\n",
			     (struct command){0}),
			 0);
	signal(SIGPIPE, pipe_before);
	signal(SIGXFSZ, size_before);
}

static void a_failure_says_which_status(void **state)
{
	(void)state;
	assert_int_equal(run("#!/bin/sh\nexit 7\n", (struct command){0}), -EINVAL);
	assert_non_null(strstr(error.text, "script ended with status 7"));
	assert_int_equal(run("#!/bin/sh\nkill -TERM $$\n", (struct command){0}), -EINVAL);
	assert_non_null(strstr(error.text, "script ended with signal 15"));
}

static void a_command_that_does_not_end_is_killed(void **state)
{
	uint64_t begin_ns = clock_now_ns();

	(void)state;
	assert_int_equal(run("#!/bin/sh\nsleep 30\n", (struct command){.seconds = 1}), -EINVAL);
	assert_non_null(strstr(error.text, "did not end within 1 s"));
	assert_true(clock_now_ns() - begin_ns < 10 * NS_PER_SECOND);
}

static bool is_cancelled(void *context)
{
	unsigned int *looks = context;

	return ++*looks > 2;
}

static void a_command_is_killed_when_it_is_cancelled(void **state)
{
	unsigned int looks = 0;

	(void)state;
	assert_int_equal(run("#!/bin/sh\nsleep 30\n",
			     (struct command){.is_cancelled = is_cancelled, .context = &looks}),
			 -EINVAL);
	assert_non_null(strstr(error.text, "was killed"));
}

static void more_arguments_than_are_passed_are_refused(void **state)
{
	char line[256] = "/bin/true";

	(void)state;
	for (int i = 1; i < COMMAND_ARGUMENTS_MAX; i++)
		strcat(line, i % 2 ? " a" : " \tb");
	assert_int_equal(command_check(line, &error), 0);
	strcat(line, " one");
	assert_int_equal(command_check(line, &error), -EINVAL);
	assert_non_null(strstr(error.text, "32 words"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_command_gets_the_alert_by_environment_and_stdin),
		TEST(a_command_has_the_usual_signals),
		TEST(a_failure_says_which_status),
		TEST(a_command_that_does_not_end_is_killed),
		TEST(a_command_is_killed_when_it_is_cancelled),
		cmocka_unit_test(more_arguments_than_are_passed_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
