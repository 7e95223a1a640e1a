/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frames of a stack that tell a reader where the program is. Frames that all stacks of a sort
 * have in common, how the kernel was entered, how it switches threads, how programs start, are
 * plumbing; plumbing_table.h lists them.
 */
#ifndef PKBPF_ROWS_PLUMBING_H
#define PKBPF_ROWS_PLUMBING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/function_table.h"

enum frame_sort {
	FRAME_OF_PLACE, /* tells one place from another */
	FRAME_INSIDE,	/* scheduling, faults, interrupts, block layer, entry: never shown */
	FRAME_OF_CALL,	/* body of a system call, which its caller in user space names */
	FRAME_IS_CALL,	/* __x64_sys_read: shown where its caller is not called like it */
	FRAME_BEGINS, /* start of threads, or runs the program: shown when it calls nothing else */
};

struct plumbing {
	const struct function_table *functions; /* borrowed */
	uint8_t *sorts;				/* enum frame_sort, by function */
};

/* -ENOMEM. */
int plumbing_init(struct plumbing *plumbing, const struct function_table *functions);
void plumbing_done(struct plumbing *plumbing);
/* Sort of a function by its name; for tests. */
enum frame_sort plumbing_sort(const struct function *function);
/* A C function of CPython itself: below a Python function it only says how that is run. */
bool plumbing_is_of_interpreter(const struct function *function);
/* Removes plumbing from a stack, leaf first, in place. Returns how many functions are left: at
 * least one, unless there was none. */
size_t plumbing_remove(const struct plumbing *plumbing, uint32_t *functions, size_t count);

#endif
