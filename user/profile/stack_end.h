/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts and classes of stack ends. */
#ifndef PKBPF_PROFILE_STACK_END_H
#define PKBPF_PROFILE_STACK_END_H

#include <stdbool.h>

#include <pkbpf/event.h>

#include "symbol/symbolizer.h"

/* "no unwind info"; never NULL. */
const char *stack_end_text(enum pkbpf_stack_end end);
/* The unwinding reached the thread's root, and each step was verified. False for NONE, which is no
 * walk at all, and for GUESSED. */
bool stack_end_is_complete(enum pkbpf_stack_end end);
/* The program's stack was already gone when it was looked for (in execve): nothing can be unwound,
 * nothing is cut. */
bool stack_end_is_gone(enum pkbpf_stack_end end);
/* The unwinding is known to have stopped early; false for UNVERIFIED, of which nothing is known,
 * and for GUESSED, of which frames between may be missing. */
bool stack_end_is_truncated(enum pkbpf_stack_end end);
/* One line named "[truncated: no unwind info]": what a FRAME_TRUNCATED frame is called. */
const struct symbol_line *stack_end_line(enum pkbpf_stack_end end);

#endif
