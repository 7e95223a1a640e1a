/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides when a capture that has a limit of memory gives up detail, and which comes next. It knows
 * no profile: live_memory.c takes the steps.
 */
#ifndef PKBPF_LIVE_MEMORY_LIMIT_H
#define PKBPF_LIVE_MEMORY_LIMIT_H

#include <stdint.h>

/* In the order in which they are taken: each costs more detail than those before it. The last two
 * can be taken again and again. Sums stay exact in all of them. */
enum memory_step {
	MEMORY_STEP_TABLES = 0,	   /* symbol tables that are not in use: can be read again */
	MEMORY_STEP_PROCESSES = 1, /* exited processes lose their pids */
	MEMORY_STEP_LINES = 2,	   /* no lines, no inlined functions */
	MEMORY_STEP_SHORTEN = 3,   /* rare stacks lose their inner half */
	MEMORY_STEP_JOIN = 4,	   /* rare stacks are counted as one */
	MEMORY_STEP_COUNT,
};

struct memory_limit {
	uint64_t limit_bytes; /* 0: none */
	uint64_t peak_bytes;
	uint64_t next_look_ns;
	uint32_t next_step;
	uint64_t taken[MEMORY_STEP_COUNT];
	uint64_t looks_above; /* that found more than the limit */
};

/* How often memory is measured: an allocation of 100 MiB takes longer. */
#define MEMORY_LOOK_NS 250000000ULL

static inline int memory_limit_is_due(const struct memory_limit *limit, uint64_t now_ns)
{
	return limit->limit_bytes && now_ns >= limit->next_look_ns;
}

/* Takes note of the memory in use. Returns the step to take, -1: none. */
int memory_limit_look(struct memory_limit *limit, uint64_t used_bytes, uint64_t now_ns);
/* "exited processes are grouped": for the log. */
const char *memory_step_text(enum memory_step step);

/* Shares of a limit, for tables that are made when the capture begins, and for bounds of what
 * grows. Each is at most `most`, its size without a limit. */
uint64_t memory_limit_share(uint64_t limit_bytes, uint32_t parts, uint64_t most);

#endif
