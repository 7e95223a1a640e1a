// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O1 -fomit-frame-pointer
// ldflags: -lpthread
/*
 * A program that floods a profiler until it is killed: adversary switches | faults | forks |
 * requests FILE | threads COUNT | mappings COUNT | rewrites FILE. It writes "ready" when it does.
 * Stacks of waits and faults differ all the time: each way through a dozen calls is another.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096

static const char *file;
static long count;
static volatile unsigned int sink;

typedef void leaf_fn(void);
static void descend(unsigned int way, int depth, leaf_fn *leaf);

/* Two ways down for each bit: not inlined, no tail calls. */
#define WAY(name)                                                                                  \
	__attribute__((noinline)) static void name(unsigned int way, int depth, leaf_fn *leaf)     \
	{                                                                                          \
		descend(way, depth, leaf);                                                         \
		sink++;                                                                            \
	}
WAY(left)
WAY(right)

static void descend(unsigned int way, int depth, leaf_fn *leaf)
{
	if (!depth)
		leaf();
	else if (way & 1)
		left(way >> 1, depth - 1, leaf);
	else
		right(way >> 1, depth - 1, leaf);
	sink++;
}

static void by_all_ways(leaf_fn *leaf)
{
	for (unsigned int way = (unsigned int)getpid();; way = way * 1664525U + 1013904223U)
		descend(way >> 8, 20, leaf);
}

static int ends[2][2];

static void *answer(void *unused)
{
	char byte;

	while (read(ends[0][0], &byte, 1) == 1 && write(ends[1][1], &byte, 1) == 1)
		;
	return unused;
}

static void ask(void)
{
	char byte = 0;

	if (write(ends[0][1], &byte, 1) != 1 || read(ends[1][0], &byte, 1) != 1)
		exit(1);
}

static void switches(void)
{
	pthread_t thread;

	if (pipe(ends[0]) || pipe(ends[1]) || pthread_create(&thread, NULL, answer, NULL))
		exit(1);
	by_all_ways(ask);
}

#define TOUCHED (1024 * PAGE)
static char *memory;

static void touch(void)
{
	static size_t at;

	if (at % TOUCHED == 0)
		madvise(memory, TOUCHED, MADV_DONTNEED);
	memory[at % TOUCHED] = 1;
	at += PAGE;
}

static void faults(void)
{
	memory = mmap(NULL, TOUCHED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || madvise(memory, TOUCHED, MADV_NOHUGEPAGE))
		exit(1);
	by_all_ways(touch);
}

static void forks(void)
{
	for (;;) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		while (waitpid(-1, NULL, pid < 0 ? 0 : WNOHANG) > 0)
			;
	}
}

static int fd;

static void request(void)
{
	static char *block;
	static long number;

	if (!block && posix_memalign((void **)&block, PAGE, PAGE))
		exit(1);
	if (pwrite(fd, block, PAGE, number++ % 1024 * PAGE) != PAGE)
		exit(1);
}

static void requests(void)
{
	fd = open(file, O_RDWR | O_CREAT | O_DIRECT, 0600);
	if (fd < 0)
		exit(1);
	by_all_ways(request);
}

static void *idle(void *unused)
{
	for (;;)
		sleep(5);
	return unused;
}

static void threads(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	long made = 0;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 32768);
	while (made < count && !pthread_create(&thread, &attributes, idle, NULL))
		made++;
	printf("%ld threads\n", made);
}

/* Mappings of a file, executable and not side by side: the kernel cannot join them. */
static void mappings(void)
{
	long made = 0;

	fd = open("/proc/self/exe", O_RDONLY);
	while (made < count && mmap(NULL, PAGE, PROT_READ | (made & 1 ? PROT_EXEC : 0), MAP_PRIVATE,
				    fd, 0) != MAP_FAILED)
		made++;
	printf("%ld mappings\n", made);
}

/* The parent maps a copy of this program again and again, while the child writes over it. */
static void map_copy(size_t size)
{
	for (;;) {
		char *image = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

		if (image == MAP_FAILED)
			exit(1);
		usleep(5000);
		munmap(image, size);
	}
}

static void rewrites(void)
{
	char bytes[PAGE];
	long size;

	fd = open(file, O_RDWR);
	size = fd < 0 ? 0 : (long)lseek(fd, 0, SEEK_END);
	if (size <= 0)
		exit(1);
	if (fork())
		map_copy((size_t)size);
	for (unsigned int seed = 1;; seed = seed * 1664525U + 1013904223U) {
		long at = (long)(seed >> 4) % (size - 64);

		for (size_t i = 0; i < 64; i++)
			bytes[i] = (char)(seed >> i % 24);
		if (pwrite(fd, bytes, 64, at) < 0)
			exit(1);
		if (seed % 512 == 0 && (ftruncate(fd, size / 2) || ftruncate(fd, size)))
			exit(1);
		usleep(100);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} floods[] = {
		{"switches", switches}, {"faults", faults},   {"forks", forks},
		{"requests", requests}, {"threads", threads}, {"mappings", mappings},
		{"rewrites", rewrites},
	};

	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc > 2) {
		file = argv[2];
		count = strtol(argv[2], NULL, 10);
	}
	for (size_t i = 0; argc > 1 && i < sizeof(floods) / sizeof(floods[0]); i++) {
		if (strcmp(argv[1], floods[i].name))
			continue;
		if (strcmp(argv[1], "threads") && strcmp(argv[1], "mappings"))
			puts("ready");
		floods[i].run();
		puts("ready");
		for (;;)
			pause();
	}
	return 2;
}
