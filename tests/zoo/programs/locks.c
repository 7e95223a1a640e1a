// SPDX-License-Identifier: BSD-2-Clause
/* Programs that are limited by locks. */
#include "planted.h"

#include <semaphore.h>
#include <sys/ipc.h>
#include <sys/sem.h>

static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work_arrived = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static int queued;

/* ---- one mutex, held across slow work ---- */

static NOINLINE void refresh_cache(void)
{
	usleep(20000);
	burn_us(200);
}

static NOINLINE void update_cache(void)
{
	pthread_mutex_lock(&cache_lock);
	refresh_cache();
	pthread_mutex_unlock(&cache_lock);
}

static void *cache_user(void *unused)
{
	(void)unused;
	for (;;) {
		update_cache();
		burn_us(50);
	}
	return NULL;
}

static void mutex_slow(int argc, char **argv)
{
	(void)argc, (void)argv;
	start_threads(8, cache_user);
	pause();
}

/* ---- one holder, several that want it for a moment ---- */

static NOINLINE void compact_store(void)
{
	burn_us(30000);
}

static void *compactor(void *unused)
{
	(void)unused;
	for (;;) {
		pthread_mutex_lock(&cache_lock);
		compact_store();
		pthread_mutex_unlock(&cache_lock);
		usleep(3000);
	}
	return NULL;
}

static NOINLINE void lookup_entry(void)
{
	pthread_mutex_lock(&cache_lock);
	burn_us(5);
	pthread_mutex_unlock(&cache_lock);
}

static void *reader(void *unused)
{
	(void)unused;
	for (;;) {
		lookup_entry();
		usleep(200);
	}
	return NULL;
}

static void lock_held_by_one(int argc, char **argv)
{
	(void)argc, (void)argv;
	start_threads(1, compactor);
	start_threads(4, reader);
	pause();
}

/* ---- a condition that nobody signals ---- */

static NOINLINE int take_job(void)
{
	struct timespec until;
	int jobs;

	pthread_mutex_lock(&queue_lock);
	while (!queued) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 50 * 1000000;
		if (until.tv_nsec >= 1000000000)
			until.tv_sec++, until.tv_nsec -= 1000000000;
		pthread_cond_timedwait(&work_arrived, &queue_lock, &until);
	}
	jobs = queued;
	queued = 0;
	pthread_mutex_unlock(&queue_lock);
	return jobs;
}

static void *producer(void *unused)
{
	(void)unused;
	for (;;) {
		usleep(5000);
		pthread_mutex_lock(&queue_lock);
		queued++;
		/* and no pthread_cond_signal() */
		pthread_mutex_unlock(&queue_lock);
	}
	return NULL;
}

static void lost_signal(int argc, char **argv)
{
	(void)argc, (void)argv;
	start_threads(1, producer);
	for (;;)
		for (int jobs = take_job(); jobs; jobs--)
			burn_us(300);
}

/* ---- a lock of a file, which another process holds ---- */

static NOINLINE void lock_journal(int fd)
{
	flock(fd, LOCK_EX);
}

static void flock_waiter(int argc, char **argv)
{
	int fd = open(argc > 1 ? argv[1] : "lock", O_RDWR | O_CREAT, 0600);

	for (;;) {
		lock_journal(fd);
		flock(fd, LOCK_UN);
		usleep(1000);
	}
}

static void flock_holder(int argc, char **argv)
{
	int fd = open(argc > 1 ? argv[1] : "lock", O_RDWR | O_CREAT, 0600);

	for (;;) {
		flock(fd, LOCK_EX);
		usleep(argc > 2 ? (useconds_t)atoi(argv[2]) : 400000);
		flock(fd, LOCK_UN);
		usleep(500);
	}
}

static void fcntl_waiter(int argc, char **argv)
{
	int fd = open(argc > 1 ? argv[1] : "lock", O_RDWR | O_CREAT, 0600);
	struct flock lock = {.l_type = F_WRLCK};

	fcntl(fd, F_SETLKW, &lock);
}

static void fcntl_holder(int argc, char **argv)
{
	int fd = open(argc > 1 ? argv[1] : "lock", O_RDWR | O_CREAT, 0600);
	struct flock lock = {.l_type = F_WRLCK};

	fcntl(fd, F_SETLKW, &lock);
	pause();
}

/* ---- readers behind a writer ---- */

static NOINLINE void rebuild_table(void)
{
	usleep(25000);
}

static void *table_writer(void *unused)
{
	(void)unused;
	for (;;) {
		pthread_rwlock_wrlock(&table_lock);
		rebuild_table();
		pthread_rwlock_unlock(&table_lock);
		usleep(1000);
	}
	return NULL;
}

static NOINLINE void query_table(void)
{
	pthread_rwlock_rdlock(&table_lock);
	burn_us(20);
	pthread_rwlock_unlock(&table_lock);
}

static void *table_reader(void *unused)
{
	(void)unused;
	for (;;) {
		query_table();
		usleep(200);
	}
	return NULL;
}

static void rwlock_writer(int argc, char **argv)
{
	(void)argc, (void)argv;
	start_threads(1, table_writer);
	start_threads(4, table_reader);
	pause();
}

/* ---- mmap_lock: page faults beside mmap and munmap of the same process ---- */

static NOINLINE void map_scratch(void)
{
	size_t size = 64 << 20;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	munmap(memory, size);
}

static void *mapper(void *unused)
{
	(void)unused;
	for (;;)
		map_scratch();
	return NULL;
}

static void mmap_churn(int argc, char **argv)
{
	(void)argc, (void)argv;
	start_threads(6, mapper);
	pause();
}

/* ---- workers that wait for work: nothing is wrong ---- */

static sem_t jobs;

static NOINLINE void work(void)
{
	burn_us(500);
}

static void *worker(void *unused)
{
	(void)unused;
	for (;;) {
		pthread_mutex_lock(&queue_lock);
		while (!queued)
			pthread_cond_wait(&work_arrived, &queue_lock);
		queued--;
		pthread_mutex_unlock(&queue_lock);
		work();
	}
	return NULL;
}

static void workers_idle(int argc, char **argv)
{
	(void)argc, (void)argv;
	start_threads(8, worker);
	for (;;) {
		usleep(5000);
		pthread_mutex_lock(&queue_lock);
		queued++;
		pthread_cond_signal(&work_arrived);
		pthread_mutex_unlock(&queue_lock);
	}
}

static void *sem_worker(void *unused)
{
	(void)unused;
	for (;;) {
		sem_wait(&jobs);
		work();
	}
	return NULL;
}

static void workers_semaphore(int argc, char **argv)
{
	(void)argc, (void)argv;
	sem_init(&jobs, 0, 0);
	start_threads(4, sem_worker);
	for (;;) {
		usleep(4000);
		sem_post(&jobs);
	}
}

/* ---- two threads that hand over to each other ---- */

static sem_t ping, pong;

static void *ponger(void *unused)
{
	(void)unused;
	for (;;) {
		sem_wait(&ping);
		sem_post(&pong);
	}
	return NULL;
}

static NOINLINE void ask_partner(void)
{
	sem_post(&ping);
	sem_wait(&pong);
}

static void handover(int argc, char **argv)
{
	(void)argc, (void)argv;
	sem_init(&ping, 0, 0);
	sem_init(&pong, 0, 0);
	start_threads(1, ponger);
	for (;;)
		ask_partner();
}

/* ---- short work under a lock that everybody wants all the time ---- */

static NOINLINE void count_event(void)
{
	pthread_mutex_lock(&cache_lock);
	burn_us(400);
	pthread_mutex_unlock(&cache_lock);
}

static void *counter(void *unused)
{
	(void)unused;
	for (;;) {
		count_event();
		burn_us(20);
	}
	return NULL;
}

static void convoy(int argc, char **argv)
{
	(void)argc, (void)argv;
	start_threads(6, counter);
	pause();
}

/* ---- the same, and one more thread that computes for half of its time ---- */

static NOINLINE void draw_chart(void)
{
	burn_us(3000);
}

static void lock_and_work(int argc, char **argv)
{
	(void)argc, (void)argv;
	start_threads(6, cache_user);
	for (;;) {
		draw_chart();
		usleep(3000);
	}
}

/* ---- a semaphore of System V, held across work, between processes ---- */

static NOINLINE void enter_region(int semaphore, short change)
{
	struct sembuf operation = {.sem_op = change};

	while (semop(semaphore, &operation, 1) && errno == EINTR)
		;
}

static void sysv_region(int argc, char **argv)
{
	int semaphore = semget(IPC_PRIVATE, 1, 0600);

	(void)argc, (void)argv;
	enter_region(semaphore, 1);
	for (int i = 0; i < 3; i++)
		if (fork() == 0)
			break;
	for (;;) {
		enter_region(semaphore, -1);
		burn_us(200);
		usleep(8000);
		enter_region(semaphore, 1);
	}
}

/* ---- several threads write to one file ---- */

static const char *shared_file;

static NOINLINE void write_segment(int fd, const void *segment, size_t size, off_t at)
{
	if (pwrite(fd, segment, size, at) != (ssize_t)size)
		exit(2);
}

static void *segment_writer(void *number)
{
	size_t size = 4 << 20;
	void *segment = malloc(size);
	int fd = open(shared_file, O_WRONLY | O_CREAT, 0600);

	memset(segment, 1, size);
	for (;;)
		write_segment(fd, segment, size, (off_t)(intptr_t)number * (off_t)size);
	return NULL;
}

static void one_file_writers(int argc, char **argv)
{
	shared_file = argc > 1 ? argv[1] : "shared";
	start_threads(6, segment_writer);
	pause();
}

static const struct mode modes[] = {
	{"mutex_slow", mutex_slow},	    {"held_by_one", lock_held_by_one},
	{"lost_signal", lost_signal},	    {"flock_waiter", flock_waiter},
	{"flock_holder", flock_holder},	    {"fcntl_waiter", fcntl_waiter},
	{"fcntl_holder", fcntl_holder},	    {"rwlock_writer", rwlock_writer},
	{"mmap_churn", mmap_churn},	    {"workers_idle", workers_idle},
	{"workers_sem", workers_semaphore}, {"handover", handover},
	{"lock_and_work", lock_and_work},   {"convoy", convoy},
	{"sysv_region", sysv_region},	    {"one_file_writers", one_file_writers},
};

int main(int argc, char **argv)
{
	return run_mode(modes, sizeof(modes) / sizeof(*modes), argc, argv);
}
