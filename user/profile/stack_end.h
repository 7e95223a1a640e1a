/* SPDX-License-Identifier: BSD-2-Clause */
/* Texts and classes of stack ends. */
#ifndef PKBPF_PROFILE_STACK_END_H
#define PKBPF_PROFILE_STACK_END_H

#include <stdbool.h>
#include <stdint.h>

#include <pkbpf/event.h>

#include "symbol/symbolizer.h"

/* "no unwind info"; never NULL. */
const char *stack_end_text(enum pkbpf_stack_end end);
/* True when unwinding reached the end of the stack. False for NONE
 * (nothing was unwound) and for GUESSED. */
bool stack_end_is_complete(enum pkbpf_stack_end end);
/* True when nothing on the way to the root was a guess: unwind info marks the function as one that
 * begins threads or processes, and found all frames. */
bool stack_end_is_proven(enum pkbpf_stack_end end, uint64_t guessed_frames);
/* True when the stack no longer existed (in execve): nothing to unwind, nothing truncated. */
bool stack_end_is_gone(enum pkbpf_stack_end end);
/* True when unwinding is known to have stopped early. False for UNVERIFIED, of which nothing is
 * known, and for GUESSED, which may lack frames in between. */
bool stack_end_is_truncated(enum pkbpf_stack_end end);
/* A line named "[truncated: no unwind info]", the name of a FRAME_TRUNCATED frame. */
const struct symbol_line *stack_end_line(enum pkbpf_stack_end end);

#endif
