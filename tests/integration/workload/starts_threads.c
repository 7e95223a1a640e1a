// SPDX-License-Identifier: BSD-2-Clause
// starts_threads threads|children|workers SECONDS: makes threads or child processes one after the
// other, or has io_uring's workers write. cflags: -O2 ldflags: -pthread
#define _GNU_SOURCE
#include <linux/io_uring.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ENTRIES	    8
#define WRITE_BYTES (1 << 18)

static void *work(void *sum)
{
	for (uint64_t i = 0; i < 20000; i++)
		*(volatile uint64_t *)sum += i;
	return NULL;
}

static int start_threads(void)
{
	static uint64_t sums[4];
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, work, &sums[i]))
			return 1;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static int start_child(void)
{
	char *arguments[] = {"true", NULL};
	pid_t pid;

	return posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, NULL) ||
	       waitpid(pid, NULL, 0) != pid;
}

struct ring {
	int fd, file;
	unsigned int *tail, *mask, *array;
	unsigned int *done_head, *done_tail;
	struct io_uring_sqe *entries;
};

static int open_ring(struct ring *ring)
{
	struct io_uring_params parameters = {0};
	char path[] = "starts_threads-XXXXXX";
	char *submit, *done;

	ring->file = mkstemp(path);
	unlink(path);
	ring->fd = (int)syscall(SYS_io_uring_setup, ENTRIES, &parameters);
	if (ring->file < 0 || ring->fd < 0) {
		perror("io_uring");
		return 1;
	}
	submit = mmap(NULL, parameters.sq_off.array + parameters.sq_entries * sizeof(unsigned int),
		      PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->fd,
		      IORING_OFF_SQ_RING);
	done = mmap(
		NULL, parameters.cq_off.cqes + parameters.cq_entries * sizeof(struct io_uring_cqe),
		PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->fd, IORING_OFF_CQ_RING);
	ring->entries =
		mmap(NULL, parameters.sq_entries * sizeof(struct io_uring_sqe),
		     PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->fd, IORING_OFF_SQES);
	if (submit == MAP_FAILED || done == MAP_FAILED || ring->entries == MAP_FAILED)
		return 1;
	ring->tail = (unsigned int *)(submit + parameters.sq_off.tail);
	ring->mask = (unsigned int *)(submit + parameters.sq_off.ring_mask);
	ring->array = (unsigned int *)(submit + parameters.sq_off.array);
	ring->done_head = (unsigned int *)(done + parameters.cq_off.head);
	ring->done_tail = (unsigned int *)(done + parameters.cq_off.tail);
	return 0;
}

/* Each by a worker, since it says so. */
static int write_by_workers(struct ring *ring)
{
	static char bytes[WRITE_BYTES];
	unsigned int tail = *ring->tail;

	for (unsigned int i = 0; i < ENTRIES; i++, tail++) {
		unsigned int at = tail & *ring->mask;

		ring->entries[at] = (struct io_uring_sqe){
			.opcode = IORING_OP_WRITE,
			.flags = IOSQE_ASYNC,
			.fd = ring->file,
			.addr = (uintptr_t)bytes,
			.len = sizeof(bytes),
			.off = (uint64_t)i * sizeof(bytes),
		};
		ring->array[at] = at;
	}
	__atomic_store_n(ring->tail, tail, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring->fd, ENTRIES, ENTRIES, IORING_ENTER_GETEVENTS, NULL,
		    0) < 0)
		return 1;
	__atomic_store_n(ring->done_head, __atomic_load_n(ring->done_tail, __ATOMIC_ACQUIRE),
			 __ATOMIC_RELEASE);
	return 0;
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 2 ? atoi(argv[2]) : 1);
	const char *what = argc > 1 ? argv[1] : "threads";
	struct ring ring = {0};
	int err = 0;

	if (!strcmp(what, "workers"))
		err = open_ring(&ring);
	while (!err && time(NULL) < end) {
		if (!strcmp(what, "workers"))
			err = write_by_workers(&ring);
		else if (!strcmp(what, "children"))
			err = start_child();
		else
			err = start_threads();
	}
	return err;
}
