// SPDX-License-Identifier: BSD-2-Clause
/* Tests for source/offcpu/lock_wait: what threads of this program wait for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <pkbpf/lock.h>

#include "source/offcpu/lock_wait.h"

static void a_call_is_read_from_its_line(void **state)
{
	struct futex_call call;
	char text[256];

	snprintf(text, sizeof(text),
		 "%d 0x55d0f3e0c0a0 0x80 0x2 0x0 0x0 0x7f1 0x7ffd38b0a6c8 0x7f1e2d6a7fa6\n",
		 SYS_futex);
	assert_true(futex_call_parse(text, &call));
	assert_int_equal(call.address, 0x55d0f3e0c0a0);
	assert_int_equal(call.operation, 0x80);
	assert_int_equal(call.value, 2);
	assert_int_equal(call.timeout, 0);
	snprintf(text, sizeof(text), "%d 0x1 0x89 0x0 0x7ffd0 0x0 0xffffffff 0x1 0x2\n", SYS_futex);
	assert_true(futex_call_parse(text, &call));
	assert_int_equal(call.timeout, 0x7ffd0);
}

static void other_lines_are_no_such_call(void **state)
{
	static const char *const texts[] = {"", "running\n", "-1 0x7ffd38b0a6c8 0x7f1e2d6a7fa6\n",
					    "0 0x0 0x7ffe 0x400 0x0 0x0 0x0 0x1 0x2\n", "x"};
	struct futex_call call;
	char text[64];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_false(futex_call_parse(texts[i], &call));
	snprintf(text, sizeof(text), "%d 0x1 0x80\n", SYS_futex);
	assert_false(futex_call_parse(text, &call));
}

/* ---- threads of this program ---- */

struct waiter {
	pthread_mutex_t *mutex;
	bool is_timed;
	uint32_t tid;
};

static void *wait_for_it(void *context)
{
	struct waiter *waiter = context;
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 600;
	__atomic_store_n(&waiter->tid, (uint32_t)gettid(), __ATOMIC_RELEASE);
	if (waiter->is_timed)
		pthread_mutex_timedlock(waiter->mutex, &until);
	else
		pthread_mutex_lock(waiter->mutex);
	pthread_mutex_unlock(waiter->mutex);
	return NULL;
}

/* Until the thread sleeps in the call that it will stay in. */
static void await_call(const struct waiter *waiter)
{
	struct futex_call call;
	char path[64], text[256];

	for (bool is_there = false; !is_there;) {
		uint32_t tid = __atomic_load_n(&waiter->tid, __ATOMIC_ACQUIRE);
		FILE *file;

		usleep(1000);
		snprintf(path, sizeof(path), "/proc/self/task/%u/syscall", tid);
		file = tid ? fopen(path, "re") : NULL;
		if (!file)
			continue;
		is_there = fgets(text, sizeof(text), file) && futex_call_parse(text, &call) &&
			   call.address == (uintptr_t)waiter->mutex;
		fclose(file);
	}
}

static int read_waiter(int kind, int protocol, bool is_timed, struct lock_wait *ret_wait)
{
	pthread_mutexattr_t attributes;
	pthread_mutex_t mutex;
	struct waiter waiter = {.mutex = &mutex, .is_timed = is_timed};
	pthread_t thread;
	int err;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, kind);
	pthread_mutexattr_setprotocol(&attributes, protocol);
	pthread_mutex_init(&mutex, &attributes);
	pthread_mutex_lock(&mutex);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_it, &waiter), 0);
	await_call(&waiter);
	err = lock_wait_read((uint32_t)getpid(), waiter.tid, ret_wait);
	if (!err) {
		assert_int_equal(ret_wait->address, (uintptr_t)&mutex);
		assert_int_equal(ret_wait->tid, waiter.tid);
		assert_int_equal(ret_wait->number, waiter.tid);
	}
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);
	pthread_mutex_destroy(&mutex);
	pthread_mutexattr_destroy(&attributes);
	return err;
}

static void the_owner_of_a_mutex_is_this_thread(void **state)
{
	static const struct {
		int kind, protocol;
		uint32_t class;
	} rows[] = {
		{PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PKBPF_LOCK_MUTEX},
		{PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE, PKBPF_LOCK_RECURSIVE},
		{PTHREAD_MUTEX_ERRORCHECK, PTHREAD_PRIO_NONE, PKBPF_LOCK_ERRORCHECK},
		{PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, PKBPF_LOCK_PI},
	};
	struct lock_wait wait;
	struct stat space;

	assert_int_equal(stat("/proc/self/ns/pid", &space), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(read_waiter(rows[i].kind, rows[i].protocol, false, &wait), 0);
		assert_int_equal(wait.class, rows[i].class);
		assert_int_equal(wait.owner, gettid());
		assert_int_equal(wait.space, space.st_ino);
	}
}

static void a_wait_that_ends_by_itself_is_none(void **state)
{
	struct lock_wait wait;

	assert_int_equal(read_waiter(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, true, &wait),
			 -ENOENT);
}

static void a_thread_that_runs_or_is_gone_waits_for_nothing(void **state)
{
	struct lock_wait wait;

	assert_int_equal(lock_wait_read((uint32_t)getpid(), (uint32_t)gettid(), &wait), -ENOENT);
	assert_true(lock_wait_read((uint32_t)getpid(), 1U << 30, &wait) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_is_read_from_its_line),
		cmocka_unit_test(other_lines_are_no_such_call),
		cmocka_unit_test(the_owner_of_a_mutex_is_this_thread),
		cmocka_unit_test(a_wait_that_ends_by_itself_is_none),
		cmocka_unit_test(a_thread_that_runs_or_is_gone_waits_for_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
