/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums over the rows of one profile kind: by process, by function, by stack. */
#ifndef PKBPF_ROWS_TALLY_H
#define PKBPF_ROWS_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "profile/function_table.h"
#include "profile/profile.h"

#define TALLY_NO_FUNCTION UINT32_MAX

struct tally_process {
	uint32_t process;
	uint64_t count, weight;
	/* by self weight, in Python programs by that of Python's functions with the native code
	 * they call; TALLY_NO_FUNCTION when it had no frame */
	uint32_t hottest_function;
	uint64_t hottest_weight;
};

struct tally_function {
	uint32_t function;
	uint64_t self, total; /* weights; recursion counts once per stack */
	uint64_t python;      /* of stacks whose innermost Python function it is */
};

struct tally_stack {
	uint32_t stack;	  /* tally_stack_functions() */
	uint32_t comm;	  /* profile_string() */
	uint32_t process; /* the first one seen with it */
	uint32_t process_count;
	uint64_t weight;
};

struct tally_unnamed {
	uint64_t addresses;   /* distinct */
	uint64_t self_weight; /* of stacks whose leaf it is */
};

struct tally {
	enum pkbpf_profile_kind kind;
	uint64_t count, weight;
	uint64_t process_count;
	struct tally_process *processes; /* largest weight first, as all of these */
	size_t function_count;
	struct tally_function *by_self, *by_total, *by_python;
	size_t stack_count;
	struct tally_stack *stacks;
	struct tally_unnamed unnamed[SYMBOL_RESULT_COUNT];

	struct function_table *functions;
	struct stack_table *function_stacks;
};

/* Of a symbolized profile. -ENOMEM. */
int tally_init(struct tally *tally, const struct profile *profile, enum pkbpf_profile_kind kind,
	       bool lines);
void tally_done(struct tally *tally);
/* Functions of a stack, leaf first. */
const uint32_t *tally_stack_functions(const struct tally *tally, uint32_t stack, size_t *ret_count);

#endif
