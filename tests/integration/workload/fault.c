// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O1 -fno-omit-frame-pointer
/*
 * Touches a known number of pages of each kind of memory, in a function each, and says what
 * getrusage() counted:
 *
 *	fault anonymous|heap|stack|shared|file|major|locked PAGES [FILE]
 *	fault loop SECONDS	as fast as it can; prints faults per second of CPU time, and all
 *	fault pace PAGES	so many in each millisecond, until it is killed
 *
 * With HOLD in the environment it then waits to be killed.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096UL

static volatile char sink;

#define TOUCH(name, statement)                                                                     \
	__attribute__((noinline)) static void touch_##name(volatile char *memory, size_t pages)    \
	{                                                                                          \
		for (size_t i = 0; i < pages; i++)                                                 \
			statement;                                                                 \
	}

TOUCH(anonymous, memory[i * PAGE] = 1)
TOUCH(heap, memory[i * PAGE] = 1)
TOUCH(shared, memory[i * PAGE] = 1)
TOUCH(file, memory[i * PAGE] = 1)
TOUCH(major, sink = memory[i * PAGE])

__attribute__((noinline)) static void touch_stack(size_t pages)
{
	volatile char room[PAGE];

	room[0] = (char)pages;
	if (pages > 1)
		touch_stack(pages - 1);
	sink = room[0];
}

static void *map(size_t pages, int flags, int fd)
{
	void *memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (memory == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	madvise(memory, pages * PAGE, MADV_NOHUGEPAGE);
	return memory;
}

static int open_file(const char *path)
{
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;

	if (fd < 0) {
		perror("fault: FILE");
		exit(1);
	}
	return fd;
}

static void *map_cold(size_t pages, const char *path)
{
	int fd = open_file(path);
	void *memory;

	fsync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	memory = map(pages, MAP_SHARED, fd);
	madvise(memory, pages * PAGE, MADV_RANDOM); /* a fault for each page, no reading ahead */
	return memory;
}

static void *grow_heap(size_t pages)
{
	uintptr_t end = ((uintptr_t)sbrk(0) + PAGE - 1) & ~(PAGE - 1);

	if (brk((void *)(end + pages * PAGE))) {
		perror("brk");
		exit(1);
	}
	return (void *)end;
}

__attribute__((noinline)) static uint64_t loop(double seconds)
{
	enum { PAGES = 512 };
	struct timespec start, now;
	uint64_t faults = 0;
	char *memory = map(PAGES, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		touch_anonymous(memory, PAGES);
		madvise(memory, PAGES * PAGE, MADV_DONTNEED);
		faults += PAGES;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) / 1e9 <
		 seconds);
	return faults;
}

/* As many faults in every millisecond, however late it is. */
__attribute__((noinline, noreturn)) static void pace(size_t per_ms)
{
	enum { ROUNDS = 20 };
	char *memory = map(per_ms * ROUNDS, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	struct timespec next;

	clock_gettime(CLOCK_MONOTONIC, &next);
	for (size_t round = 0;; round = (round + 1) % ROUNDS) {
		if (round == 0)
			madvise(memory, per_ms * ROUNDS * PAGE, MADV_DONTNEED);
		touch_anonymous(memory + round * per_ms * PAGE, per_ms);
		next.tv_nsec += 1000000;
		next.tv_sec += next.tv_nsec / 1000000000;
		next.tv_nsec %= 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
}

int main(int argc, char **argv)
{
	struct rusage before, after, cpu;
	bool hold = getenv("HOLD") != NULL;
	size_t pages;

	if (argc < 3)
		return 2;
	if (!strcmp(argv[1], "loop")) {
		double seconds = atof(argv[2]);
		uint64_t faults = loop(seconds);

		getrusage(RUSAGE_SELF, &cpu);
		/* Per second of CPU time: other load on the machine does not matter as much. */
		printf("%.0f %lu\n",
		       (double)faults /
			       ((double)cpu.ru_utime.tv_sec + (double)cpu.ru_stime.tv_sec +
				(double)(cpu.ru_utime.tv_usec + cpu.ru_stime.tv_usec) / 1e6),
		       cpu.ru_minflt);
		return 0;
	}
	pages = strtoul(argv[2], NULL, 10);
	if (!strcmp(argv[1], "pace"))
		pace(pages);
	getrusage(RUSAGE_SELF, &before);
	if (!strcmp(argv[1], "anonymous"))
		touch_anonymous(map(pages, MAP_PRIVATE | MAP_ANONYMOUS, -1), pages);
	else if (!strcmp(argv[1], "heap"))
		touch_heap(grow_heap(pages), pages);
	else if (!strcmp(argv[1], "stack"))
		touch_stack(pages);
	else if (!strcmp(argv[1], "shared"))
		touch_shared(map(pages, MAP_SHARED | MAP_ANONYMOUS, -1), pages);
	else if (!strcmp(argv[1], "file"))
		touch_file(map(pages, MAP_PRIVATE, open_file(argv[3])), pages);
	else if (!strcmp(argv[1], "locked")) /* the kernel fetches them itself */
		mlock(map(pages, MAP_PRIVATE | MAP_ANONYMOUS, -1), pages * PAGE);
	else if (!strcmp(argv[1], "major"))
		touch_major(map_cold(pages, argv[3]), pages);
	else
		return 2;
	getrusage(RUSAGE_SELF, &after);
	printf("%ld %ld %ld %ld\n", after.ru_minflt - before.ru_minflt,
	       after.ru_majflt - before.ru_majflt, after.ru_minflt, after.ru_majflt);
	fflush(stdout);
	if (hold)
		pause();
	return 0;
}
