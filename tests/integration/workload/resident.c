// SPDX-License-Identifier: BSD-2-Clause
/* Makes pages resident in every way there is, each in a function of its own, then waits.
 * Begins after so many seconds, or without an argument when there is something to read. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB  (1UL << 20)
#define PAGE 4096UL
#define HUGE (2 * MIB)

static char *map(size_t bytes, int flags)
{
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (memory == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	if (!(flags & MAP_POPULATE))
		madvise(memory, bytes, MADV_NOHUGEPAGE);
	return memory;
}

/* At a pace at which nothing is lost of who watches each page, also when that waits for a CPU. */
static inline void touch(char *memory, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += PAGE) {
		((volatile char *)memory)[i] = 1;
		if (i % MIB == 0)
			usleep(1000);
	}
}

#define CHAIN __attribute__((noinline))

CHAIN static void keeps(void)
{
	touch(map(40 * MIB, 0), 40 * MIB);
	__asm__ volatile("");
}

CHAIN static void gives_back(void)
{
	char *memory = map(50 * MIB, 0);

	touch(memory, 50 * MIB);
	madvise(memory + 7 * MIB, 20 * MIB, MADV_DONTNEED);
}

CHAIN static void writes_first(char *memory)
{
	touch(memory, 24 * MIB);
	__asm__ volatile("");
}

CHAIN static void writes_again(char *memory)
{
	touch(memory, 24 * MIB);
	__asm__ volatile("");
}

CHAIN static void huge_pages(void)
{
	char *memory =
		mmap(NULL, 66 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *aligned = (char *)(((unsigned long)memory + HUGE - 1) & ~(HUGE - 1));

	madvise(aligned, 64 * MIB, MADV_HUGEPAGE);
	for (size_t i = 0; i < 64 * MIB; i += HUGE)
		((volatile char *)aligned)[i + 77 * PAGE] = 1;
}

CHAIN static void unmaps(void)
{
	char *memory = map(30 * MIB, 0);

	touch(memory, 30 * MIB);
	munmap(memory, 30 * MIB);
}

CHAIN static void populates(void)
{
	map(16 * MIB, MAP_POPULATE);
	__asm__ volatile("");
}

CHAIN static void moves(void)
{
	char *memory = map(10 * MIB, 0);

	touch(memory, 10 * MIB);
	/* Something behind it, so that it has to move. */
	mmap(memory + 10 * MIB, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mremap(memory, 10 * MIB, 33 * MIB, MREMAP_MAYMOVE) == memory)
		puts("not moved");
}

CHAIN static void reads_file(void)
{
	char *memory = map(8 * MIB, 0);
	int fd = open("/dev/zero", O_RDONLY);

	if (read(fd, memory, 8 * MIB) != (ssize_t)(8 * MIB))
		puts("short");
	close(fd);
}

CHAIN static void reads_only(void)
{
	char *memory = map(12 * MIB, 0);
	volatile char sum = 0;

	for (size_t i = 0; i < 12 * MIB; i += PAGE)
		sum += ((volatile char *)memory)[i];
}

CHAIN static void child_writes(char *memory)
{
	touch(memory, 4 * MIB);
	touch(map(6 * MIB, 0), 6 * MIB);
}

int main(int argc, char **argv)
{
	char *memory, go;
	pid_t child = -1;

	if (argc > 1)
		sleep((unsigned int)atoi(argv[1]));
	else
		(void)!read(0, &go, 1);
	keeps();
	gives_back();
	memory = map(24 * MIB, 0);
	writes_first(memory);
	madvise(memory, 24 * MIB, MADV_DONTNEED);
	writes_again(memory);
	huge_pages();
	unmaps();
	populates();
	moves();
	reads_file();
	reads_only();
	child = fork();
	if (child == 0) {
		child_writes(memory);
		pause();
		_exit(0);
	}
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
