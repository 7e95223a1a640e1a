/* SPDX-License-Identifier: BSD-2-Clause */
/* Restores return addresses that uprobes of other tools replaced in the stack of a waiting
 * thread. */
#ifndef PKBPF_SOURCE_OFFCPU_OFFCPU_PROBED_H
#define PKBPF_SOURCE_OFFCPU_OFFCPU_PROBED_H

#include <stddef.h>
#include <stdint.h>

#include <pkbpf/offcpu.h>

#include "event/raw_stack.h"

/* Corrects the registers of a thread that waits in the out-of-line copy of a probed instruction,
 * or in the trampoline of a return probe. */
void offcpu_probed_mend_regs(const struct pkbpf_probed_calls *calls, uint64_t *sp, uint64_t *ip);
/* Corrects the words of a stack copy that return to the kernel's trampoline. */
void offcpu_probed_mend_stack(const struct pkbpf_probed_calls *calls,
			      const struct raw_stack_extent *extent, uint8_t *stack);

#endif
