/* SPDX-License-Identifier: BSD-2-Clause */
/* Chooses allocations, and reports them and their end through two probes:
 *
 *	otel_memory:alloc(address, size, weighted_bytes)	otel_memory:free(address)
 *
 * A free is reported before the address can be used again. Nothing here prints, allocates, fails
 * or changes errno. Any thread. */
#ifndef PKBPF_PRELOAD_SAMPLER_H
#define PKBPF_PRELOAD_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Mean bytes between two samples of a thread; a decimal number. Without it, a default is doubled in
 * processes that take many samples. */
#define SAMPLER_INTERVAL_VARIABLE "PKBPF_ALLOC_INTERVAL"
#define SAMPLER_DEFAULT_INTERVAL  65536

struct sampler_thread {
	/* Bytes that this thread may allocate before its next sample; 0: not drawn yet. */
	uint64_t left;
	uint64_t interval; /* with which `left` was drawn */
	uint64_t random;
	bool has_begun;
	bool is_busy; /* inside a probe: a signal handler may allocate meanwhile */
};

/* Reached without a function call (-ftls-model=initial-exec): the library is there from the start.
 */
extern __thread struct sampler_thread sampler_thread;

/* The common case, one comparison: an allocation that is not sampled. */
static inline bool sampler_passes(size_t size)
{
	if (__builtin_expect(size >= sampler_thread.left, 0))
		return false;
	sampler_thread.left -= size;
	return true;
}

/* Bytes for which an allocation stands that did not pass; 0: it is not sampled after all. */
uint64_t sampler_choose(size_t size);
void sampler_allocated(void *address, size_t size, uint64_t weight);
/* For addresses that live_may_have(). */
void sampler_freed(void *address);

/* The process's environment is there. disable: sample nothing from now on. */
void sampler_begin(bool disable);

#endif
