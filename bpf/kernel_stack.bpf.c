// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Unwinds kernel stacks with the kernel's unwind tables.
 *
 * The kernel can do that itself, but at a sample its tables (5 MB) are outside the processor's
 * caches: 20 us for 7 frames at 99 samples a second, against 2 us when repeated at once. Most
 * samples need rules that earlier samples needed, and this program caches those in one small table.
 * Stacks that it cannot unwind are left to the kernel (fallback): modules, generated code, return
 * addresses replaced by tracers.
 */
#include "kernel_stack.bpf.h"
#include "pt_regs.bpf.h"

struct pkbpf_orc_tables orc_tables = {};

/* Below 32 KiB, see unwind_recent; shared by all CPUs. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << PKBPF_ORC_INDEX_BITS);
	__type(key, __u32);
	__type(value, __u64);
} orc_rules SEC(".maps");

static __always_inline bool read_u32(__u64 address, __u32 *value)
{
	return bpf_probe_read_kernel(value, sizeof(*value), (void *)address) == 0;
}

/* Returns the address where an entry begins; 0: unreadable. A separate function: the verifier
 * follows it once instead of at each probe. */
__attribute__((noinline)) __u64 kernel_code_address(__u32 entry)
{
	__u64 at = orc_tables.addresses + entry * 4ULL;
	__s32 relative;

	if (bpf_probe_read_kernel(&relative, sizeof(relative), (void *)at))
		return 0;
	return at + (__s64)relative;
}

/* A block of 256 bytes of text has at most one entry per byte, plus one. */
#define MAX_ENTRY_PROBES 9

/* Returns the entry that covers an offset in the kernel's text, as it lies in memory; 0:
 * unreadable. */
__attribute__((noinline)) __u64 kernel_search_entry(__u32 offset)
{
	__u64 block = orc_tables.blocks + (offset >> PKBPF_ORC_BLOCK_SHIFT) * 4ULL;
	__u64 address = orc_tables.text_start + offset;
	__u32 at, end, count;
	__u64 entry = 0;

	if (!read_u32(block, &at) || !read_u32(block + 4, &end) || end < at)
		return 0;
	/* Search for the last entry that begins at or below the address, up to the first entry of
	 * the next block. */
	count = end - at + 1;
	/* Unrolled: kernels before 6.3 reject the loop that clang makes of it (a back-edge that is
	 * no jump). */
#pragma unroll
	for (int i = 0; i < MAX_ENTRY_PROBES; i++) {
		__u32 half = count >> 1;

		if (half && kernel_code_address(at + half) <= address)
			at += half;
		count -= half;
	}
	if (bpf_probe_read_kernel(&entry, PKBPF_ORC_ENTRY_BYTES,
				  (void *)(orc_tables.entries + (__u64)at * PKBPF_ORC_ENTRY_BYTES)))
		return 0;
	return entry;
}

#define SYMBOL(name, address)                                                                      \
	(bpf_kallsyms_lookup_name(name, sizeof(name), 0, address) == 0 && *(address))

/* Returns whether an entry is the last one that begins at or below an address. */
static __always_inline bool entry_covers(__u32 entry, __u64 address)
{
	return kernel_code_address(entry) <= address && kernel_code_address(entry + 1) > address;
}

/* Fills in orc_tables. Returns 0 on success. */
SEC("?syscall")
int find_orc_tables(void *ctx)
{
	static const char text_start[] = "_stext", text_end[] = "_etext",
			  addresses[] = "__start_orc_unwind_ip";
	static const char entries[] = "__start_orc_unwind", rethook[] = "arch_rethook_trampoline";
	static const char kretprobe[] = "__kretprobe_trampoline", graph[] = "return_to_handler",
			  function[] = "vfs_read";
	/* Kernels before 6.3 allow helpers to write only to initialized stack memory. */
	__u64 end = 0, count, start = 0, entry;
	__u32 first, last;

	if (!SYMBOL(addresses, &orc_tables.addresses) || !SYMBOL(entries, &orc_tables.entries) ||
	    !SYMBOL(text_start, &orc_tables.text_start) || !SYMBOL(text_end, &end) ||
	    !SYMBOL(function, &start))
		return 1;
	if (!SYMBOL(rethook, &orc_tables.trampolines[0]))
		SYMBOL(kretprobe, &orc_tables.trampolines[0]);
	SYMBOL(graph, &orc_tables.trampolines[1]);
	/* The three tables are adjacent (ORC_UNWIND_TABLE in include/asm-generic/vmlinux.lds.h).
	 * The third has one entry for the end. */
	count = (orc_tables.entries - orc_tables.addresses) / 4;
	orc_tables.blocks = (orc_tables.entries + count * PKBPF_ORC_ENTRY_BYTES + 3) & ~3ULL;
	end -= orc_tables.text_start;
	if (!read_u32(orc_tables.blocks, &first) ||
	    !read_u32(orc_tables.blocks +
			      ((end + (1 << PKBPF_ORC_BLOCK_SHIFT) - 1) >> PKBPF_ORC_BLOCK_SHIFT) *
				      4,
		      &last) ||
	    first > last || last + 1 >= count || !entry_covers(first, orc_tables.text_start) ||
	    !entry_covers(last, orc_tables.text_start + end))
		return 2;
	/* At the first instruction of a function, the caller's sp is 8 bytes above the current one.
	 * This entry shows the numbering of the registers. */
	entry = kernel_search_entry(start - orc_tables.text_start);
	if ((entry >> 32 & 15) == PKBPF_ORC_RENUMBERED_SP_NUMBER)
		orc_tables.format = PKBPF_ORC_RENUMBERED;
	entry = pkbpf_orc_rule(entry, orc_tables.format);
	if (pkbpf_orc_sp_offset(entry) != 8 || (pkbpf_orc_rule_flags(entry) & 15) != PKBPF_ORC_SP)
		return 3;
	orc_tables.text_bytes = end;
	return 0;
}

#if defined(__TARGET_ARCH_x86)

/* Frames per call of kernel_stack_frames(), and number of calls: the verifier follows each loop
 * once instead of their product. */
#define FRAMES_PER_CALL 16
#define FRAME_CALLS	(PKBPF_MAX_KERNEL_FRAMES / FRAMES_PER_CALL + 1)
/* Maximum number of compared frames: deeper stacks reach them in the same way. */
#define MAX_COMPARED 32

/* Returns the rule for an offset in the kernel's text; 0: none that fits. */
__attribute__((noinline)) __u64 kernel_search_rule(__u32 offset)
{
	return pkbpf_orc_rule(kernel_search_entry(offset), orc_tables.format);
}

static __always_inline __u64 find_rule(__u32 offset)
{
	__u32 place = pkbpf_orc_place(offset), key = pkbpf_orc_index(place);
	__u64 *kept = bpf_map_lookup_elem(&orc_rules, &key), rule;

	if (!kept)
		return 0;
	rule = *(volatile __u64 *)kept;
	if (rule && (rule & PKBPF_ORC_TAG_MASK) == pkbpf_orc_tag(place))
		return rule;
	rule = kernel_search_rule(offset);
	if (rule)
		*(volatile __u64 *)kept = rule | pkbpf_orc_tag(place);
	return rule;
}

static __always_inline bool read_word(struct unwind_scratch *unwind, __u64 address, __u64 *value)
{
	__u64 offset = address - unwind->window_start;

	if (address & 7)
		return false;
	if (offset >= unwind->window_size) {
		if (unwind_move_window(unwind->slot, address, UNWIND_KERNEL_MEMORY))
			return false;
		offset = 0;
	}
	*value = unwind->window[(offset / 8) & (UNWIND_WINDOW_BYTES / 8 - 1)];
	return true;
}

enum step_result { STEP_NEXT = 0, STEP_END = 1, STEP_FAILED = 2 };

/* Reads the registers that an interrupt or exception saved at `address`. */
static __always_inline enum step_result take_interrupted(struct unwind_scratch *unwind,
							 __u64 address, bool full)
{
	struct pkbpf_unwind_state *state = &unwind->state;
	__u64 from_ip = address + (full ? AT_IP * 8 : 0), cs;

	if (full && !read_word(unwind, address + AT_BP * 8, &state->fp))
		return STEP_FAILED;
	if (!read_word(unwind, from_ip, &state->ip) || !read_word(unwind, from_ip + 8, &cs) ||
	    !read_word(unwind, from_ip + 24, &state->sp))
		return STEP_FAILED;
	return cs & 3 ? STEP_END : STEP_NEXT;
}

static __always_inline enum step_result take_caller(struct unwind_scratch *unwind, __u64 rule,
						    __u64 cfa)
{
	struct pkbpf_unwind_state *state = &unwind->state;
	__u32 bp_register = pkbpf_orc_rule_flags(rule) >> 4 & 15;

	if (bp_register == PKBPF_ORC_PREVIOUS_SP || bp_register == PKBPF_ORC_BP) {
		__u64 base = bp_register == PKBPF_ORC_BP ? state->fp : cfa;

		if (!read_word(unwind, base + pkbpf_orc_bp_offset(rule), &state->fp))
			return STEP_FAILED;
	} else if (bp_register != PKBPF_ORC_UNDEFINED) {
		return STEP_FAILED;
	}
	if (!read_word(unwind, cfa - 8, &state->ip))
		return STEP_FAILED;
	state->sp = cfa;
	if (state->ip == orc_tables.trampolines[0] || state->ip == orc_tables.trampolines[1])
		return STEP_FAILED;
	return STEP_NEXT;
}

static __always_inline enum step_result step(struct unwind_scratch *unwind)
{
	struct pkbpf_unwind_state *state = &unwind->state;
	__u64 lowest_cfa = state->sp + 1;
	__u64 offset =
		state->ip - (state->flags & PKBPF_UNWIND_EXACT ? 0 : 1) - orc_tables.text_start;
	enum step_result result;
	__u32 flags, type, base;
	__u64 rule, cfa;

	if (offset >= orc_tables.text_bytes)
		return STEP_FAILED;
	rule = find_rule(offset);
	if (!rule)
		return STEP_FAILED;
	flags = pkbpf_orc_rule_flags(rule);
	type = flags >> 8 & 7;
	if (type == PKBPF_ORC_END_OF_STACK)
		return STEP_END;
	base = flags & 15;
	cfa = base == PKBPF_ORC_SP || base == PKBPF_ORC_SP_INDIRECT ? state->sp : state->fp;
	if (base != PKBPF_ORC_SP_INDIRECT)
		cfa += pkbpf_orc_sp_offset(rule);
	if (base == PKBPF_ORC_SP_INDIRECT || base == PKBPF_ORC_BP_INDIRECT) {
		if (!read_word(unwind, cfa, &cfa))
			return STEP_FAILED;
		if (base == PKBPF_ORC_SP_INDIRECT) {
			cfa += pkbpf_orc_sp_offset(rule);
			lowest_cfa = 0;
		}
	} else if (base != PKBPF_ORC_SP && base != PKBPF_ORC_BP) {
		return STEP_FAILED;
	}
	if (type == PKBPF_ORC_CALL)
		result = cfa < lowest_cfa ? STEP_FAILED : take_caller(unwind, rule, cfa);
	else
		result = take_interrupted(unwind, cfa, type == PKBPF_ORC_REGS);
	state->flags = flags & PKBPF_ORC_SIGNAL ? PKBPF_UNWIND_EXACT : 0;
	return result;
}

/* Unwinds one frame and stores its address. */
__attribute__((noinline)) int kernel_stack_step(__u32 slot)
{
	struct sample_scratch *scratch = scratch_get(slot);
	enum step_result result;
	__u32 depth;

	if (!scratch)
		return STEP_FAILED;
	result = step(&scratch->unwind);
	if (result != STEP_NEXT)
		return result;
	depth = scratch->sample.n_kernel;
	if (depth >= PKBPF_MAX_KERNEL_FRAMES)
		return STEP_END;
	scratch->ips[depth] = scratch->unwind.state.ip;
	scratch->sample.n_kernel = depth + 1;
	return STEP_NEXT;
}

__attribute__((noinline)) int kernel_stack_frames(__u32 slot)
{
	int result = STEP_NEXT;

	for (int i = 0; i < FRAMES_PER_CALL; i++) {
		result = kernel_stack_step(slot);
		if (result != STEP_NEXT)
			break;
	}
	return result;
}

/* Unwinds from the scratch's state into its sample. Returns 1 at the end of the stack, 0 if only
 * the kernel can unwind it. */
__attribute__((noinline)) int kernel_stack_walk(__u32 slot)
{
	struct sample_scratch *scratch = scratch_get(slot);
	int result = STEP_NEXT;

	if (!scratch)
		return 0;
	scratch->ips[0] = scratch->unwind.state.ip;
	scratch->sample.n_kernel = 1;
	for (int i = 0; i < FRAME_CALLS; i++) {
		result = kernel_stack_frames(slot);
		if (result != STEP_NEXT)
			break;
	}
	if (result == STEP_END)
		return 1;
	scratch->sample.n_kernel = 0;
	return 0;
}

/* Returns whether the sample's stack differs from the one of `count` frames in the window. */
__attribute__((noinline)) int kernel_stack_differs(__u32 slot, __u32 count)
{
	struct sample_scratch *scratch = scratch_get(slot);

	if (!scratch || scratch->sample.n_kernel != count)
		return 1;
	for (__u32 i = 0; i < MAX_COMPARED && i < count; i++) {
		if (scratch->ips[i] != scratch->unwind.window[i])
			return 1;
	}
	return 0;
}

#endif
