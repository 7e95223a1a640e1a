// SPDX-License-Identifier: BSD-2-Clause
/* Tables of numbers, and the stacks of threads. Their memory is mapped, not allocated: what a
 * program allocates is counted by others. */
#include <sys/mman.h>

#include "preload/python_calls.h"

#define FIRST_SLOTS	1024U
#define FIRST_DEPTH	512U
#define FIRST_FUNCTIONS 1024U
#define FIRST_EDGES	4096U

static void *map_zeros(size_t bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/* ---- numbers ---- */

static void place(struct calls_table *table, const struct calls_slot *slot)
{
	uint32_t i = calls_hash(slot->key, slot->second) & table->mask;

	while (table->slots[i].number)
		i = (i + 1) & table->mask;
	table->slots[i] = *slot;
}

static bool grow(struct calls_table *table)
{
	uint32_t count = table->slots ? 2 * (table->mask + 1) : FIRST_SLOTS;
	struct calls_table grown = {.mask = count - 1, .used = table->used};

	grown.slots = map_zeros(count * sizeof(*grown.slots));
	if (!grown.slots)
		return false;
	for (uint32_t i = 0; table->slots && i <= table->mask; i++)
		if (table->slots[i].number)
			place(&grown, &table->slots[i]);
	calls_table_done(table);
	*table = grown;
	return true;
}

bool calls_put(struct calls_table *table, uint64_t key, uint32_t second, uint32_t number)
{
	const struct calls_slot slot = {key, second, number};

	/* One in three is empty at least. */
	if ((!table->slots || table->used > table->mask / 3 * 2) && !grow(table))
		return false;
	place(table, &slot);
	table->used++;
	return true;
}

void calls_table_done(struct calls_table *table)
{
	if (table->slots)
		munmap(table->slots, ((size_t)table->mask + 1) * sizeof(*table->slots));
	*table = (struct calls_table){0};
}

/* ---- threads ---- */

/* Room for `wanted` rows; new ones are zero. */
static bool make_room(void **rows, uint32_t *count, uint32_t wanted, size_t size)
{
	uint32_t most = *count;
	void *grown;

	while (most < wanted)
		most *= 2;
	if (most == *count)
		return true;
	grown = mremap(*rows, *count * size, most * size, MREMAP_MAYMOVE);
	if (grown == MAP_FAILED)
		return false;
	*rows = grown;
	*count = most;
	return true;
}

struct calls_thread *calls_thread_new(void)
{
	struct calls_thread *thread = map_zeros(sizeof(*thread));

	if (!thread)
		return NULL;
	thread->stack = map_zeros(FIRST_DEPTH * sizeof(*thread->stack));
	thread->function_depths = map_zeros(FIRST_FUNCTIONS * sizeof(uint32_t));
	thread->edge_depths = map_zeros(FIRST_EDGES * sizeof(uint32_t));
	thread->capacity = FIRST_DEPTH;
	thread->functions = FIRST_FUNCTIONS;
	thread->edges = FIRST_EDGES;
	if (thread->stack && thread->function_depths && thread->edge_depths)
		return thread;
	calls_thread_free(thread);
	return NULL;
}

void calls_thread_free(struct calls_thread *thread)
{
	if (!thread)
		return;
	if (thread->stack)
		munmap(thread->stack, thread->capacity * sizeof(*thread->stack));
	if (thread->function_depths)
		munmap(thread->function_depths, thread->functions * sizeof(uint32_t));
	if (thread->edge_depths)
		munmap(thread->edge_depths, thread->edges * sizeof(uint32_t));
	munmap(thread, sizeof(*thread));
}

void calls_thread_clear(struct calls_thread *thread, uint64_t generation)
{
	while (thread->depth || thread->beyond)
		calls_leave(thread);
	thread->generation = generation;
}

bool calls_thread_grow(struct calls_thread *thread, uint32_t edge, uint32_t function)
{
	void *stack = thread->stack, *functions = thread->function_depths;
	void *edges = thread->edge_depths;
	bool has_room =
		thread->depth < CALLS_DEEPEST &&
		make_room(&stack, &thread->capacity, thread->depth + 1, sizeof(*thread->stack)) &&
		make_room(&functions, &thread->functions, function + 1, sizeof(uint32_t)) &&
		make_room(&edges, &thread->edges, edge + 1, sizeof(uint32_t));

	thread->stack = stack;
	thread->function_depths = functions;
	thread->edge_depths = edges;
	return has_room;
}
