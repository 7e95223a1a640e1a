// SPDX-License-Identifier: BSD-2-Clause
/* Processes, threads and cgroups that exist, and the sentence for those that do not. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "live/target_check.h"

static uint32_t pid_of_nobody(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	return (uint32_t)pid;
}

static void a_process_that_exists_gives_a_descriptor(void **state)
{
	struct error error;
	int pidfd = -1;

	assert_int_equal(target_check_process((uint32_t)getpid(), &pidfd, &error), 0);
	assert_true(pidfd >= 0);
	close(pidfd);
}

static void a_process_that_does_not_exist_is_named(void **state)
{
	uint32_t pid = pid_of_nobody();
	char sentence[128];
	struct error error;
	int pidfd;

	snprintf(sentence, sizeof(sentence), "cannot profile pid %u: no such process", pid);
	assert_int_equal(target_check_process(pid, &pidfd, &error), -ESRCH);
	assert_string_equal(error.text, sentence);
	snprintf(sentence, sizeof(sentence), "cannot profile tid %u: no such thread", pid);
	assert_int_equal(target_check_thread(pid, &error), -ESRCH);
	assert_string_equal(error.text, sentence);
}

static void a_process_that_has_ended_and_was_not_waited_for_is_named(void **state)
{
	pid_t pid = fork();
	char sentence[128];
	struct error error;
	siginfo_t info;
	int pidfd;

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	snprintf(sentence, sizeof(sentence), "cannot profile pid %d: already exited", pid);
	assert_int_equal(target_check_process((uint32_t)pid, &pidfd, &error), -ESRCH);
	assert_string_equal(error.text, sentence);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

struct thread {
	int ready[2], done[2];
	pid_t tid;
};

static void *run_thread(void *context)
{
	struct thread *thread = context;
	char byte = 0;

	thread->tid = gettid();
	(void)!write(thread->ready[1], &byte, 1);
	(void)!read(thread->done[0], &byte, 1);
	return NULL;
}

static void a_thread_given_as_a_process_is_explained(void **state)
{
	struct thread thread;
	struct error error;
	pthread_t handle;
	char part[64], byte = 0;
	int pidfd;

	assert_int_equal(pipe(thread.ready) | pipe(thread.done), 0);
	assert_int_equal(pthread_create(&handle, NULL, run_thread, &thread), 0);
	assert_int_equal(read(thread.ready[0], &byte, 1), 1);

	assert_int_equal(target_check_thread((uint32_t)thread.tid, &error), 0);
	assert_int_equal(target_check_process((uint32_t)thread.tid, &pidfd, &error), -EINVAL);
	snprintf(part, sizeof(part), "a thread of process %d; use --tid %d", getpid(), thread.tid);
	assert_non_null(strstr(error.text, part));

	assert_int_equal(write(thread.done[1], &byte, 1), 1);
	pthread_join(handle, NULL);
	for (int i = 0; i < 2; i++) {
		close(thread.ready[i]);
		close(thread.done[i]);
	}
}

static void a_folder_that_is_no_cgroup_is_refused(void **state)
{
	struct error error;
	char *path;

	assert_int_equal(target_check_cgroup("/tmp", &path, &error), -EINVAL);
	assert_non_null(
		strstr(error.text, "cannot profile cgroup /tmp: not a directory of a cgroup v2"));
	assert_int_equal(target_check_cgroup("no/such.slice", &path, &error), -ENOENT);
	assert_non_null(
		strstr(error.text, "cannot profile cgroup no/such.slice: no such directory"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_that_exists_gives_a_descriptor),
		cmocka_unit_test(a_process_that_does_not_exist_is_named),
		cmocka_unit_test(a_process_that_has_ended_and_was_not_waited_for_is_named),
		cmocka_unit_test(a_thread_given_as_a_process_is_explained),
		cmocka_unit_test(a_folder_that_is_no_cgroup_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
