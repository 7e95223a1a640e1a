/* SPDX-License-Identifier: BSD-2-Clause */
/* Puts the Python frames of a thread into its native stack, as bpf/python_merge.bpf.c does. */
#ifndef PKBPF_UNWIND_PYTHON_MERGE_H
#define PKBPF_UNWIND_PYTHON_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pkbpf/unwind.h>

/* Chains of frames of one thread: it has one in each interpreter whose code it runs. */
#define PYTHON_MERGE_CHAINS 4

struct python_merge {
	const uint64_t *words; /* anchors and frames (python.h) */
	size_t starts[PYTHON_MERGE_CHAINS], ends[PYTHON_MERGE_CHAINS], nexts[PYTHON_MERGE_CHAINS];
	size_t chains;
};

/* A stack that grows, leaf first. */
struct python_merge_stack {
	uint64_t *ips;
	size_t depth, limit;
	uint32_t cut; /* enum pkbpf_unwind_end: why outer frames are missing; 0: they are not */
};

/* Borrows the words. */
void python_merge_init(struct python_merge *merge, const uint64_t *words, size_t count);
void python_merge_rewind(struct python_merge *merge);
/* Adds the run of frames that belongs behind the native frame just unwound, which ends at sp. */
void python_merge_push(struct python_merge *merge, uint64_t sp, struct python_merge_stack *stack);
/* Adds what is left at the end of the native stack. interpreter: NULL: unknown. */
void python_merge_push_rest(struct python_merge *merge,
			    const struct pkbpf_python_process *interpreter, bool is_complete,
			    struct python_merge_stack *stack);

#endif
