// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O2 -fomit-frame-pointer -fno-optimize-sibling-calls
// ldflags: -pthread
/*
 * lock_owners KIND THREADS SECONDS [holds]: threads take one of two locks in one function. KIND is
 * normal, recursive, errorcheck, adaptive, timed, robust, pi, rwlock, shared (two processes) or
 * word (a futex without an owner). Half of the holds compute for 50 to 350 us, in hold_busy(); half
 * sleep for 0.1 to 1 ms, in hold_asleep(). Each third thread holds for four times as long, and each
 * third for a quarter: mistaken holders show. KIND impatient: long holds, and waits that
 * time out.
 *
 * Writes the truth by its own clock: "lock N ADDRESS", "wait N COUNT NS ALL_NS" for waits of 50 us
 * and more, and the time of all, "held N TID BUSY_NS ASLEEP_NS": time for which others waited while
 * TID held lock N, and "free N NS": time for which they waited between two holds, most of it for a
 * CPU. With "holds" also "clock NS", how far CLOCK_REALTIME is ahead, and "hold N TID BEFORE_NS
 * TAKEN_NS GIVEN_NS" for each.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef __GLIBC__ /* musl has none; in glibc it is no macro */
#define PTHREAD_MUTEX_ADAPTIVE_NP PTHREAD_MUTEX_NORMAL
#endif

#define LOCKS	    2
#define THREADS_MAX 64
#define LONG_NS	    50000
/* Events of a thread. */
#define EVENTS_MAX 200000

enum kind {
	NORMAL,
	RECURSIVE,
	ERRORCHECK,
	ADAPTIVE,
	TIMED,
	ROBUST,
	PI,
	RWLOCK,
	SHARED,
	WORD,
	IMPATIENT,
	READERS,
};

static const char *const kinds[] = {"normal", "recursive", "errorcheck", "adaptive",
				    "timed",  "robust",	   "pi",	 "rwlock",
				    "shared", "word",	   "impatient",	 "readers"};

struct event {
	uint64_t before_ns, taken_ns, given_ns;
	int lock;
	bool is_asleep, gave_up, reads;
};

struct log {
	int tid, count;
	struct event events[EVENTS_MAX];
};

union lock {
	pthread_mutex_t mutex;
	pthread_rwlock_t rwlock;
	struct {
		char before[16];
		_Atomic uint32_t word;
	};
	char room[128];
};

union lock lock_first __attribute__((aligned(64))), lock_second __attribute__((aligned(64)));

static union lock *locks[LOCKS];
static struct log *logs;
static enum kind kind;
static uint64_t end_ns;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void word_lock(_Atomic uint32_t *word)
{
	uint32_t expected = 0;

	if (atomic_compare_exchange_strong(word, &expected, 1))
		return;
	while (atomic_exchange(word, 2))
		syscall(SYS_futex, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 2, NULL, NULL, ~0);
}

static void word_unlock(_Atomic uint32_t *word)
{
	if (atomic_exchange(word, 0) == 2)
		syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1);
}

__attribute__((noinline)) static void take(union lock *lock, bool to_read)
{
	struct timespec until;
	int err;

	switch (kind) {
	case RWLOCK:
	case READERS:
		if (to_read)
			pthread_rwlock_rdlock(&lock->rwlock);
		else
			pthread_rwlock_wrlock(&lock->rwlock);
		break;
	case ROBUST:
		err = pthread_mutex_lock(&lock->mutex);
		if (err == EOWNERDEAD)
			err = pthread_mutex_consistent(&lock->mutex);
		if (err)
			abort();
		break;
	case WORD:
		word_lock(&lock->word);
		break;
	case TIMED:
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec += 60;
		if (pthread_mutex_timedlock(&lock->mutex, &until))
			abort();
		break;
	default:
		if (pthread_mutex_lock(&lock->mutex))
			abort();
	}
}

static void give(union lock *lock)
{
	if (kind == RWLOCK || kind == READERS)
		pthread_rwlock_unlock(&lock->rwlock);
	else if (kind == WORD)
		word_unlock(&lock->word);
	else
		pthread_mutex_unlock(&lock->mutex);
}

__attribute__((noinline)) static void hold_busy(uint64_t ns)
{
	uint64_t until = now() + ns;

	while (now() < until)
		;
}

__attribute__((noinline)) static void hold_asleep(uint64_t ns)
{
	const struct timespec time = {.tv_nsec = (long)ns};

	nanosleep(&time, NULL);
}

static void log_hold(struct log *log, const struct event *event)
{
	log->events[log->count++] = *event;
}

__attribute__((noinline)) static void use_lock(struct log *log, unsigned int *seed)
{
	static const uint64_t quarters[] = {4, 16, 1};
	struct event event = {.lock = rand_r(seed) % LOCKS, .is_asleep = rand_r(seed) % 2};
	uint64_t length = quarters[(log - logs) % 3];

	event.reads = kind == READERS && (log - logs) % 3;

	event.before_ns = now();
	take(locks[event.lock], event.reads);
	event.taken_ns = now();
	if (event.is_asleep)
		hold_asleep((100000 + (uint64_t)(rand_r(seed) % 900000)) * length / 4);
	else
		hold_busy((50000 + (uint64_t)(rand_r(seed) % 300000)) * length / 4);
	event.given_ns = now();
	give(locks[event.lock]);
	log_hold(log, &event);
}

/* Waits for 10 ms at most, and then sleeps while others wait on. */
__attribute__((noinline)) static void give_up(struct log *log, unsigned int *seed)
{
	struct event event = {.lock = rand_r(seed) % LOCKS};
	struct timespec until;
	bool taken;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 10000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	event.before_ns = now();
	taken = !pthread_mutex_timedlock(&locks[event.lock]->mutex, &until);
	event.taken_ns = event.given_ns = now();
	event.gave_up = !taken;
	if (taken)
		give(locks[event.lock]);
	log_hold(log, &event);
	hold_asleep(80000000);
}

/* Each third thread holds for long, waits for it, or gives up. */
static void use_lock_long(struct log *log, unsigned int *seed)
{
	struct event event = {.lock = rand_r(seed) % LOCKS, .is_asleep = 1};
	int role = (int)(log - logs) % 3;

	if (role == 0) {
		give_up(log, seed);
		return;
	}
	event.before_ns = now();
	take(locks[event.lock], false);
	event.taken_ns = now();
	if (role == 1)
		hold_asleep(100000000);
	event.given_ns = now();
	give(locks[event.lock]);
	log_hold(log, &event);
	hold_asleep(1000000);
}

/* A thread that waits for the lock finds its owner dead. */
static void end_in_hold(struct log *log)
{
	struct event event = {.is_asleep = true, .before_ns = now()};

	take(locks[event.lock], false);
	event.taken_ns = now();
	hold_asleep(2000000);
	event.given_ns = now();
	log_hold(log, &event);
}

static void *work(void *argument)
{
	struct log *log = argument;
	unsigned int seed = (unsigned int)(log - logs) * 7919 + 1;

	log->tid = (int)syscall(SYS_gettid);
	while (now() < end_ns && log->count < EVENTS_MAX)
		kind == IMPATIENT ? use_lock_long(log, &seed) : use_lock(log, &seed);
	if (kind == ROBUST)
		end_in_hold(log);
	return NULL;
}

static void init_lock(union lock *lock)
{
	static const int types[] = {
		[RECURSIVE] = PTHREAD_MUTEX_RECURSIVE,
		[ERRORCHECK] = PTHREAD_MUTEX_ERRORCHECK,
		[ADAPTIVE] = PTHREAD_MUTEX_ADAPTIVE_NP,
	};
	pthread_mutexattr_t attributes;

	if (kind == RWLOCK || kind == READERS) {
		pthread_rwlock_init(&lock->rwlock, NULL);
		return;
	}
	if (kind == WORD)
		return;
	pthread_mutexattr_init(&attributes);
	if (kind == RECURSIVE || kind == ERRORCHECK || kind == ADAPTIVE)
		pthread_mutexattr_settype(&attributes, types[kind]);
	if (kind == ROBUST)
		pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	if (kind == PI)
		pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	if (kind == SHARED)
		pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&lock->mutex, &attributes);
}

static void *map(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		exit(1);
	return memory;
}

static int compare_taken(const void *left, const void *right)
{
	const struct event *a = *(const struct event *const *)left,
			   *b = *(const struct event *const *)right;

	return a->taken_ns < b->taken_ns ? -1 : a->taken_ns > b->taken_ns;
}

/* The part of [begin, end) in which an event waits. */
static uint64_t overlap(const struct event *waiter, uint64_t begin, uint64_t end)
{
	uint64_t from = waiter->before_ns > begin ? waiter->before_ns : begin;
	uint64_t to = waiter->taken_ns < end ? waiter->taken_ns : end;

	return to > from ? to - from : 0;
}

static int thread_of(const struct event *event, int threads)
{
	for (int i = 0; i < threads; i++)
		if (event >= logs[i].events && event < logs[i].events + EVENTS_MAX)
			return i;
	return 0;
}

/* All holds of a lock by time. Returns how many. */
static size_t sort_events(int lock, int threads, const struct event **events, size_t most)
{
	size_t count = 0;

	for (int i = 0; i < threads; i++)
		for (int j = 0; j < logs[i].count; j++)
			if (logs[i].events[j].lock == lock && count < most)
				events[count++] = &logs[i].events[j];
	qsort(events, count, sizeof(*events), compare_taken);
	return count;
}

/* When the lock was taken after a hold; UINT64_MAX: not any more. */
static uint64_t next_taken(const struct event *const *events, size_t count, size_t hold)
{
	for (size_t i = hold + 1; i < count; i++)
		if (!events[i]->gave_up)
			return events[i]->taken_ns;
	return UINT64_MAX;
}

static void tell_lock(int lock, int threads)
{
	static const struct event *events[THREADS_MAX * 4096];
	uint64_t held[THREADS_MAX][2] = {{0}}, waits = 0, waited_ns = 0, all_ns = 0, free_ns = 0;
	size_t count = sort_events(lock, threads, events, sizeof(events) / sizeof(events[0]));

	for (size_t i = 0; i < count; i++) {
		const struct event *holder = events[i];
		uint64_t wait_ns = holder->taken_ns - holder->before_ns;
		uint64_t *sum = &held[thread_of(holder, threads)][holder->is_asleep];
		uint64_t next_ns;

		all_ns += wait_ns;
		if (wait_ns >= LONG_NS) {
			waits++;
			waited_ns += wait_ns;
		}
		if (holder->gave_up)
			continue;
		next_ns = next_taken(events, count, i);
		/* Holds do not overlap: who waited for this one took the lock later. */
		for (size_t j = i + 1; j < count; j++) {
			*sum += overlap(events[j], holder->taken_ns, holder->given_ns);
			free_ns += overlap(events[j], holder->given_ns, next_ns);
		}
	}
	printf("wait %d %llu %llu %llu\n", lock, (unsigned long long)waits,
	       (unsigned long long)waited_ns, (unsigned long long)all_ns);
	printf("free %d %llu\n", lock, (unsigned long long)free_ns);
	for (int i = 0; i < threads; i++)
		printf("held %d %d %llu %llu\n", lock, logs[i].tid, (unsigned long long)held[i][0],
		       (unsigned long long)held[i][1]);
}

static void tell_holds(int lock, int threads)
{
	static const struct event *events[THREADS_MAX * 4096];
	size_t count = sort_events(lock, threads, events, sizeof(events) / sizeof(events[0]));

	for (size_t i = 0; i < count; i++)
		printf("hold %d %d %llu %llu %llu %d\n", lock,
		       logs[thread_of(events[i], threads)].tid,
		       (unsigned long long)events[i]->before_ns,
		       (unsigned long long)events[i]->taken_ns,
		       (unsigned long long)events[i]->given_ns, events[i]->reads);
}

/* Of some readings, the one that took least. */
static uint64_t wall_ahead_ns(void)
{
	uint64_t least_ns = UINT64_MAX, ahead_ns = 0;

	for (int i = 0; i < 100; i++) {
		uint64_t before_ns = now(), took_ns;
		struct timespec time;

		clock_gettime(CLOCK_REALTIME, &time);
		took_ns = now() - before_ns;
		if (took_ns >= least_ns)
			continue;
		least_ns = took_ns;
		ahead_ns = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec - before_ns -
			   took_ns / 2;
	}
	return ahead_ns;
}

static void run(int from, int to)
{
	pthread_t threads[THREADS_MAX];

	for (int i = from; i < to; i++)
		if (pthread_create(&threads[i], NULL, work, &logs[i]))
			exit(1);
	for (int i = from; i < to; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	int threads = argc > 2 ? atoi(argv[2]) : 6;
	pid_t child = -1;

	for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(argv[1], kinds[i]))
			kind = (enum kind)i;
	if (threads < 2 || threads > THREADS_MAX)
		return 2;
	locks[0] = kind == SHARED ? map(2 * sizeof(union lock)) : &lock_first;
	locks[1] = kind == SHARED ? locks[0] + 1 : &lock_second;
	logs = map(THREADS_MAX * sizeof(*logs));
	for (int i = 0; i < LOCKS; i++) {
		init_lock(locks[i]);
		printf("lock %d %p\n", i,
		       kind == WORD ? (void *)&locks[i]->word : (void *)locks[i]);
	}
	fflush(stdout);
	end_ns = now() + (uint64_t)(argc > 3 ? atoi(argv[3]) : 3) * 1000000000;
	if (kind == SHARED)
		child = fork();
	if (child == 0) {
		run(threads / 2, threads);
		_exit(0);
	}
	run(0, kind == SHARED ? threads / 2 : threads);
	if (child > 0)
		waitpid(child, NULL, 0);
	for (int i = 0; i < LOCKS; i++)
		tell_lock(i, threads);
	if (argc > 4)
		printf("clock %llu\n", (unsigned long long)wall_ahead_ns());
	for (int i = 0; i < LOCKS && argc > 4; i++)
		tell_holds(i, threads);
	return 0;
}
