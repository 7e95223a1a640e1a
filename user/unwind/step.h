/* SPDX-License-Identifier: BSD-2-Clause */
/* Unwinds a user stack in user space with the same step as the BPF programs. */
#ifndef PKBPF_UNWIND_STEP_WALK_H
#define PKBPF_UNWIND_STEP_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pkbpf/event.h>
#include <pkbpf/unwind.h>
#include <pkbpf/unwind_state.h>

/* A mapping, as far as unwinding needs it. */
struct unwind_code {
	uint64_t start, end; /* end exclusive */
	uint64_t bias;
	uint32_t flags;	   /* PKBPF_MAPPING_ANONYMOUS or NO_TABLE: no rules here */
	const void *table; /* for find_rule */
};

struct unwind_walk_ops {
	/* Returns 0, PKBPF_END_NO_MAPPING or PKBPF_END_NO_TABLE. */
	uint32_t (*find_code)(void *context, uint64_t address, struct unwind_code *ret_code);
	/* Returns false when no rule is known for this ELF address. */
	bool (*find_rule)(void *context, const struct unwind_code *code, uint64_t elf_address,
			  struct pkbpf_unwind_rule *ret_rule);
	/* Reads all bytes (0) or returns a negative errno. */
	int (*read_memory)(void *context, uint64_t address, void *buffer, size_t size);
	/* Base address of thread-local variables: 0 or a negative errno. NULL: unknown. */
	int (*thread_pointer)(void *context, __u64 *ret_address);
};

struct unwind_walk_options {
	bool exact;    /* ip is the next instruction; false: the return address of a system call */
	bool no_guess; /* never use frame pointers */
	/* The Python part of the stack, to be merged into the native frames: anchors and frames
	 * (python.h). */
	const uint64_t *python;
	size_t python_count;
	const struct pkbpf_python_process *interpreter; /* NULL: unknown */
};

struct unwind_walk_result {
	enum pkbpf_stack_end end;
	size_t depth;
	size_t guessed;
};

/* Fills at most `limit` ips, leaf first and with PKBPF_INTERRUPTED. regs are in the order of struct
 * pkbpf_event_raw_stack. */
struct unwind_walk_result unwind_walk(const struct unwind_walk_ops *ops, void *context,
				      const uint64_t regs[PKBPF_REGS],
				      const struct unwind_walk_options *options, uint64_t *ips,
				      size_t limit);

#endif
