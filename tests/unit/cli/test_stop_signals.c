// SPDX-License-Identifier: BSD-2-Clause
/* The first signal stops, the second one ends the program after its temporaries are gone. */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/stop_signals.h"

static void write_mark(void *context)
{
	(void)!write(*(int *)context, "x", 1);
}

/* In a child, since it may die: sends itself `count` signals, with a pause between them, and
 * returns how it ended; *ret_mark: abandon was called. */
static int end_after_signals(int signal_number, int count, unsigned int pause_us, bool *ret_mark)
{
	int mark[2], status;
	char byte;
	pid_t pid;

	assert_int_equal(pipe(mark), 0);
	pid = fork();
	if (pid == 0) {
		struct stop_signals *signals;
		struct pollfd fd = {.events = POLLIN};
		bool is_private = false;
		sigset_t before;
		struct error error;

		/* Whoever runs this in the background may have it ignored. */
		signal(signal_number, SIG_DFL);
		stop_signals_block(&before);
		signals = stop_signals_new(write_mark, &mark[1], &error);
		if (!signals)
			_exit(99);
		fd.fd = stop_signals_fd(signals);
		if (poll(&fd, 1, 0) != 0 || stop_signals_received(signals, &is_private))
			_exit(98);
		for (int i = 0; i < count; i++) {
			kill(getpid(), signal_number);
			if (poll(&fd, 1, 5000) != 1)
				_exit(97);
			usleep(pause_us);
			/* the second of two must not merge with the first: it has been taken */
		}
		if (count > 1)
			usleep(pause_us ? 5000000 : 300000);
		if (stop_signals_received(signals, &is_private) != signal_number || !is_private)
			_exit(96);
		stop_signals_free(signals);
		_exit(0);
	}
	close(mark[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	*ret_mark = read(mark[0], &byte, 1) == 1;
	close(mark[0]);
	return status;
}

static void the_first_signal_only_asks_to_stop(void **state)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

	for (size_t i = 0; i < 3; i++) {
		bool mark;
		int status = end_after_signals(numbers[i], 1, 0, &mark);

		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 0);
		assert_false(mark);
	}
}

/* As timeout sends them. */
static void two_signals_at_once_are_one_request(void **state)
{
	bool mark;
	int status = end_after_signals(SIGTERM, 2, 0, &mark);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_false(mark);
}

static void the_second_signal_kills_after_abandoning(void **state)
{
	bool mark;
	int status = end_after_signals(SIGINT, 2, 200000, &mark);

	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGINT);
	assert_true(mark);
	status = end_after_signals(SIGTERM, 2, 200000, &mark);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGTERM);
	assert_true(mark);
}

static void one_sigquit_kills_after_abandoning(void **state)
{
	struct rlimit no_core = {0};
	bool mark;
	int status;

	setrlimit(RLIMIT_CORE, &no_core);
	status = end_after_signals(SIGQUIT, 1, 5000000, &mark);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGQUIT);
	assert_true(mark);
}

static void note_hangup(void *context)
{
	(void)!write(*(int *)context, "h", 1);
}

/* As nohup starts it: a SIGHUP asks for another configuration, and else nothing. */
static void a_hangup_that_was_ignored_is_still_heard_and_stops_nothing(void **state)
{
	int mark[2], status;
	char bytes[8];
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(mark), 0);
	pid = fork();
	if (pid == 0) {
		struct stop_signals *signals;
		bool is_private;
		sigset_t before;
		struct error error;

		signal(SIGHUP, SIG_IGN);
		stop_signals_block(&before);
		signals = stop_signals_new(write_mark, &mark[1], &error);
		if (!signals)
			_exit(99);
		kill(getpid(), SIGHUP);
		usleep(200000);
		stop_signals_on_hangup(signals, note_hangup);
		kill(getpid(), SIGHUP);
		usleep(200000);
		_exit(stop_signals_received(signals, &is_private) ? 98 : 0);
	}
	close(mark[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	/* Once; the context is that of all calls. */
	assert_int_equal(read(mark[0], bytes, sizeof(bytes)), 1);
	assert_int_equal(bytes[0], 'h');
	close(mark[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hangup_that_was_ignored_is_still_heard_and_stops_nothing),
		cmocka_unit_test(the_first_signal_only_asks_to_stop),
		cmocka_unit_test(two_signals_at_once_are_one_request),
		cmocka_unit_test(the_second_signal_kills_after_abandoning),
		cmocka_unit_test(one_sigquit_kills_after_abandoning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
