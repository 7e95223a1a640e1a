/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts of Python calls and lines inside an interpreter: the tables, and the file behind them.
 * Callers hold the GIL. */
#ifndef PKBPF_PRELOAD_PYTHON_CALLS_H
#define PKBPF_PRELOAD_PYTHON_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pkbpf/python_calls.h>

/* ---- the file (python_calls_file.c) ---- */

extern struct pkbpf_python_head *calls_head; /* NULL: there is no file */
extern struct pkbpf_python_edge *calls_edges;
extern struct pkbpf_python_line *calls_lines;

/* Makes the file of this process, in the directory that the variable names. false: it cannot be. */
bool calls_file_open(const char *directory, size_t directory_length, uint32_t version);
/* The next row of an area, zeroed; 0: there is no room. */
uint32_t calls_new_function(void);
uint32_t calls_new_edge(void);
uint32_t calls_new_line(void);
struct pkbpf_python_function *calls_function(uint32_t function);
/* Where a copy of the text is, with its NUL; 0: there is no room. */
uint32_t calls_put_string(const char *text, size_t length);

/* ---- tables (python_calls_table.c) ---- */

/* Number of what two keys name together; zero-initialized: empty. */
struct calls_slot {
	uint64_t key;
	uint32_t second;
	uint32_t number; /* 0: empty */
};

struct calls_table {
	struct calls_slot *slots;
	uint32_t mask, used;
};

static inline uint32_t calls_hash(uint64_t key, uint32_t second)
{
	uint64_t hash = (key ^ (uint64_t)second << 40 ^ second) * 0x9E3779B97F4A7C15ULL;

	return (uint32_t)(hash >> 32);
}

/* 0: it is not there. */
static inline uint32_t calls_find(const struct calls_table *table, uint64_t key, uint32_t second)
{
	if (!table->slots)
		return 0;
	for (uint32_t i = calls_hash(key, second) & table->mask;; i = (i + 1) & table->mask) {
		const struct calls_slot *slot = &table->slots[i];

		if (slot->key == key && slot->second == second && slot->number)
			return slot->number;
		if (!slot->number)
			return 0;
	}
}

/* It is not there yet. false: out of memory. */
bool calls_put(struct calls_table *table, uint64_t key, uint32_t second, uint32_t number);
void calls_table_done(struct calls_table *table);

/* ---- what a thread is in ---- */

#define CALLS_DEEPEST (1U << 20)

struct calls_entry {
	uint32_t edge, function; /* 0: of what found no room */
};

struct calls_thread {
	uint64_t generation;
	struct calls_entry *stack;
	uint32_t depth, capacity;
	uint32_t beyond; /* calls above the deepest entry */
	/* How often each is on the stack. */
	uint32_t *function_depths, *edge_depths;
	uint32_t functions, edges; /* places in both */
};

/* NULL: out of memory. */
struct calls_thread *calls_thread_new(void);
void calls_thread_free(struct calls_thread *thread);
/* Nothing is on its stack. */
void calls_thread_clear(struct calls_thread *thread, uint64_t generation);
/* Makes room for one more call, by way of this edge. false: out of memory. */
bool calls_thread_grow(struct calls_thread *thread, uint32_t edge, uint32_t function);

static inline uint32_t calls_caller(const struct calls_thread *thread)
{
	return thread->depth ? thread->stack[thread->depth - 1].function : 0;
}

/* edge 0: it found no room. */
static inline void calls_enter(struct calls_thread *thread, uint32_t edge, uint32_t function)
{
	struct pkbpf_python_edge *row = &calls_edges[edge];

	if (thread->beyond || thread->depth == thread->capacity || edge >= thread->edges ||
	    function >= thread->functions) {
		if (thread->beyond || !calls_thread_grow(thread, edge, function)) {
			thread->beyond++;
			calls_head->lost_calls++;
			return;
		}
	}
	thread->stack[thread->depth++] = (struct calls_entry){edge, function};
	if (!edge) {
		calls_head->lost_calls++;
		return;
	}
	row->calls++;
	if (!thread->function_depths[function]++)
		row->primitive++;
	if (!thread->edge_depths[edge]++)
		row->first++;
}

static inline void calls_leave(struct calls_thread *thread)
{
	const struct calls_entry *entry;

	if (thread->beyond) {
		thread->beyond--;
		return;
	}
	if (!thread->depth)
		return;
	entry = &thread->stack[--thread->depth];
	if (!entry->edge)
		return;
	thread->function_depths[entry->function]--;
	thread->edge_depths[entry->edge]--;
}

#endif
