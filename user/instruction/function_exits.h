/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where probes see each call of a function begin and end, without changing what is on its stack.
 *
 * A return probe replaces the return address, which kills programs whose stacks others read: C++
 * exceptions, coroutines, Go. Instead all instructions are decoded that leave the function. No
 * probe is on an address that decoding from the function's start does not reach.
 */
#ifndef PKBPF_INSTRUCTION_FUNCTION_EXITS_H
#define PKBPF_INSTRUCTION_FUNCTION_EXITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "instruction/x86_instruction.h"

/* A function with more is not measured. */
#define FUNCTION_EXITS_MAX 64

enum function_exit_kind {
	FUNCTION_EXIT_ALWAYS,
	FUNCTION_EXIT_BRANCH,	/* when its condition is met */
	FUNCTION_EXIT_INDIRECT, /* when the target is outside of the function */
};

struct function_exit {
	uint32_t at; /* from the function's start */
	enum function_exit_kind kind;
	uint8_t condition; /* BRANCH: as in the instruction */
	uint8_t scale;	   /* INDIRECT through memory: of the index; 0: none */
	struct x86_instruction instruction;
};

enum function_refusal {
	FUNCTION_IS_KNOWN,
	FUNCTION_IS_NOT_CODE,	     /* decoding does not reach its end */
	FUNCTION_HAS_NO_ENTRY,	     /* every instruction for an entry probe may break it */
	FUNCTION_HAS_TOO_MANY_EXITS, /* the entry is known */
	FUNCTION_HAS_UNKNOWN_EXITS,  /* the entry is known */
	FUNCTION_HAS_NO_EXIT,	     /* the entry is known: it never returns */
	FUNCTION_IS_LOOP,	     /* begins with a loop, and has no known exits */
	FUNCTION_IS_ONE_JUMP,	     /* or return; the entry is known */
};

struct function_probes {
	enum function_refusal refusal;
	uint32_t entry;	      /* of the probe, from the function's start */
	uint32_t stack_bytes; /* that the code before it has pushed */
	bool has_loop;	      /* the function jumps to where it begins */
	bool is_emulated;     /* the kernel need not step over the instruction of the entry */
	struct function_exit exits[FUNCTION_EXITS_MAX];
	size_t exit_count;
};

/* Decodes the code of a function from its start to its end. */
void function_probes_find(const uint8_t *code, size_t size, struct function_probes *ret_probes);
/* true: its calls can be counted, though perhaps not measured. */
bool function_probes_has_entry(const struct function_probes *probes);
/* Is its target in the instruction? */
bool function_exit_is_direct(const struct function_exit *exit);
/* A sentence about why a function is not measured, or "". */
const char *function_refusal_text(enum function_refusal refusal);

#endif
