// SPDX-License-Identifier: BSD-2-Clause
/* Programs of the zoo as they should be: the same work without the bottleneck. */
#include "planted.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/sem.h>

#define THREADS 4

/* What a program does between two steps of its work. */
static NOINLINE void work_and_rest(uint64_t work_us, unsigned int rest_us)
{
	burn_us(work_us);
	usleep(rest_us);
}

/* byte_reader: with a buffer */
static void buffered_reader(int argc, char **argv)
{
	static char buffer[1 << 16];
	int fd = open(argc > 1 ? argv[1] : "/dev/zero", O_RDONLY);

	for (;;) {
		if (read(fd, buffer, sizeof(buffer)) <= 0)
			lseek(fd, 0, SEEK_SET);
		work_and_rest(2000, 2000);
	}
}

/* byte_writer: with a buffer */
static void buffered_writer(int argc, char **argv)
{
	FILE *out = fopen("/dev/null", "w");

	(void)argc, (void)argv;
	setvbuf(out, NULL, _IOFBF, 1 << 16);
	for (;;) {
		for (int i = 0; i < 100000; i++)
			putc(i & 127, out);
		usleep(3000);
	}
}

/* stat_storm: looks once in a while */
static void cached_config(int argc, char **argv)
{
	struct stat status;

	(void)argc, (void)argv;
	for (;;) {
		stat("/etc/hostname", &status);
		work_and_rest(5000, 10000);
	}
}

static int events;

static void *raise_events(void *unused)
{
	uint64_t one = 1;

	(void)unused;
	for (;;) {
		usleep(10000);
		if (write(events, &one, sizeof(one)) < 0)
			exit(2);
	}
	return NULL;
}

/* poll_spin, sleep_poll: waits for the event */
static void event_wait(int argc, char **argv)
{
	struct pollfd wanted;
	uint64_t value;

	(void)argc, (void)argv;
	events = eventfd(0, 0);
	start_threads(1, raise_events);
	wanted = (struct pollfd){.fd = events, .events = POLLIN};
	for (;;) {
		if (poll(&wanted, 1, -1) > 0 && read(events, &value, sizeof(value)) > 0)
			burn_us(1000);
	}
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int jobs;

static void *take_jobs(void *unused)
{
	(void)unused;
	for (;;) {
		pthread_mutex_lock(&lock);
		while (!jobs)
			pthread_cond_wait(&ready, &lock);
		jobs = 0;
		pthread_mutex_unlock(&lock);
		burn_us(1000);
	}
	return NULL;
}

/* lost_signal, timeouts: the condition is signalled; semaphore_pingpong: many jobs at once */
static void signalled(int argc, char **argv)
{
	(void)argc, (void)argv;
	start_threads(1, take_jobs);
	for (;;) {
		usleep(5000);
		pthread_mutex_lock(&lock);
		jobs += 1000;
		pthread_cond_signal(&ready);
		pthread_mutex_unlock(&lock);
	}
}

static volatile uint64_t counter;

static void *count_briefly(void *unused)
{
	(void)unused;
	for (;;) {
		work_and_rest(200, 5000);
		pthread_mutex_lock(&lock);
		counter++;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

/* mutex_slow, held_by_one, convoy: nothing slow while the lock is held */
static void short_hold(int argc, char **argv)
{
	(void)argc, (void)argv;
	start_threads(THREADS, count_briefly);
	pause();
}

static void *count_alone(void *unused)
{
	volatile uint64_t own = 0;

	(void)unused;
	for (;;) {
		own++;
		work_and_rest(500, 5000);
	}
	return NULL;
}

/* spin_lock: each thread has a counter of its own */
static void own_counters(int argc, char **argv)
{
	(void)argc, (void)argv;
	start_threads(THREADS, count_alone);
	pause();
}

/* fsync_log: one flush for many records */
static void group_commit(int argc, char **argv)
{
	static char record[200];
	int fd = open("group.log", O_CREAT | O_WRONLY | O_TRUNC, 0600);

	(void)argc, (void)argv;
	for (;;) {
		for (int i = 0; i < 100; i++) {
			if (write(fd, record, sizeof(record)) < 0)
				exit(2);
			usleep(5000);
		}
		fdatasync(fd);
		lseek(fd, 0, SEEK_SET);
	}
}

/* map_churn, madvise_churn: memory is kept */
static void kept_buffer(int argc, char **argv)
{
	size_t size = 16 << 20;
	char *buffer = malloc(size);

	(void)argc, (void)argv;
	for (;;) {
		memset(buffer, 1, size);
		usleep(5000);
	}
}

/* leak: what is allocated is freed */
static void freed(int argc, char **argv)
{
	(void)argc, (void)argv;
	for (;;) {
		char *block = malloc(4 << 20);

		memset(block, 1, 4 << 20);
		free(block);
		work_and_rest(1000, 3000);
	}
}

static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;

static void *read_table(void *unused)
{
	(void)unused;
	for (;;) {
		pthread_rwlock_rdlock(&table);
		burn_us(100);
		pthread_rwlock_unlock(&table);
		usleep(3000);
	}
	return NULL;
}

/* rwlock_writer: readers only */
static void readers(int argc, char **argv)
{
	(void)argc, (void)argv;
	start_threads(THREADS, read_table);
	pause();
}

static void *write_own(void *number)
{
	static char block[4096];
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "own.%d", (int)(intptr_t)number);
	fd = open(name, O_CREAT | O_WRONLY, 0600);
	for (;;) {
		if (pwrite(fd, block, sizeof(block), 0) < 0)
			exit(2);
		work_and_rest(200, 5000);
	}
	return NULL;
}

/* one_file_writers: a file for each thread */
static void own_files(int argc, char **argv)
{
	(void)argc, (void)argv;
	start_threads(THREADS, write_own);
	pause();
}

/* pipe_full: the reader is fast */
static void fast_pipe(int argc, char **argv)
{
	static char block[1000];
	int ends[2];

	(void)argc, (void)argv;
	if (pipe(ends))
		exit(2);
	if (!fork()) {
		while (read(ends[0], block, sizeof(block)) > 0)
			;
		exit(0);
	}
	for (;;) {
		if (write(ends[1], block, sizeof(block)) < 0)
			exit(2);
		work_and_rest(500, 2000);
	}
}

/* slow_backend: it answers at once, and the client works between requests */
static void fast_backend(int argc, char **argv)
{
	int ends[2];
	char byte = 0;

	(void)argc, (void)argv;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		exit(2);
	if (!fork()) {
		while (read(ends[1], &byte, 1) == 1 && write(ends[1], &byte, 1) == 1)
			;
		exit(0);
	}
	for (;;) {
		if (write(ends[0], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1)
			exit(2);
		work_and_rest(1000, 3000);
	}
}

/* depth_of_one, cold_scan, mapped_reader: the file is in memory */
static void cached_reader(int argc, char **argv)
{
	static char page[4096];
	int fd = open("cached", O_CREAT | O_RDWR, 0600);

	(void)argc, (void)argv;
	if (write(fd, page, sizeof(page)) < 0)
		exit(2);
	for (;;) {
		if (pread(fd, page, sizeof(page), 0) < 0)
			exit(2);
		work_and_rest(500, 2000);
	}
}

/* flock_wait, fcntl_wait: held for a moment */
static void brief_flock(int argc, char **argv)
{
	int fd;

	(void)argc, (void)argv;
	for (int i = 0; i < 2 && fork() > 0; i++)
		;
	fd = open("flocked", O_CREAT | O_RDWR, 0600);
	for (;;) {
		flock(fd, LOCK_EX);
		counter++;
		flock(fd, LOCK_UN);
		work_and_rest(500, 20000);
	}
}

/* sysv_semaphore: held for a moment */
static void brief_semaphore(int argc, char **argv)
{
	int set = semget(IPC_PRIVATE, 1, 0600 | IPC_CREAT);
	struct sembuf up = {.sem_op = 1}, down = {.sem_op = -1};

	(void)argc, (void)argv;
	semop(set, &up, 1);
	for (int i = 0; i < 2 && fork() > 0; i++)
		;
	for (;;) {
		semop(set, &down, 1);
		counter++;
		semop(set, &up, 1);
		work_and_rest(500, 20000);
	}
}

static void *use_arena(void *arena)
{
	for (;;) {
		memset(arena, 1, 1 << 16);
		work_and_rest(200, 4000);
	}
	return NULL;
}

/* mmap_lock: memory is mapped once */
static void mapped_once(int argc, char **argv)
{
	pthread_t thread;

	(void)argc, (void)argv;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread, NULL, use_arena, malloc(1 << 16)))
			exit(2);
	pause();
}

/* process_storm: the work is done in one process */
static void one_process(int argc, char **argv)
{
	char line[64];

	(void)argc, (void)argv;
	for (int i = 0;; i++) {
		snprintf(line, sizeof(line), "%d", i);
		if (i % 1000 == 0)
			usleep(2000);
	}
}

static const struct mode modes[] = {
	{"buffered_reader", buffered_reader},
	{"buffered_writer", buffered_writer},
	{"cached_config", cached_config},
	{"event_wait", event_wait},
	{"signalled", signalled},
	{"short_hold", short_hold},
	{"own_counters", own_counters},
	{"group_commit", group_commit},
	{"kept_buffer", kept_buffer},
	{"freed", freed},
	{"readers", readers},
	{"own_files", own_files},
	{"fast_pipe", fast_pipe},
	{"fast_backend", fast_backend},
	{"cached_reader", cached_reader},
	{"brief_flock", brief_flock},
	{"brief_semaphore", brief_semaphore},
	{"mapped_once", mapped_once},
	{"one_process", one_process},
};

int main(int argc, char **argv)
{
	return run_mode(modes, sizeof(modes) / sizeof(*modes), argc, argv);
}
