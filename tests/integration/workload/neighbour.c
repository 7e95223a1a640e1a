// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O1 -fomit-frame-pointer
/*
 * An innocent program beside one that floods: until SIGTERM, rounds of half a millisecond of
 * computing, a sleep, a page that nobody has touched before.
 */
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGES 4096

static volatile sig_atomic_t ends;
static volatile unsigned int sink;

static void end(int number)
{
	(void)number;
	ends = 1;
}

static long long cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

__attribute__((noinline)) void neighbour_computes(long long ns)
{
	long long until = cpu_ns() + ns;

	while (cpu_ns() < until)
		for (int i = 0; i < 20000; i++)
			sink += (unsigned int)i ^ sink << 1;
}

__attribute__((noinline)) void neighbour_sleeps(void)
{
	struct timespec rest = {.tv_nsec = 200000};

	nanosleep(&rest, NULL);
	sink++;
}

__attribute__((noinline)) void neighbour_touches(char *page)
{
	*(volatile char *)page = 1;
	sink++;
}

int main(void)
{
	size_t size = PAGES * (size_t)sysconf(_SC_PAGESIZE);
	char *pages = MAP_FAILED;
	long long rounds = 0;

	signal(SIGTERM, end);
	for (; !ends; rounds++) {
		if (rounds % PAGES == 0) {
			if (rounds)
				munmap(pages, size);
			pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			if (pages == MAP_FAILED || madvise(pages, size, MADV_NOHUGEPAGE))
				return 1;
		}
		neighbour_computes(500000);
		neighbour_sleeps();
		neighbour_touches(pages + rounds % PAGES * (size_t)sysconf(_SC_PAGESIZE));
	}
	return 0;
}
