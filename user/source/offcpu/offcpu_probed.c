// SPDX-License-Identifier: BSD-2-Clause
/* Does for a waiting thread what bpf/uprobe.bpf.c does for a running one. x86-64 only, as there. */
#include "source/offcpu/offcpu_probed.h"

#include <string.h>

#define LONGEST_INSTRUCTION  16
#define AREA_BYTES	     4096
#define RETURN_ADDRESS_BYTES 8
#define TRAMPOLINE_BYTES     24

/* The kernel provides the number and may have changed it meanwhile. */
static size_t call_count(const struct pkbpf_probed_calls *calls)
{
	return calls->count < PKBPF_MAX_PROBED_CALLS ? calls->count : PKBPF_MAX_PROBED_CALLS;
}

void offcpu_probed_mend_regs(const struct pkbpf_probed_calls *calls, uint64_t *sp, uint64_t *ip)
{
	if (*ip - calls->trampoline >= AREA_BYTES)
		return;
	if (*ip - calls->copy < LONGEST_INSTRUCTION) {
		*ip = calls->instruction + (*ip - calls->copy);
		return;
	}
	for (size_t i = 0; i < call_count(calls); i++) {
		uint64_t caller_sp = calls->calls[i].stack + RETURN_ADDRESS_BYTES;

		if (caller_sp - *sp > TRAMPOLINE_BYTES)
			continue;
		*sp = caller_sp;
		*ip = calls->calls[i].address;
		return;
	}
}

void offcpu_probed_mend_stack(const struct pkbpf_probed_calls *calls,
			      const struct raw_stack_extent *extent, uint8_t *stack)
{
	for (size_t i = 0; i < call_count(calls); i++) {
		uint64_t word;
		size_t at;

		if (raw_stack_find(extent, calls->calls[i].stack, sizeof(word), &at) !=
		    RAW_STACK_COPIED)
			continue;
		memcpy(&word, stack + at, sizeof(word));
		if (word == calls->trampoline)
			memcpy(stack + at, &calls->calls[i].address, sizeof(word));
	}
}
