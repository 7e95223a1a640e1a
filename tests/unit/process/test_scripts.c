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
#include "process/relation/scripts.h"

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

/* Arguments with a NUL behind each, as a string constant has one behind its last. */
struct row {
	const char *comm, *arguments;
	size_t size;
	const char *script; /* NULL: none */
};

#define ROW(comm, arguments, script)                                                               \
	{                                                                                          \
		comm, arguments, sizeof(arguments), script                                         \
	}

static void assert_scripts(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *script = script_of(rows[i].comm, rows[i].arguments, rows[i].size);

		if (!rows[i].script != !script || (script && strcmp(script, rows[i].script) != 0))
			fail_msg("row %zu: %s", i, script ? script : "none");
	}
}

static void the_first_argument_that_is_no_option_is_the_script(void **state)
{
	static const struct row rows[] = {
		ROW("sh", "sh\0-\0job.sh\0other", "job.sh"),
		ROW("bash", "bash\0-eux\0--\0-x.sh", "-x.sh"),
		ROW("python3.12", "python3\0-u\0\0app.py", "app.py"),
		ROW("java", "java\0-Xmx1g\0-jar\0app.jar", "app.jar"),
		ROW("node", "node\0--inspect\0app.js", "app.js"),
		ROW("sh", "sh", NULL),
		ROW("sh", "sh\0-", NULL),
	};

	assert_scripts(rows, sizeof(rows) / sizeof(rows[0]));
}

/* It may hold a password. */
static void a_command_is_no_script(void **state)
{
	static const struct row rows[] = {
		ROW("bash", "bash\0-c\0secret", NULL),
		ROW("bash", "bash\0-lc\0secret", NULL),
		ROW("sh", "sh\0-euc\0secret", NULL),
		ROW("zsh", "zsh\0-xco\0pipefail\0secret", NULL),
		ROW("sh", "sh\0-s\0argument", NULL),
		ROW("python3", "python3\0-Ic\0secret", NULL),
		ROW("python3", "python3\0-\0secret", NULL),
		ROW("perl", "perl\0-lane\0secret", NULL),
		ROW("ruby", "ruby\0-ne\0secret", NULL),
		ROW("node", "node\0-pe\0secret", NULL),
		ROW("node", "node\0--eval\0secret", NULL),
		ROW("node", "node\0--eval=1\0secret", NULL),
		ROW("php", "php\0-r\0secret", NULL),
		ROW("lua5.4", "lua\0-e\0secret", NULL),
	};

	assert_scripts(rows, sizeof(rows) / sizeof(rows[0]));
}

static void an_argument_of_an_option_is_no_script(void **state)
{
	static const struct row rows[] = {
		ROW("bash", "bash\0-euo\0pipefail\0a.sh", "a.sh"),
		ROW("bash", "bash\0+O\0extglob\0--rcfile\0rc\0a.sh", "a.sh"),
		ROW("python3", "python3\0-W\0ignore\0-Xdev\0a.py", "a.py"),
		ROW("python3", "python3\0-W", NULL),
		ROW("perl", "perl\0-I\0lib\0-Mstrict\0-pie\0a.pl", "a.pl"),
		ROW("ruby", "ruby\0-rjson\0-r\0set\0a.rb", "a.rb"),
		ROW("node", "node\0--require\0./hook\0-r\0x\0a.js", "a.js"),
		ROW("php", "php\0-d\0display_errors=1\0-f\0a.php", "a.php"),
		ROW("java", "java\0-cp\0a.jar\0Main", "Main"),
		ROW("java", "java\0-cp\0a.jar", NULL),
	};

	assert_scripts(rows, sizeof(rows) / sizeof(rows[0]));
}

static void a_module_counts_as_a_script(void **state)
{
	static const struct row rows[] = {
		ROW("python3", "python3\0-m\0http.server\0--bind", "http.server"),
		ROW("python3", "python3\0-umpdb\0x", "pdb"),
		ROW("python3", "python3\0-m", NULL),
	};

	assert_scripts(rows, sizeof(rows) / sizeof(rows[0]));
}

static void names_that_only_begin_alike_are_no_interpreters(void **state)
{
	static const struct row rows[] = {
		ROW("node_exporter", "node_exporter\0a", NULL),
		ROW("shim", "shim\0a", NULL),
		ROW("luajitter", "luajitter\0a", NULL),
		ROW("javac", "javac\0A.java", NULL),
		ROW("php-fpm", "php-fpm\0a", NULL),
	};

	assert_scripts(rows, sizeof(rows) / sizeof(rows[0]));
}

static void scripts_of_running_processes_are_relations(void **state)
{
	const char *script[] = {"sh", "-", "/dev/stdin", NULL};
	const char *command[] = {"sh", "-uc", "read line", NULL};
	char text[128];

	find_script(script, text, sizeof(text));
	assert_string_equal(text, "/dev/stdin");
	find_script(command, text, sizeof(text));
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_argument_that_is_no_option_is_the_script),
		cmocka_unit_test(a_command_is_no_script),
		cmocka_unit_test(an_argument_of_an_option_is_no_script),
		cmocka_unit_test(a_module_counts_as_a_script),
		cmocka_unit_test(names_that_only_begin_alike_are_no_interpreters),
		cmocka_unit_test(scripts_of_running_processes_are_relations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
