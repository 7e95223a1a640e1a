// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O2
// ldflags: -pthread
/*
 * Marks regions, and tells how long each was by its own clocks, read around it and inside of it.
 *
 * own_clocks MODE=NUMBER…, each in a process of its own, with regions of its name:
 * ranks=COUNT: a region and a function, each COUNT times and for other times; tells all times,
 * "around" and "inside", sorted.
 * ring=COUNT: waits in io_uring for time-outs and for reads that kernel threads do.
 * stopped=COUNT: is stopped in the region, by SIGSTOP of a child.
 * limited=MILLISECONDS,PROCS: computes only, in the control group with this list of processes.
 * preempted=MILLISECONDS: enters and leaves on a CPU that a real-time process takes away again and
 * again.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <pkbpf/pkbpf.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000ULL + (uint64_t)now.tv_nsec;
}

static uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static void rest_ns(uint64_t ns)
{
	struct timespec rest = {.tv_nsec = (long)ns};

	nanosleep(&rest, NULL);
}

static const char *mode;

/* The kernel does not do such things for us. */
static void not_here(const char *what)
{
	printf("refused %s: %s\n", what, strerror(errno));
	exit(0);
}

/* ---- what a thread's own clocks say ---- */

struct clocks {
	unsigned int count;
	uint64_t wall_ns, cpu_ns, queue_ns;
};

static int schedstat = -1;

/* Time that the thread has waited for a CPU. */
static uint64_t queue_ns(void)
{
	char text[128] = "";
	unsigned long long ran = 0, waited = 0;

	if (schedstat >= 0 && pread(schedstat, text, sizeof(text) - 1, 0) > 0)
		sscanf(text, "%llu %llu", &ran, &waited);
	return waited;
}

static struct clocks total;

static void clocks_begin(void)
{
	total.count++;
	total.wall_ns -= now_ns();
	total.cpu_ns -= clock_ns(CLOCK_THREAD_CPUTIME_ID);
	total.queue_ns -= queue_ns();
}

static void clocks_end(void)
{
	total.queue_ns += queue_ns();
	total.cpu_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID);
	total.wall_ns += now_ns();
}

/* What the host has kept from this machine, which the kernel takes out of the thread's CPU time. */
static uint64_t stolen_ns(void)
{
	FILE *file = fopen("/proc/stat", "r");
	unsigned long long stolen = 0;

	if (file) {
		if (fscanf(file, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &stolen) != 1)
			stolen = 0;
		fclose(file);
	}
	return stolen * 10000000;
}

/* ---- ranks ---- */

struct times {
	uint64_t *around, *inside;
};

static NOINLINE void compute(uint64_t wall_ns)
{
	uint64_t end_ns = now_ns() + wall_ns;

	while (now_ns() < end_ns)
		;
}

static NOINLINE void ranked(uint64_t wall_ns, uint64_t *ret_inside)
{
	uint64_t begin_ns = now_ns();

	compute(wall_ns);
	*ret_inside = now_ns() - begin_ns;
}

static int compare(const void *a, const void *b)
{
	uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;

	return first < second ? -1 : first > second;
}

static void tell(const char *name, const char *where, uint64_t *times, unsigned int count)
{
	qsort(times, count, sizeof(*times), compare);
	printf("%s %s", name, where);
	for (unsigned int i = 0; i < count; i++)
		printf(" %llu", (unsigned long long)times[i]);
	printf("\n");
	free(times);
}

static struct times times_new(unsigned int count)
{
	return (struct times){calloc(count, sizeof(uint64_t)), calloc(count, sizeof(uint64_t))};
}

/* From 50 microseconds, each time 1/24 more, not in this order. */
static void ranks(unsigned int count)
{
	struct times regions = times_new(count), calls = times_new(count);
	uint64_t *lengths = calloc(count, sizeof(*lengths)), length_ns = 50000, begin_ns;

	for (unsigned int i = 0; i < count; i++) {
		lengths[i * 37 % count] = length_ns;
		length_ns += length_ns / 24;
	}
	for (unsigned int i = 0; i < count; i++) {
		begin_ns = now_ns();
		{
			PKBPF_REGION(mode);
			uint64_t inside_ns = now_ns();

			compute(lengths[i]);
			regions.inside[i] = now_ns() - inside_ns;
		}
		regions.around[i] = now_ns() - begin_ns;
		begin_ns = now_ns();
		ranked(lengths[count - 1 - i], &calls.inside[i]);
		calls.around[i] = now_ns() - begin_ns;
	}
	tell("region", "around", regions.around, count);
	tell("region", "inside", regions.inside, count);
	tell("call", "around", calls.around, count);
	tell("call", "inside", calls.inside, count);
	free(lengths);
}

/* ---- io_uring ---- */

struct ring {
	int fd;
	struct io_uring_params params;
	uint8_t *sq, *cq;
	struct io_uring_sqe *entries;
};

static void *ring_map(int fd, size_t size, off_t offset)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);

	if (at == MAP_FAILED)
		not_here("mmap of io_uring");
	return at;
}

static void ring_new(struct ring *ring)
{
	struct io_uring_params *params = &ring->params;

	ring->fd = (int)syscall(SYS_io_uring_setup, 8, params);
	if (ring->fd < 0)
		not_here("io_uring_setup");
	ring->sq = ring_map(ring->fd, params->sq_off.array + params->sq_entries * 4,
			    IORING_OFF_SQ_RING);
	ring->cq = ring_map(ring->fd,
			    params->cq_off.cqes + params->cq_entries * sizeof(struct io_uring_cqe),
			    IORING_OFF_CQ_RING);
	ring->entries =
		ring_map(ring->fd, params->sq_entries * sizeof(*ring->entries), IORING_OFF_SQES);
}

/* Asks for one thing, and waits until it is done. Returns its result. */
static int ring_do(struct ring *ring, const struct io_uring_sqe *wanted)
{
	uint32_t *tail = (uint32_t *)(ring->sq + ring->params.sq_off.tail), at = *tail & 7;
	uint32_t *head = (uint32_t *)(ring->cq + ring->params.cq_off.head);
	uint32_t mask = *(uint32_t *)(ring->cq + ring->params.cq_off.ring_mask);
	struct io_uring_cqe *done = (struct io_uring_cqe *)(ring->cq + ring->params.cq_off.cqes);
	int result;

	ring->entries[at] = *wanted;
	((uint32_t *)(ring->sq + ring->params.sq_off.array))[at] = at;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
		not_here("io_uring_enter");
	result = done[*head & mask].res;
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return result;
}

static void in_ring(unsigned int count)
{
	static uint8_t room[1 << 20];
	struct __kernel_timespec time = {.tv_nsec = 3000000};
	struct io_uring_sqe wait = {
		.opcode = IORING_OP_TIMEOUT, .addr = (uintptr_t)&time, .len = 1};
	struct io_uring_sqe read = {.opcode = IORING_OP_READ,
				    .flags = IOSQE_ASYNC,
				    .addr = (uintptr_t)room,
				    .len = sizeof(room)};
	struct ring ring = {0};

	read.fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	ring_new(&ring);
	for (unsigned int i = 0; i < count; i++) {
		clocks_begin();
		{
			PKBPF_REGION(mode);
			ring_do(&ring, &wait);
			if (ring_do(&ring, &read) != (int)sizeof(room))
				not_here("a read by io_uring");
		}
		clocks_end();
	}
}

/* ---- SIGSTOP ---- */

static char state_of(pid_t pid)
{
	char path[64], text[256] = "", *name_end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (!file)
		return '?';
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	name_end = strrchr(text, ')');
	return name_end ? name_end[2] : '?';
}

/* Stops its parent for 5 ms: the times from before the first signal to after the second, and in
 * which it surely stood. */
static void stopper(pid_t parent, int said, int answer)
{
	uint64_t times[2];
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(said, &byte, 1) == 1) {
		uint64_t begin_ns = now_ns(), stands_ns;

		kill(parent, SIGSTOP);
		while (state_of(parent) != 'T')
			sched_yield();
		stands_ns = now_ns();
		rest_ns(5000000);
		times[1] = now_ns() - stands_ns;
		kill(parent, SIGCONT);
		times[0] = now_ns() - begin_ns;
		if (write(answer, times, sizeof(times)) != sizeof(times))
			break;
	}
	_exit(0);
}

static void stopped(unsigned int count)
{
	int said[2], answer[2];
	uint64_t most_ns = 0, least_ns = 0, times[2];
	pid_t self = getpid(), child;

	if (pipe2(said, O_CLOEXEC) < 0 || pipe2(answer, O_CLOEXEC) < 0)
		not_here("pipe2");
	child = fork();
	if (child == 0) {
		close(said[1]);
		stopper(self, said[0], answer[1]);
	}
	for (unsigned int i = 0; i < count; i++) {
		clocks_begin();
		{
			PKBPF_REGION(mode);
			/* It computes when it is stopped, in every second round; else it sleeps. */
			if (write(said[1], "s", 1) == 1 && i % 2)
				compute(4000000);
			if (read(answer[0], times, sizeof(times)) != sizeof(times))
				not_here("the child");
		}
		clocks_end();
		most_ns += times[0];
		least_ns += times[1];
	}
	close(said[1]);
	waitpid(child, NULL, 0);
	printf("stopped_least %llu stopped_most %llu ", (unsigned long long)least_ns,
	       (unsigned long long)most_ns);
}

/* ---- a limit, and a real-time process ---- */

/* Regions that compute for so long, with so many in each that take no time. */
static void compute_for(unsigned int ms, uint64_t region_ns, unsigned int inner)
{
	uint64_t end_ns = now_ns() + ms * 1000000ULL;

	while (now_ns() < end_ns) {
		clocks_begin();
		{
			PKBPF_REGION(mode);
			compute(region_ns);
			for (unsigned int i = 0; i < inner; i++) {
				PKBPF_REGION("inner");
			}
		}
		clocks_end();
	}
}

static void limited(unsigned int ms, const char *procs)
{
	int fd = open(procs, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "0", 1) != 1)
		not_here(procs);
	close(fd);
	compute_for(ms, 10000000, 0);
}

/* Takes the CPU for 100 microseconds, at other times than its neighbour begins something. */
static void hog(void)
{
	uint32_t x = 1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		compute(100000);
		x = x * 1664525U + 1013904223U;
		rest_ns(100000 + (x >> 16) * 4);
	}
}

static void preempted(unsigned int ms)
{
	struct sched_param priority = {.sched_priority = 1};
	pid_t child;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	child = fork();
	if (child == 0)
		hog();
	if (sched_setscheduler(child, SCHED_FIFO, &priority) < 0) {
		kill(child, SIGKILL);
		not_here("SCHED_FIFO");
	}
	compute_for(ms, 0, 300);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void run(const char *value)
{
	unsigned int number = (unsigned int)atoi(value);
	const char *comma = strchr(value, ',');
	uint64_t stolen = stolen_ns();

	schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	if (strcmp(mode, "ranks") == 0) {
		ranks(number);
		return;
	}
	printf("%s ", mode);
	if (strcmp(mode, "ring") == 0)
		in_ring(number);
	else if (strcmp(mode, "stopped") == 0)
		stopped(number);
	else if (strcmp(mode, "limited") == 0)
		limited(number, comma ? comma + 1 : "");
	else
		preempted(number);
	printf("count %u wall %llu cpu %llu queue %llu stolen %llu\n", total.count,
	       (unsigned long long)total.wall_ns, (unsigned long long)total.cpu_ns,
	       (unsigned long long)total.queue_ns, (unsigned long long)(stolen_ns() - stolen));
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		char *value = strchr(argv[i], '=');
		int status;
		pid_t child;

		if (!value)
			return 2;
		*value++ = '\0';
		mode = argv[i];
		child = fork();
		if (child == 0) {
			run(value);
			fflush(stdout);
			_exit(0);
		}
		if (waitpid(child, &status, 0) != child || status != 0)
			return 1;
	}
	return 0;
}
