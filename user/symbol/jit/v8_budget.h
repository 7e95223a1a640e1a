/* SPDX-License-Identifier: BSD-2-Clause */
/* Limits how much of a process is read for names and lines: it decides what is read, and the thread
 * that reads also builds stacks. One owner thread. */
#ifndef PKBPF_SYMBOL_JIT_V8_BUDGET_H
#define PKBPF_SYMBOL_JIT_V8_BUDGET_H

#include "v8/v8_memory.h"

/* Per second: 262,144 calls, or about a tenth of the time of one CPU. */
#define V8_BUDGET_BYTES (128U << 20)
/* A system call takes as long as copying so many bytes. */
#define V8_BUDGET_CALL_BYTES 512U

struct v8_budget {
	struct v8_memory memory;
	uint64_t begin_ns; /* of the current second */
	uint64_t left;	   /* bytes of it; 0: before the first v8_budget_begin() */
	uint64_t refused;  /* reads so far */
};

/* Begins to read at a time (CLOCK_MONOTONIC). */
void v8_budget_begin(struct v8_budget *budget, uint64_t now_ns);
/* Whether so many bytes can be read now. */
bool v8_budget_has(const struct v8_budget *budget, uint64_t bytes);
/* `read` of struct v8_memory with a budget as context. -EAGAIN: it is spent for this second. */
int v8_budget_read(void *context, uint64_t address, void *buffer, size_t size);

#endif
