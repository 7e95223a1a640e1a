// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The loops of recognising stacks, each in a function of its own. */
#include "stack_memo.bpf.h"

/*
 * Above the last word compared there may be the gap of random size that the kernel opens at the start of a system call,
 * and above that only the entry code, which is the same for all system calls.
 */
static __always_inline bool memo_same_kernel(struct pkbpf_stack_memo *entry, struct memo_scratch *memo)
{
	__u32 count = entry->kernel_words, size = (entry->kernel_last + 1) * 8;

	if (size > sizeof(memo->kernel) || bpf_probe_read_kernel(memo->kernel, size, (void *)memo->anchor))
		return false;
	for (__u32 i = 0; i < PKBPF_MEMO_KERNEL_WORDS; i++) {
		if (i >= count)
			break;
		if (memo->kernel[entry->kernel_at[i] & (MEMO_KERNEL_WINDOW - 1)] != entry->kernel_value[i])
			return false;
	}
	return true;
}

/* What the window holds is noted in memory: in registers the verifier would follow every way to fill it. */
static __always_inline bool memo_same_user(struct pkbpf_stack_memo *entry, struct memo_scratch *memo)
{
	volatile __u32 *first = &memo->user_first, *have = &memo->user_have;
	__u32 count = entry->user_words, want, at;

	*have = 0;
	*first = 0;
	for (__u32 i = 0; i < PKBPF_MEMO_USER_WORDS; i++) {
		if (i >= count)
			break;
		at = entry->user_at[i] - *first;
		if (at >= *have) {
			*first = entry->user_at[i];
			/* Not beyond the highest word: what lies there may not exist. */
			want = entry->user_last + 1 - *first;
			if (want > MEMO_USER_WINDOW)
				want = MEMO_USER_WINDOW;
			if (bpf_probe_read_user(memo->user, want * 8, (void *)(memo->sp + *first * 8ULL)))
				return false;
			*have = want;
			at = 0;
		}
		if (memo->user[at & (MEMO_USER_WINDOW - 1)] != entry->user_value[i])
			return false;
	}
	return true;
}

__attribute__((noinline)) int memo_same_words(__u32 slot)
{
	struct pkbpf_stack_memo *entry = bpf_map_lookup_elem(&offcpu_memos, &slot);
	struct memo_scratch *memo;
	__u32 zero = 0;

	memo = bpf_map_lookup_elem(&memo_scratch, &zero);
	return entry && memo && memo_same_kernel(entry, memo) && memo_same_user(entry, memo);
}

/* The count lives in memory, where the verifier does not follow its values. */
static __always_inline bool memo_keep_kernel(struct pkbpf_stack_memo *entry, const struct memo_scratch *memo)
{
	volatile __u16 *count = &entry->kernel_words;
	__u32 words = memo->kernel_words, at;

	*count = 0;
	entry->kernel_last = 0;
	for (__u32 i = 0; i < MEMO_KERNEL_WINDOW; i++) {
		__u64 word = memo->kernel[i];

		if (i >= words)
			break;
		if (!memo_may_be_code(word))
			continue;
		at = *count;
		if (at >= PKBPF_MEMO_KERNEL_WORDS)
			return false;
		entry->kernel_at[at] = i;
		entry->kernel_value[at] = word;
		entry->kernel_last = i;
		*count = at + 1;
	}
	return true;
}

/* Only what is the same as then stays. */
static __always_inline void memo_learn_kernel(struct pkbpf_stack_memo *entry, const struct memo_scratch *memo)
{
	volatile __u16 *kept = &entry->kernel_words;
	__u32 count = *kept, words = memo->kernel_words, to;

	*kept = 0;
	entry->kernel_last = 0;
	for (__u32 i = 0; i < PKBPF_MEMO_KERNEL_WORDS; i++) {
		__u64 value = entry->kernel_value[i];
		__u32 at = entry->kernel_at[i];

		if (i >= count)
			break;
		if (at >= words || memo->kernel[at & (MEMO_KERNEL_WINDOW - 1)] != value)
			continue;
		to = *kept;
		if (to >= PKBPF_MEMO_KERNEL_WORDS)
			break;
		entry->kernel_at[to] = at;
		entry->kernel_value[to] = value;
		entry->kernel_last = at;
		*kept = to + 1;
	}
}

/* The whole kernel stack from the context up. */
static __always_inline bool memo_read_kernel(struct memo_scratch *memo)
{
	__u32 size = memo->kernel_words * 8;

	return size <= sizeof(memo->kernel) && !bpf_probe_read_kernel(memo->kernel, size, (void *)memo->anchor);
}

static __always_inline bool memo_keep_user(struct pkbpf_stack_memo *entry, const struct memo_scratch *memo,
					   const struct unwind_scratch *unwind)
{
	volatile __u16 *last = &entry->user_last;
	__u32 count = unwind->log_count;

	if (!memo->ip)
		count = 0;
	if (count > PKBPF_MEMO_USER_WORDS || (memo->sp & 7))
		return false;
	*last = 0;
	for (__u32 i = 0; i < PKBPF_MEMO_USER_WORDS; i++) {
		__u64 at;

		if (i >= count)
			break;
		at = (unwind->log_address[i] - memo->sp) / 8;
		if (at > 0xffff)
			return false;
		if (at > *last)
			*last = at;
		entry->user_at[i] = at;
		entry->user_value[i] = unwind->log_value[i];
	}
	entry->user_words = count;
	return true;
}

/*
 * The same frames again, though a word the walk read was another: if it read the same places nevertheless, that word told
 * it nothing (a register saved on the stack that holds no frame pointer there), and it is compared no more. false: it read
 * other places.
 */
static __always_inline bool memo_learn_user(struct pkbpf_stack_memo *entry, const struct memo_scratch *memo,
					    const struct unwind_scratch *unwind)
{
	volatile __u16 *cursor = &entry->cursor, *kept = &entry->kept, *last = &entry->user_last;
	__u32 count = entry->user_words, logged = memo->ip ? unwind->log_count : 0;

	*cursor = 0;
	*kept = 0;
	*last = 0;
	if (logged > PKBPF_MEMO_USER_WORDS)
		return false;
	for (__u32 i = 0; i < PKBPF_MEMO_USER_WORDS; i++) {
		__u64 at, value;
		__u32 old, to;

		if (i >= logged)
			break;
		at = (unwind->log_address[i] - memo->sp) / 8;
		old = *cursor;
		/* What was forgotten before is in this log and not in the entry. */
		if (old >= count || old >= PKBPF_MEMO_USER_WORDS || entry->user_at[old] != at)
			continue;
		*cursor = old + 1;
		value = entry->user_value[old];
		to = *kept;
		if (value != unwind->log_value[i] || to >= PKBPF_MEMO_USER_WORDS)
			continue;
		entry->user_at[to] = at;
		entry->user_value[to] = value;
		if (at > *last)
			*last = at;
		*kept = to + 1;
	}
	if (*cursor != count)
		return false;
	entry->user_words = *kept;
	return true;
}

static __always_inline struct sample_scratch *walked_scratch(const struct memo_scratch *memo)
{
	return scratch_get(memo->scratch_slot ? memo->scratch_slot : SCRATCH_OFFCPU);
}

__attribute__((noinline)) int memo_keep_words(__u32 slot)
{
	struct pkbpf_stack_memo *entry = bpf_map_lookup_elem(&offcpu_memos, &slot);
	struct sample_scratch *scratch;
	struct memo_scratch *memo;
	__u32 zero = 0;

	memo = bpf_map_lookup_elem(&memo_scratch, &zero);
	if (!entry || !memo || !memo_read_kernel(memo))
		return 0;
	scratch = walked_scratch(memo);
	return scratch && memo_keep_kernel(entry, memo) && memo_keep_user(entry, memo, &scratch->unwind);
}

__attribute__((noinline)) int memo_learn_words(__u32 slot)
{
	struct pkbpf_stack_memo *entry = bpf_map_lookup_elem(&offcpu_memos, &slot);
	struct sample_scratch *scratch;
	struct memo_scratch *memo;
	__u32 zero = 0;

	memo = bpf_map_lookup_elem(&memo_scratch, &zero);
	if (!entry || !memo || !memo_read_kernel(memo))
		return 0;
	scratch = walked_scratch(memo);
	if (!scratch)
		return 0;
	memo_learn_kernel(entry, memo);
	return memo_learn_user(entry, memo, &scratch->unwind) || memo_keep_user(entry, memo, &scratch->unwind);
}
