// SPDX-License-Identifier: BSD-2-Clause
/* Allocates by known chains of functions, and prints for each what it has allocated and what is
 * still alive: "chain allocated alive". */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone, no_icf))

/* The compiler must leave allocations alone, and calls no tail calls. */
static void *volatile here;
static volatile int depth;

#define CHAIN(name, body)                                                                          \
	static NOINLINE void *name##_leaf(size_t size)                                             \
	{                                                                                          \
		void *block = body;                                                                \
		depth++;                                                                           \
		return block;                                                                      \
	}                                                                                          \
	static NOINLINE void *name(size_t size)                                                    \
	{                                                                                          \
		void *block = name##_leaf(size);                                                   \
		depth--;                                                                           \
		return block;                                                                      \
	}

CHAIN(churn, malloc(size))
CHAIN(small_leak, malloc(size))
CHAIN(kilobyte_leak, malloc(size))
CHAIN(queue, malloc(size))
CHAIN(large_leak, malloc(size))
CHAIN(zeroed_leak, calloc(1, size))
CHAIN(burst, malloc(size))
CHAIN(handed_over, malloc(size))
CHAIN(aligned_leak, aligned_alloc(64, size))

static NOINLINE void *grown(void *block, size_t size)
{
	block = realloc(block, size);
	depth++;
	return block;
}

static void print(const char *chain, uint64_t allocated, uint64_t alive)
{
	printf("%s %llu %llu\n", chain, (unsigned long long)allocated, (unsigned long long)alive);
}

static void *kept[20000];

static void *free_kept(void *count)
{
	for (size_t i = 0; i < (size_t)(uintptr_t)count; i++)
		free(kept[i]);
	return NULL;
}

static void leak(const char *chain, void *(*allocate)(size_t), size_t count, size_t size)
{
	for (size_t i = 0; i < count; i++)
		here = allocate(size);
	print(chain, count * size, count * size);
}

int main(void)
{
	void *ring[1000] = {0};
	pthread_t thread;

	for (size_t i = 0; i < 1000000; i++)
		free(here = churn(100));
	print("churn", 100000000, 0);
	leak("small_leak", small_leak, 40000, 100);
	leak("kilobyte_leak", kilobyte_leak, 8000, 1000);
	leak("large_leak", large_leak, 10, 1 << 20);
	leak("zeroed_leak", zeroed_leak, 10000, 300);
	leak("aligned_leak", aligned_leak, 10000, 320);
	for (size_t i = 0; i < 20000; i++) {
		free(ring[i % 1000]);
		ring[i % 1000] = queue(4000);
	}
	print("queue", 80000000, 4000000);
	for (size_t i = 0; i < 20000; i++)
		kept[i] = burst(200);
	free_kept((void *)20000);
	print("burst", 4000000, 0);
	for (size_t i = 0; i < 20000; i++)
		kept[i] = handed_over(130);
	pthread_create(&thread, NULL, free_kept, (void *)20000);
	pthread_join(thread, NULL);
	print("handed_over", 2600000, 0);
	here = NULL;
	for (size_t i = 1; i <= 200; i++)
		here = grown(here, i * 1000);
	print("grown", 20100000, 200000);
	return 0;
}
