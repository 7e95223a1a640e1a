/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the stack of a waiting thread. */
#ifndef PKBPF_SOURCE_OFFCPU_OFFCPU_STACK_H
#define PKBPF_SOURCE_OFFCPU_OFFCPU_STACK_H

#include "event/raw_stack.h"

/* Copies at most `room` bytes of a thread's stack to `stack`, starting at extent->start (a
 * multiple of 8). Untouched pages become holes of the copy: reading them would allocate memory
 * for the thread. Sets extent's size (a multiple of 8; 0: nothing could be read) and its holes.
 * Returns whether the stack may continue beyond `room`. */
bool offcpu_stack_read(uint32_t pid, uint32_t tid, uint8_t *stack, size_t room,
		       struct raw_stack_extent *extent);

#endif
