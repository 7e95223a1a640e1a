/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts and classes of stack ends. */
#ifndef PKBPF_PROFILE_STACK_END_H
#define PKBPF_PROFILE_STACK_END_H

#include <stdbool.h>

#include <pkbpf/event.h>

#include "symbol/symbolizer.h"

/* "no unwind info"; never NULL. */
const char *stack_end_text(enum pkbpf_stack_end end);
/* True when unwinding reached the thread's root and each step was verified. False for NONE
 * (nothing was unwound) and for GUESSED. */
bool stack_end_is_complete(enum pkbpf_stack_end end);
/* True when the stack no longer existed (in execve): nothing to unwind, nothing truncated. */
bool stack_end_is_gone(enum pkbpf_stack_end end);
/* True when unwinding is known to have stopped early. False for UNVERIFIED, of which nothing is
 * known, and for GUESSED, which may lack frames in between. */
bool stack_end_is_truncated(enum pkbpf_stack_end end);
/* A line named "[truncated: no unwind info]", the name of a FRAME_TRUNCATED frame. */
const struct symbol_line *stack_end_line(enum pkbpf_stack_end end);

#endif
