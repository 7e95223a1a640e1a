// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O2 -fomit-frame-pointer -fno-optimize-sibling-calls
// ldflags: -pthread
/*
 * lock_cycle KIND THREADS: each thread takes a lock of its own, in hold(), and then that of the
 *next one, in take_even() or take_odd(). KIND is normal, recursive, errorcheck, adaptive, robust,
 *pi, rwlock, shared (a process each) or timed (in an hour they give up). Others:
 *
 *	self	a thread takes its lock twice
 *	busy	the last thread computes instead of taking the first lock: no deadlock
 *	slow	the threads hold one lock in turn, for 0.3 s each: no deadlock
 *
 * One more thread waits for the first lock, in wait_behind(). Writes "thread TID" for each of the
 * cycle, then "ready" once all but one that computes wait.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 64

static const char *kind;
static int threads;

/* Shared by processes, where there are several. */
static struct shared {
	pthread_mutex_t mutexes[THREADS_MAX];
	pthread_rwlock_t rwlocks[THREADS_MAX];
	pthread_barrier_t all_hold;
} * shared;

static int is(const char *name)
{
	return strcmp(kind, name) == 0;
}

__attribute__((noinline)) static void take(int number)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 3600;
	if (is("rwlock"))
		pthread_rwlock_wrlock(&shared->rwlocks[number]);
	else if (is("timed"))
		pthread_mutex_timedlock(&shared->mutexes[number], &until);
	else
		pthread_mutex_lock(&shared->mutexes[number]);
}

__attribute__((noinline)) static void take_even(int number)
{
	take(number);
	__asm__ volatile("nop" ::: "memory");
}

__attribute__((noinline)) static void take_odd(int number)
{
	take(number);
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void wait_behind(void)
{
	take(0);
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void hold(int number)
{
	take(number);
	printf("thread %d\n", gettid());
	fflush(stdout);
	pthread_barrier_wait(&shared->all_hold);
}

static void work_in_turn(void)
{
	const struct timespec pause = {.tv_nsec = 300000000};

	for (;;) {
		pthread_mutex_lock(&shared->mutexes[0]);
		nanosleep(&pause, NULL);
		pthread_mutex_unlock(&shared->mutexes[0]);
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
}

static void *run(void *context)
{
	int number = (int)(size_t)context, next = (number + 1) % threads;

	if (is("slow"))
		work_in_turn();
	hold(number);
	while (is("busy") && number == threads - 1)
		;
	if (is("self"))
		next = number;
	if (number % 2)
		take_odd(next);
	else
		take_even(next);
	return NULL;
}

static void *run_behind(void *context)
{
	(void)context;
	if (!is("slow"))
		wait_behind();
	return NULL;
}

static void make_locks(void)
{
	pthread_mutexattr_t mutex;
	pthread_rwlockattr_t rwlock;
	pthread_barrierattr_t barrier;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		exit(1);
	pthread_mutexattr_init(&mutex);
	pthread_mutexattr_settype(&mutex, is("recursive")    ? PTHREAD_MUTEX_RECURSIVE
					  : is("errorcheck") ? PTHREAD_MUTEX_ERRORCHECK
					  : is("adaptive")   ? PTHREAD_MUTEX_ADAPTIVE_NP
							     : PTHREAD_MUTEX_NORMAL);
	if (is("robust"))
		pthread_mutexattr_setrobust(&mutex, PTHREAD_MUTEX_ROBUST);
	if (is("pi"))
		pthread_mutexattr_setprotocol(&mutex, PTHREAD_PRIO_INHERIT);
	pthread_mutexattr_setpshared(&mutex, is("shared"));
	pthread_rwlockattr_init(&rwlock);
	pthread_barrierattr_init(&barrier);
	pthread_barrierattr_setpshared(&barrier, is("shared"));
	for (int i = 0; i < threads; i++) {
		pthread_mutex_init(&shared->mutexes[i], &mutex);
		pthread_rwlock_init(&shared->rwlocks[i], &rwlock);
	}
	pthread_barrier_init(&shared->all_hold, &barrier, (unsigned int)threads + 1);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc != 3 || (threads = atoi(argv[2])) < 1 || threads > THREADS_MAX)
		return 2;
	kind = argv[1];
	make_locks();
	for (size_t i = 0; i < (size_t)threads; i++) {
		if (is("shared") && fork() == 0) {
			run((void *)i);
			_exit(0);
		}
		if (!is("shared") && pthread_create(&thread, NULL, run, (void *)i))
			return 1;
	}
	if (!is("slow"))
		pthread_barrier_wait(&shared->all_hold);
	pthread_create(&thread, NULL, run_behind, NULL);
	/* Until they wait: the rest of the way is a few instructions. */
	nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
