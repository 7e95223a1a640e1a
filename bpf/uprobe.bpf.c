// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Uprobes of other tracers change what the unwinder finds. A function with a return probe returns
 * to the kernel's trampoline, and only the kernel knows its real return address. An instruction
 * with a probe is executed elsewhere. Both places are in the area [uprobes], which is not in the
 * unwinder's mappings. (prepare_uretprobe() and pre_ssout() of kernel/events/uprobes.c.)
 */
#include "shared.bpf.h"
#include "uprobe.bpf.h"

#define LONGEST_INSTRUCTION 16
#define AREA_BYTES	    4096

#if PKBPF_UNWIND_ARM64
#define RETURN_ADDRESS_BYTES 0
#define TRAMPOLINE_BYTES     0
#else
#define RETURN_ADDRESS_BYTES 8
/* three registers, which the trampoline saves around a system call since 6.11 */
#define TRAMPOLINE_BYTES     24
#endif

/* The leaf is a copy of a probed instruction, before or after its execution. */
static __always_inline bool leave_copy(struct pkbpf_unwind_state *state, struct uprobe_task *probes)
{
	__u64 offset = state->ip - BPF_CORE_READ(probes, xol_vaddr);

	if (!(state->flags & PKBPF_UNWIND_EXACT) || offset >= LONGEST_INSTRUCTION)
		return false;
	state->ip = BPF_CORE_READ(probes, vaddr) + offset;
	return true;
}

/* The frame returns to the trampoline or, as the leaf, is in it. Calls are searched from the newest
 * on; longjmp() may have left some of them. */
static __always_inline bool leave_trampoline(struct unwind_scratch *unwind,
					     struct uprobe_task *probes)
{
	struct pkbpf_unwind_state *state = &unwind->state;
	struct return_instance *call = (void *)unwind->probed_call;
	__u64 most = state->flags & PKBPF_UNWIND_REGS ? TRAMPOLINE_BYTES : 0, sp = 0;

	if (!call)
		call = BPF_CORE_READ(probes, return_instances);
	for (int i = 0; i < PKBPF_MAX_PROBED_CALLS && call; i++) {
		sp = BPF_CORE_READ(call, stack) + RETURN_ADDRESS_BYTES;
		if (sp >= state->sp)
			break;
		call = BPF_CORE_READ(call, next);
	}
	unwind->probed_call = (__u64)call;
	if (!call || sp < state->sp || sp - state->sp > most)
		return false;
	state->ip = BPF_CORE_READ(call, orig_ret_vaddr);
	state->sp = sp;
	return true;
}

/* Continues after an address in no mapping. Returns 1 if the unwinding goes on. */
__attribute__((noinline)) int unwind_leave_probe(__u32 slot)
{
	struct sample_scratch *scratch = scratch_get(slot);
	struct unwind_scratch *unwind;
	struct uprobe_task *probes;
	__u64 area = 0;

	probes = find_probes((void *)bpf_get_current_task(), &area);
	if (!scratch || !probes)
		return 0;
	unwind = &scratch->unwind;
	if (unwind->state.ip - area >= AREA_BYTES)
		return 0;
	if (!leave_copy(&unwind->state, probes) && !leave_trampoline(unwind, probes))
		return 0;
	if (unwind->end == PKBPF_END_NO_MAPPING)
		unwind->state.depth -= unwind->state.depth > 0;
	else
		unwind->state.guessed++; /* the frame pointer was a real one: it has led here */
	unwind->end = 0;
	/* The result depends on more than the words of the stack. */
	unwind->log_count = UNWIND_LOG_WORDS + 1;
	return 1;
}

/* Returns the offset of an address in the CPU's copy of the stack from `start` on; only pages that
 * exist are in the copy. */
static __always_inline __u64 offset_in_copy(const struct raw_scratch *raw, __u64 start,
					    __u64 address)
{
	__u64 page = address / PKBPF_RAW_PAGE_BYTES - start / PKBPF_RAW_PAGE_BYTES;
	__u64 below = raw->holes & ((1ULL << (page & (PKBPF_RAW_SPAN_PAGES - 1))) - 1);

	return page < PKBPF_RAW_SPAN_PAGES
		       ? address - start - (__u64)__builtin_popcountll(below) * PKBPF_RAW_PAGE_BYTES
		       : RAW_STACK_BYTES;
}

/* Writes the real return address of one probed call into the CPU's copy of a stack. Returns the
 * kernel's record of the call before it. A separate function: in a loop the verifier would follow
 * each path through it anew for each call. */
__attribute__((noinline)) __u64 uprobe_mend_call(__u32 cpu, __u64 record)
{
	struct raw_scratch *raw = bpf_map_lookup_elem(&raw_scratch, &cpu);
	struct return_instance *call = (void *)record;
	__u64 offset, at;

	if (!raw)
		return 0;
	offset = offset_in_copy(raw, raw->start, BPF_CORE_READ(call, stack));
	at = raw->word + offset / 8;
	if (offset < raw->copied && !(offset & 7) && at < RAW_PREFIX_WORDS + RAW_STACK_BYTES / 8 &&
	    raw->record[at] == raw->trampoline)
		raw->record[at] = BPF_CORE_READ(call, orig_ret_vaddr);
	return (__u64)BPF_CORE_READ(call, next);
}

/* Writes the real return addresses of probed functions into the CPU's copy of the stack. Not on
 * arm64: there the trampoline's address is in the link register first, and then wherever the
 * function saves it. */
__attribute__((noinline)) int uprobe_mend_copy(__u32 cpu)
{
	struct raw_scratch *raw = bpf_map_lookup_elem(&raw_scratch, &cpu);
	struct uprobe_task *probes;
	__u64 trampoline = 0, call;

	probes = find_probes((void *)bpf_get_current_task(), &trampoline);
	if (PKBPF_UNWIND_ARM64 || !raw || !probes)
		return 0;
	raw->trampoline = trampoline;
	call = (__u64)BPF_CORE_READ(probes, return_instances);
	for (int i = 0; i < PKBPF_MAX_PROBED_CALLS && call; i++)
		call = uprobe_mend_call(cpu, call);
	return 0;
}

/* Not on arm64, for the reason given above. */
__attribute__((noinline)) int uprobe_list_calls(__u64 task_probes, __u64 trampoline)
{
	struct uprobe_task *probes = (void *)task_probes;
	struct pkbpf_probed_calls *list;
	struct return_instance *call;
	__u32 zero = 0;

	list = bpf_map_lookup_elem(&probed_calls, &zero);
	if (PKBPF_UNWIND_ARM64 || !list)
		return 0;
	list->trampoline = trampoline;
	list->copy = BPF_CORE_READ(probes, xol_vaddr);
	list->instruction = BPF_CORE_READ(probes, vaddr);
	list->count = 0;
	call = BPF_CORE_READ(probes, return_instances);
	for (int i = 0; i < PKBPF_MAX_PROBED_CALLS && call; i++) {
		list->calls[i].stack = BPF_CORE_READ(call, stack);
		list->calls[i].address = BPF_CORE_READ(call, orig_ret_vaddr);
		list->count = i + 1;
		call = BPF_CORE_READ(call, next);
	}
	return 1;
}
