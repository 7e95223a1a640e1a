// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds the cache entry of the current stack. Loops are in global functions of their own, which the
 * verifier follows once. */
#include "kernel_word.bpf.h"
#include "stack_memo.bpf.h"

const volatile struct pkbpf_memo_config memo_config = {};

/* Each returns 0 or 1. memo_same_words(): the words of entry `slot` are unchanged. */
int memo_same_words(__u32 slot);
int memo_same_user_part(__u32 slot, __u32 first_word);

/* Reading in place touches only the compared words: a dozen or two of a few hundred. */
static __always_inline bool memo_same_kernel_in_place(const struct pkbpf_stack_memo *entry,
						      const struct memo_scratch *memo)
{
	__u32 count = entry->kernel_words;
	__u64 different = 0;

	for (__u32 i = 0; i < PKBPF_MEMO_KERNEL_WORDS; i++) {
		if (i >= count)
			break;
		different |= kernel_word((void *)(memo->anchor + entry->kernel_at[i] * 8ULL)) ^
			     entry->kernel_value[i];
	}
	return !different;
}

/* Above the last compared word there may be the random gap that the kernel opens at the start of a
 * system call. Above the gap is only entry code, which is the same for all system calls. */
static __always_inline bool memo_same_kernel(const struct pkbpf_stack_memo *entry,
					     struct memo_scratch *memo)
{
	__u32 count = entry->kernel_words, size = (entry->kernel_last + 1) * 8;
	__u64 different = 0;

	if (config.word_type)
		return memo_same_kernel_in_place(entry, memo);
	if (size > sizeof(memo->kernel) ||
	    bpf_probe_read_kernel(memo->kernel, size, (void *)memo->anchor))
		return false;
	for (__u32 i = 0; i < PKBPF_MEMO_KERNEL_WORDS; i++) {
		if (i >= count)
			break;
		different |= memo->kernel[entry->kernel_at[i] & (MEMO_KERNEL_WINDOW - 1)] ^
			     entry->kernel_value[i];
	}
	return !different;
}

/* Compares the words near the stack pointer, which usually are all words. */
static __always_inline bool memo_same_near(const struct pkbpf_stack_memo *entry,
					   struct memo_scratch *memo)
{
	__u32 count = entry->user_near, size = (entry->user_near_last + 1) * 8;
	__u64 different = 0;

	if (!count)
		return true;
	if (size > sizeof(memo->user) || bpf_probe_read_user(memo->user, size, (void *)memo->sp))
		return false;
	for (__u32 i = 0; i < PKBPF_MEMO_USER_WORDS; i++) {
		if (i >= count)
			break;
		different |=
			memo->user[entry->user_at[i] & (MEMO_USER_NEAR - 1)] ^ entry->user_value[i];
	}
	return !different;
}

/* Compares words from `first_word` on, each of which may be far from the previous one. The position
 * of the window is kept in memory: in registers, the verifier would follow every way to fill it. */
__attribute__((noinline)) int memo_same_user_part(__u32 slot, __u32 first_word)
{
	struct pkbpf_stack_memo *entry = bpf_map_lookup_elem(&stack_memos, &slot);
	volatile __u32 *first, *have;
	struct memo_scratch *memo;
	__u32 zero = 0, want, at;

	memo = bpf_map_lookup_elem(&memo_scratch, &zero);
	if (!entry || !memo)
		return 0;
	first = &memo->user_first;
	have = &memo->user_have;
	for (__u32 i = 0; i < MEMO_PART_WORDS; i++) {
		__u32 from = first_word + i;

		if (from >= entry->user_words)
			break;
		barrier_var(from); /* Otherwise the verifier does not see the bound below. */
		if (from >= PKBPF_MEMO_USER_WORDS)
			break;
		at = entry->user_at[from] - *first;
		if (at >= *have) {
			*first = entry->user_at[from];
			/* Not beyond the highest word: memory there may not exist. */
			want = entry->user_last + 1 - *first;
			if (want > MEMO_USER_WINDOW)
				want = MEMO_USER_WINDOW;
			if (bpf_probe_read_user(memo->user, want * 8,
						(void *)(memo->sp + *first * 8ULL)))
				return 0;
			*have = want;
			at = 0;
		}
		if (memo->user[at & (MEMO_USER_WINDOW - 1)] != entry->user_value[from])
			return 0;
	}
	return 1;
}

static __always_inline bool memo_same_user(const struct pkbpf_stack_memo *entry,
					   struct memo_scratch *memo, __u32 slot)
{
	memo->user_have = 0;
	memo->user_first = 0;
	for (__u32 first = 0; first < PKBPF_MEMO_USER_WORDS; first += MEMO_PART_WORDS)
		if (first < entry->user_words && !memo_same_user_part(slot, first))
			return false;
	return true;
}

__attribute__((noinline)) int memo_same_words(__u32 slot)
{
	struct pkbpf_stack_memo *entry = bpf_map_lookup_elem(&stack_memos, &slot);
	struct memo_scratch *memo;
	__u32 zero = 0;

	memo = bpf_map_lookup_elem(&memo_scratch, &zero);
	if (!entry || !memo || !memo_same_kernel(entry, memo))
		return 0;
	return entry->user_near == entry->user_words ? memo_same_near(entry, memo)
						     : memo_same_user(entry, memo, slot);
}

static __always_inline bool memo_matches(const struct pkbpf_stack_memo *entry,
					 const struct memo_scratch *memo, __u32 slot, __u32 tid,
					 __u64 now_ns)
{
	return memo_is_about(entry, memo, tid) && (!entry->until_ns || now_ns <= entry->until_ns) &&
	       memo_same_words(slot);
}

__attribute__((noinline)) __u32 memo_find(__u32 tid, __u64 now_ns)
{
	struct memo_scratch *memo;
	__u32 zero = 0, first;

	memo = bpf_map_lookup_elem(&memo_scratch, &zero);
	if (!memo)
		return PKBPF_MEMO_NONE;
	first = memo_slot(memo, tid);

	for (__u32 way = 0; way < PKBPF_MEMO_WAYS; way++) {
		__u32 slot = first + way;
		struct pkbpf_stack_memo *entry = bpf_map_lookup_elem(&stack_memos, &slot);

		if (entry && memo_matches(entry, memo, slot, tid, now_ns))
			return slot;
	}
	return PKBPF_MEMO_NONE;
}
