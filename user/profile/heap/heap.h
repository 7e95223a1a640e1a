/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What sampled allocations say of the heaps of processes: which are alive, and for each place in
 * the code (site) what was born and what has ended, by generation. One owner thread.
 *
 * A sampled allocation of `size` bytes stands for `weight` bytes (alloc.h). Sums of weights are
 * unbiased; the variance of a sum is estimated by the sum of (1 - size / weight) * weight^2 over
 * its samples.
 */
#ifndef PKBPF_PROFILE_HEAP_HEAP_H
#define PKBPF_PROFILE_HEAP_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pkbpf/event.h>

/* Parts of equal length of the time since the first allocation. When there would be more, pairs
 * become one: from then on at least half of them are in use. */
#define HEAP_GENERATIONS 16

/* Live allocations and sites of all processes; 48 bytes and 0.3 to 2 KiB each. Further allocations
 * are refused; further sites of a process become one without a stack. */
#define HEAP_MAX_BLOCKS (1U << 21)
#define HEAP_MAX_SITES	(1U << 15)
#define HEAP_NO_PROCESS UINT32_MAX

/* An allocation that lived no longer is a temporary one. */
#define HEAP_BRIEF_NS 1000000ULL

struct heap_sum {
	double bytes, variance, objects;
	uint64_t samples;
};

struct heap_generation {
	float bytes, variance, samples;
};

/* Allocations of a site that were born in one generation and ended in another. */
struct heap_endings {
	struct heap_generation born_ended[HEAP_GENERATIONS][HEAP_GENERATIONS];
};

struct heap_site {
	uint32_t process; /* id in the process table */
	uint64_t stack_id;
	char comm[PKBPF_COMM_SIZE + 1]; /* of the first thread there */
	struct heap_sum born, live, brief;
	double bytes_at_peak;				/* heap_bytes_at_peak() */
	uint64_t peak;					/* of the process, since which it changed */
	struct heap_generation alive[HEAP_GENERATIONS]; /* by generation of birth */
	struct heap_endings *endings;			/* NULL: none late enough to matter */
};

struct heap_block {
	uint64_t born_ns;
	uint64_t size, weight;
	uint32_t site;
};

struct heap_alloc {
	uint32_t process;
	uint64_t stack_id;
	const char *comm;
	uint64_t time_ns;
	uint64_t address, size, weight; /* 0 < size <= weight */
};

struct heap;

struct heap *heap_new(void); /* NULL: out of memory */
void heap_free(struct heap *heap);
/* -ENOMEM, also beyond HEAP_MAX_BLOCKS. A live allocation at the same address has ended. */
int heap_add(struct heap *heap, const struct heap_alloc *alloc);
/* The allocation at this address has ended, unless it is younger. Others are ignored. */
void heap_end(struct heap *heap, uint32_t process, uint64_t address, uint64_t time_ns);
/* The memory of the process is gone (exec). Nothing of it counts as alive, or as freed. */
void heap_forget(struct heap *heap, uint32_t process, uint64_t time_ns);

/* Of sites of a process for which place_of() is the same (UINT32_MAX: none), the first one gets the
 * sums of all, and the others are empty: stacks that are unwound later have an id for each sample.
 * At the end: from then on only heap_each_live(), whose sites keep their own stacks, and
 * heap_remove() are right. Without memory some stay apart. */
typedef uint32_t heap_place_fn(void *context, const struct heap_site *site);
void heap_merge_sites(struct heap *heap, uint32_t process, heap_place_fn *place_of, void *context);
/* Forgets a process with all its sites. */
void heap_remove(struct heap *heap, uint32_t process);
/* Process ids in use are marked. */
void heap_mark_processes(const struct heap *heap, bool *is_used);
/* The next process id from *cursor (at first 0) on; UINT32_MAX: no more. */
uint32_t heap_next_process(const struct heap *heap, size_t *cursor);

/* Calls take for each live allocation of a process (UINT32_MAX: of all). */
typedef void heap_block_fn(void *context, const struct heap_site *site,
			   const struct heap_block *block);
void heap_each_live(const struct heap *heap, uint32_t process, heap_block_fn *take, void *context);

const struct heap_site *heap_sites(const struct heap *heap, size_t *ret_count);
/* Alive when the process had most. */
double heap_bytes_at_peak(const struct heap *heap, const struct heap_site *site);
uint64_t heap_start_ns(const struct heap *heap); /* 0: nothing yet */
uint64_t heap_generation_ns(const struct heap *heap);
/* Live bytes of a process now, at their peak with its time, and on average since its first
 * allocation. */
struct heap_level {
	double bytes, peak_bytes, mean_bytes;
	uint64_t peak_ns;
};
/* end_ns: of the mean. */
struct heap_level heap_level(const struct heap *heap, uint32_t process, uint64_t end_ns);

#endif
