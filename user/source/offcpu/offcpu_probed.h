/* SPDX-License-Identifier: BSD-2-Clause */
/* Restores return addresses that user probes of others replaced in a waiting thread's stack. */
#ifndef PKBPF_SOURCE_OFFCPU_OFFCPU_PROBED_H
#define PKBPF_SOURCE_OFFCPU_OFFCPU_PROBED_H

#include <stddef.h>
#include <stdint.h>

#include <pkbpf/offcpu.h>

#include "event/raw_stack.h"

/* A thread that waits while it executes a probed instruction, or what a probed function returns to,
 * is where it would be without. */
void offcpu_probed_mend_regs(const struct pkbpf_probed_calls *calls, uint64_t *sp, uint64_t *ip);
/* Words of a copy of its stack that would return to the kernel's trampoline. */
void offcpu_probed_mend_stack(const struct pkbpf_probed_calls *calls,
			      const struct raw_stack_extent *extent, uint8_t *stack);

#endif
