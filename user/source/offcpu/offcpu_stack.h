/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the stack of a waiting thread. */
#ifndef PKBPF_SOURCE_OFFCPU_OFFCPU_STACK_H
#define PKBPF_SOURCE_OFFCPU_OFFCPU_STACK_H

#include "event/raw_stack.h"

/*
 * Copies at most `room` bytes of a thread's stack, from the address extent->start (a multiple of 8)
 * on, to `stack`. Pages that nobody has touched yet are holes of the copy, and stay untouched:
 * reading them would give the thread memory. Sets extent's size, a multiple of 8 (0: nothing can be
 * read), and its holes. Returns whether there may be more than the room.
 */
bool offcpu_stack_read(uint32_t pid, uint32_t tid, uint8_t *stack, size_t room,
		       struct raw_stack_extent *extent);

#endif
