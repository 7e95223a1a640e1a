// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O2 -fomit-frame-pointer -fno-optimize-sibling-calls
// ldflags: -pthread
/*
 * lock_patterns MODE SECONDS FILE: what makes threads wait for a lock is planted, or a twin in
 * which it is not: io and io_outside (fsync under the lock, or before it), starve and writers_first
 * (a read-write lock), inversion and inherited (a realtime thread, a nice one and one that
 * computes, on one CPU; without and with priority inheritance), convoy and long_holds.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t index_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table_lock;
static const char *mode, *path;
static long end_ns;

static bool is(const char *name)
{
	return strcmp(mode, name) == 0;
}

static long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000L + time.tv_nsec;
}

static void pause_for(long ns)
{
	const struct timespec time = {.tv_nsec = ns};

	nanosleep(&time, NULL);
}

__attribute__((noinline)) static void compute(long ns)
{
	long until = now() + ns;

	while (now() < until)
		;
}

/* ---- I/O ---- */

__attribute__((noinline)) static void flush_index(int fd)
{
	static char block[65536];

	if (pwrite(fd, block, sizeof(block), 0) < 0 || fsync(fd) < 0)
		abort();
}

static void *writer(void *unused)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	(void)unused;
	while (now() < end_ns) {
		if (is("io_outside"))
			flush_index(fd);
		pthread_mutex_lock(&index_lock);
		if (is("io"))
			flush_index(fd);
		else
			pause_for(3000000);
		pthread_mutex_unlock(&index_lock);
	}
	return NULL;
}

/* ---- a read-write lock ---- */

static void *table_reader(void *unused)
{
	(void)unused;
	while (now() < end_ns) {
		pthread_rwlock_rdlock(&table_lock);
		pause_for(5000000);
		pthread_rwlock_unlock(&table_lock);
	}
	return NULL;
}

__attribute__((noinline)) static void change_table(void)
{
	pthread_rwlock_wrlock(&table_lock);
	pthread_rwlock_unlock(&table_lock);
}

static void *table_writer(void *unused)
{
	(void)unused;
	while (now() < end_ns) {
		change_table();
		pause_for(1000000);
	}
	return NULL;
}

/* ---- priorities ---- */

static void *urgent(void *unused)
{
	const struct sched_param parameters = {.sched_priority = 10};

	(void)unused;
	if (sched_setscheduler(0, SCHED_FIFO, &parameters))
		exit(77);
	while (now() < end_ns) {
		pause_for(2000000);
		pthread_mutex_lock(&index_lock);
		pthread_mutex_unlock(&index_lock);
	}
	return NULL;
}

static void *nice_holder(void *unused)
{
	(void)unused;
	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 15);
	while (now() < end_ns) {
		pthread_mutex_lock(&index_lock);
		compute(1000000);
		pthread_mutex_unlock(&index_lock);
	}
	return NULL;
}

static void *busy(void *unused)
{
	(void)unused;
	while (now() < end_ns)
		compute(1000000);
	return NULL;
}

/* ---- many short holds ---- */

static void *counter(void *unused)
{
	(void)unused;
	while (now() < end_ns) {
		pthread_mutex_lock(&index_lock);
		if (is("convoy"))
			sched_yield();
		else
			pause_for(2000000);
		pthread_mutex_unlock(&index_lock);
	}
	return NULL;
}

static void start(pthread_t *threads, int *count, void *(*run)(void *), int more)
{
	while (more--)
		pthread_create(&threads[(*count)++], NULL, run, NULL);
}

static void prepare(void)
{
	pthread_rwlockattr_t for_writers;
	pthread_mutexattr_t inherited;
	cpu_set_t cpus;

	pthread_rwlockattr_init(&for_writers);
	if (is("writers_first"))
		pthread_rwlockattr_setkind_np(&for_writers,
					      PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&table_lock, &for_writers);
	pthread_mutexattr_init(&inherited);
	if (is("inherited"))
		pthread_mutexattr_setprotocol(&inherited, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&index_lock, &inherited);
	if (!is("inversion") && !is("inherited"))
		return;
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		exit(77);
}

int main(int argc, char **argv)
{
	pthread_t threads[16];
	int count = 0;

	if (argc != 4)
		return 2;
	mode = argv[1];
	path = argv[3];
	prepare();
	end_ns = now() + (long)(atof(argv[2]) * 1e9);
	if (is("io") || is("io_outside")) {
		start(threads, &count, writer, 4);
	} else if (is("starve") || is("writers_first")) {
		start(threads, &count, table_reader, 4);
		start(threads, &count, table_writer, 1);
	} else if (is("convoy") || is("long_holds")) {
		start(threads, &count, counter, 8);
	} else {
		start(threads, &count, nice_holder, 1);
		start(threads, &count, busy, 1);
		start(threads, &count, urgent, 1);
	}
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
