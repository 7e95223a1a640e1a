// SPDX-License-Identifier: BSD-2-Clause
/* Tests who is told to wait for a file lock, and for which file. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "process/relation/relation_writer.h"

static pid_t wait_for_lock(const char *path)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* Beside others that have nothing to do with it. */
		open("/dev/null", O_RDONLY | O_CLOEXEC);
		flock(open(path, O_RDONLY | O_CLOEXEC), LOCK_EX);
		_exit(1);
	}
	return pid;
}

static bool find_wait(uint32_t pid, struct event_buffer *buffer, struct relation_view *ret_view)
{
	relation_file_locks(
		&(struct relation_writer){.buffer = buffer, .pids = &pid, .pid_count = 1});
	return buffer->size && relation_event_decode((const void *)buffer->data, ret_view) == 0;
}

static void who_waits_for_a_lock_is_told_with_holder_and_file(void **state)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	char path[] = "/tmp/pkbpf-lock-XXXXXX";
	struct event_buffer buffer = {0};
	struct relation_view view = {0};
	int fd = mkstemp(path);
	bool found = false;
	pid_t pid;

	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	pid = wait_for_lock(path);
	for (int i = 0; i < 500 && !found; i++) {
		nanosleep(&pause, NULL);
		found = find_wait((uint32_t)pid, &buffer, &view);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fd);
	unlink(path);
	assert_true(found);
	assert_int_equal(view.relation, PKBPF_RELATION_FILE_LOCK);
	assert_int_equal(view.pid, pid);
	assert_int_equal(view.other_pid, getpid());
	assert_string_equal(view.text, path);
	event_buffer_done(&buffer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_waits_for_a_lock_is_told_with_holder_and_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
