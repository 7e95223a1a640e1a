// SPDX-License-Identifier: BSD-2-Clause
// cflags: -O2 -fno-omit-frame-pointer -fno-optimize-sibling-calls
// ldflags: -pthread
/*
 * generated_wait: as generated_chain, but the innermost of the functions calls a compiled one,
 * which sleeps for 20 ms and works for a short time. 16 threads do that again and again for four
 * seconds: work -> outer -> inner -> the functions -> waits.
 */
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define FIRST	48
#define SIZE	(512 << 10)
#define THREADS 16

static const uint8_t code[] = {
	/* sub $8,%rsp; call *%rdi; add $8,%rsp; ret */
	0x48,
	0x83,
	0xec,
	0x08,
	0xff,
	0xd7,
	0x48,
	0x83,
	0xc4,
	0x08,
	0xc3,
	0xcc,
	0xcc,
	0xcc,
	0xcc,
	0xcc,
	0xcc,
	0xcc,
	0xcc,
	0xcc,
	0xcc,
	0xcc,
	0xcc,
	0xcc,
	0xcc,
	0xcc,
	0xcc,
	0xcc,
	0xcc,
	0xcc,
	0xcc,
	0xcc,
	/* sub $0x28,%rsp; call of the one above; add $0x28,%rsp; ret */
	0x48,
	0x83,
	0xec,
	0x28,
	0xe8,
	0xd7,
	0xff,
	0xff,
	0xff,
	0x48,
	0x83,
	0xc4,
	0x28,
	0xc3,
	0xcc,
	0xcc,
	/* The same again. */
	0x48,
	0x83,
	0xec,
	0x18,
	0xe8,
	0xe7,
	0xff,
	0xff,
	0xff,
	0x48,
	0x83,
	0xc4,
	0x18,
	0xc3,
};

static volatile unsigned int calls;
static void (*generated)(void (*)(void));

static __attribute__((noinline)) void waits(void)
{
	struct timespec time = {.tv_nsec = 20000000};

	nanosleep(&time, NULL);
	for (int i = 0; i < 100000; i++)
		calls++;
}

static __attribute__((noinline)) void inner(void)
{
	generated(waits);
	calls++;
}

static __attribute__((noinline)) void outer(void)
{
	inner();
	calls++;
}

static __attribute__((noinline)) void *work(void *none)
{
	struct timespec start, now;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		outer();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec - start.tv_sec + (now.tv_nsec - start.tv_nsec) * 1e-9 < 4);
	return none;
}

int main(void)
{
	char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t threads[THREADS];

	if (memory == MAP_FAILED)
		return 1;
	memory += 256 << 10;
	memcpy(memory, code, sizeof(code));
	memory += FIRST;
	memcpy(&generated, &memory, sizeof(generated));
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
