// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Caches the stack just unwound. Loops are in global functions of their own, which the verifier
 * follows once. */
#include "stack_memo.bpf.h"

/* Each returns 0 or 1. memo_keep_words(): fills entry `slot` with the words of the stack just
 * unwound; 0: too many words. memo_learn_words(): the stack just unwound is that of entry `slot`,
 * although some words differ. */
int memo_keep_words(__u32 slot);
int memo_learn_words(__u32 slot);
int memo_keep_kernel_part(__u32 slot, __u32 first);
int memo_learn_kernel_part(__u32 slot, __u32 first);
int memo_find_frames_part(__u32 slot, __u32 first);
int memo_keep_user_part(__u32 slot, __u32 first);
int memo_learn_user_part(__u32 slot, __u32 first);

/* The entry being written, and its sources. */
struct memo_work {
	struct pkbpf_stack_memo *entry;
	struct memo_scratch *memo;
	const struct sample_scratch *scratch;
	const struct unwind_scratch *unwind;
};

static __always_inline struct sample_scratch *walked_scratch(const struct memo_scratch *memo)
{
	return scratch_get(memo->scratch_slot);
}

/* false: a part does not exist. */
static __always_inline bool memo_work_begin(struct memo_work *work, __u32 slot)
{
	struct sample_scratch *scratch;
	__u32 zero = 0;

	work->entry = bpf_map_lookup_elem(&stack_memos, &slot);
	work->memo = bpf_map_lookup_elem(&memo_scratch, &zero);
	if (!work->entry || !work->memo)
		return false;
	scratch = walked_scratch(work->memo);
	if (!scratch)
		return false;
	work->scratch = scratch;
	work->unwind = &scratch->unwind;
	return true;
}

/* Caching is rare, and its loops are long. Counts are in memory, where the verifier does not follow
 * their values. */

/* Keeps words of the kernel stack from `first` on; 0: too many of them may be code. */
__attribute__((noinline)) int memo_keep_kernel_part(__u32 slot, __u32 first)
{
	volatile __u16 *count;
	struct memo_work work;

	if (!memo_work_begin(&work, slot))
		return 0;
	count = &work.entry->kernel_words;
	for (__u32 i = 0; i < MEMO_PART_WORDS; i++) {
		__u32 from = first + i, at = *count;
		__u64 word = work.memo->kernel[from & (MEMO_KERNEL_WINDOW - 1)];

		if (from >= work.memo->kernel_words)
			break;
		if (!memo_may_be_code(word))
			continue;
		if (at >= PKBPF_MEMO_KERNEL_WORDS)
			return 0;
		work.entry->kernel_at[at] = from;
		work.entry->kernel_value[at] = word;
		work.entry->kernel_last = from;
		*count = at + 1;
	}
	return 1;
}

/* Checks words of the entry from `first` on, and keeps only unchanged ones. */
__attribute__((noinline)) int memo_learn_kernel_part(__u32 slot, __u32 first)
{
	struct memo_work work;
	volatile __u16 *kept;

	if (!memo_work_begin(&work, slot))
		return 0;
	kept = &work.entry->kernel_words;
	for (__u32 i = 0; i < MEMO_PART_WORDS; i++) {
		__u32 from = first + i, to = *kept, at;
		__u64 value;

		if (from >= work.entry->cursor)
			break;
		barrier_var(from); /* Otherwise the verifier does not see the bound below. */
		if (from >= PKBPF_MEMO_KERNEL_WORDS)
			break;
		at = work.entry->kernel_at[from];
		value = work.entry->kernel_value[from];
		if (at >= work.memo->kernel_words ||
		    work.memo->kernel[at & (MEMO_KERNEL_WINDOW - 1)] != value ||
		    to >= PKBPF_MEMO_KERNEL_WORDS)
			continue;
		work.entry->kernel_at[to] = at;
		work.entry->kernel_value[to] = value;
		work.entry->kernel_last = at;
		*kept = to + 1;
	}
	return 1;
}

/* Searches the unwound frames, in order, in the words of the entry from `first` on. entry->cursor
 * is the number of frames found. */
__attribute__((noinline)) int memo_find_frames_part(__u32 slot, __u32 first)
{
	volatile __u16 *cursor;
	struct memo_work work;

	if (!memo_work_begin(&work, slot))
		return 0;
	cursor = &work.entry->cursor;
	for (__u32 i = 0; i < MEMO_PART_WORDS; i++) {
		__u32 from = first + i, at = *cursor;

		if (from >= work.entry->kernel_words)
			break;
		barrier_var(from); /* Otherwise the verifier does not see the bound below. */
		if (from >= PKBPF_MEMO_KERNEL_WORDS)
			break;
		if (at < PKBPF_MAX_KERNEL_FRAMES && at < work.scratch->sample.n_kernel &&
		    work.scratch->ips[at] == work.entry->kernel_value[from])
			*cursor = at + 1;
	}
	return 1;
}

/* Returns whether all return addresses are among the compared words. They are not if a return
 * address has moved since the entry was made, and was dropped as a meaningless word. Return
 * addresses of the entry code lie above the random gap and always move. */
static __always_inline bool memo_has_all_frames(const struct memo_work *work, __u32 slot)
{
	work->entry->cursor = 0;
	for (__u32 first = 0; first < PKBPF_MEMO_KERNEL_WORDS; first += MEMO_PART_WORDS)
		if (!memo_find_frames_part(slot, first))
			return false;
	return work->entry->cursor + (work->memo->sp ? MEMO_ENTRY_FRAMES : 0) >=
	       work->scratch->sample.n_kernel;
}

/* Records that element i of the user words is at `at`. */
static __always_inline void memo_note_place(struct pkbpf_stack_memo *entry, __u32 i, __u64 at)
{
	volatile __u16 *last = &entry->user_last, *near = &entry->user_near,
		       *near_last = &entry->user_near_last;

	if (at > *last)
		*last = at;
	if (*near != i || at >= MEMO_USER_NEAR)
		return;
	*near = i + 1;
	if (at > *near_last)
		*near_last = at;
}

/* Keeps words of the unwinder's log from `first` on; 0: one is too far away. */
__attribute__((noinline)) int memo_keep_user_part(__u32 slot, __u32 first)
{
	struct memo_work work;

	if (!memo_work_begin(&work, slot))
		return 0;
	for (__u32 i = 0; i < MEMO_PART_WORDS; i++) {
		__u32 from = first + i;
		__u64 at;

		if (from >= work.entry->user_words)
			break;
		barrier_var(from); /* Otherwise the verifier does not see the bound below. */
		if (from >= PKBPF_MEMO_USER_WORDS)
			break;
		at = (work.unwind->log_address[from] - work.memo->sp) / 8;
		if (at > 0xffff)
			return 0;
		memo_note_place(work.entry, from, at);
		work.entry->user_at[from] = at;
		work.entry->user_value[from] = work.unwind->log_value[from];
	}
	return 1;
}

/* Compares words of the unwinder's log from `first` on with those of the entry from entry->cursor
 * on. */
__attribute__((noinline)) int memo_learn_user_part(__u32 slot, __u32 first)
{
	volatile __u16 *cursor, *kept;
	struct memo_work work;

	if (!memo_work_begin(&work, slot))
		return 0;
	cursor = &work.entry->cursor;
	kept = &work.entry->kept;
	for (__u32 i = 0; i < MEMO_PART_WORDS; i++) {
		__u32 from = first + i, old = *cursor, to;
		__u64 at, value;

		if (from >= work.unwind->log_count)
			break;
		barrier_var(from); /* Otherwise the verifier does not see the bound below. */
		if (from >= PKBPF_MEMO_USER_WORDS)
			break;
		at = (work.unwind->log_address[from] - work.memo->sp) / 8;
		/* Words dropped from the entry before are still in this log. */
		if (old >= work.entry->user_words || old >= PKBPF_MEMO_USER_WORDS ||
		    work.entry->user_at[old] != at)
			continue;
		*cursor = old + 1;
		value = work.entry->user_value[old];
		to = *kept;
		if (value != work.unwind->log_value[from] || to >= PKBPF_MEMO_USER_WORDS)
			continue;
		work.entry->user_at[to] = at;
		work.entry->user_value[to] = value;
		memo_note_place(work.entry, to, at);
		*kept = to + 1;
	}
	return 1;
}

/* Reads the whole kernel stack from the context upwards. */
static __always_inline bool memo_read_kernel(struct memo_scratch *memo)
{
	__u32 size = memo->kernel_words * 8;

	return size <= sizeof(memo->kernel) &&
	       !bpf_probe_read_kernel(memo->kernel, size, (void *)memo->anchor);
}

static __always_inline bool memo_keep_user(const struct memo_work *work, __u32 slot)
{
	__u32 count = work->memo->ip ? work->unwind->log_count : 0;

	if (count > PKBPF_MEMO_USER_WORDS || (work->memo->sp & 7))
		return false;
	work->entry->user_last = work->entry->user_near = work->entry->user_near_last = 0;
	work->entry->user_words = count;
	for (__u32 first = 0; first < PKBPF_MEMO_USER_WORDS; first += MEMO_PART_WORDS)
		if (first < count && !memo_keep_user_part(slot, first))
			return false;
	return true;
}

/* The frames are the same, although a word that the unwinder read has changed. If it read the same
 * places, the word did not matter: a register saved on the stack that is no frame pointer there.
 * Such words are no longer compared. false: the unwinder read other places. */
static __always_inline bool memo_learn_user(const struct memo_work *work, __u32 slot)
{
	__u32 logged = work->memo->ip ? work->unwind->log_count : 0;

	work->entry->cursor = 0;
	work->entry->kept = 0;
	work->entry->user_last = work->entry->user_near = work->entry->user_near_last = 0;
	if (logged > PKBPF_MEMO_USER_WORDS)
		return false;
	for (__u32 first = 0; first < PKBPF_MEMO_USER_WORDS; first += MEMO_PART_WORDS)
		if (first < logged && !memo_learn_user_part(slot, first))
			return false;
	if (work->entry->cursor != work->entry->user_words)
		return false;
	work->entry->user_words = work->entry->kept;
	return true;
}

__attribute__((noinline)) int memo_keep_words(__u32 slot)
{
	struct memo_work work;

	if (!memo_work_begin(&work, slot) || !memo_read_kernel(work.memo))
		return 0;
	work.entry->kernel_words = 0;
	work.entry->kernel_last = 0;
	for (__u32 first = 0; first < MEMO_KERNEL_WINDOW; first += MEMO_PART_WORDS)
		if (first < work.memo->kernel_words && !memo_keep_kernel_part(slot, first))
			return 0;
	return memo_keep_user(&work, slot);
}

__attribute__((noinline)) int memo_learn_words(__u32 slot)
{
	struct memo_work work;

	if (!memo_work_begin(&work, slot) || !memo_read_kernel(work.memo))
		return 0;
	work.entry->cursor = work.entry->kernel_words;
	work.entry->kernel_words = 0;
	work.entry->kernel_last = 0;
	for (__u32 first = 0; first < PKBPF_MEMO_KERNEL_WORDS; first += MEMO_PART_WORDS)
		if (!memo_learn_kernel_part(slot, first))
			return 0;
	if (!memo_has_all_frames(&work, slot))
		return memo_keep_words(slot);
	return memo_learn_user(&work, slot) || memo_keep_user(&work, slot);
}

/*
 * Returns the time until which an entry counts as verified; 0: always. A truncated stack may become
 * complete when its table arrives. Generated code without frame pointers may leave the frame
 * pointer of an outer frame in the register. User space reads such code within a fraction of a
 * second, and copies of the stack are then unwound with the result.
 */
static __always_inline __u64 believed_until(const struct sample_scratch *scratch,
					    const struct memo_scratch *memo, __u64 now_ns)
{
	if (scratch->sample.user_end > PKBPF_END_LAST_COMPLETE)
		return now_ns | (MEMO_INCOMPLETE_NS - 1);
	/* Without a user stack, generated_ip is left from another one. */
	if (!PKBPF_UNWIND_ARM64 && memo->ip && scratch->unwind.state.generated_ip)
		return now_ns | (MEMO_DOUBTFUL_NS - 1);
	return 0;
}

__attribute__((noinline)) __u32 memo_store(__u32 tid, __u64 stack_id, __u64 now_ns)
{
	struct sample_scratch *scratch;
	struct pkbpf_stack_memo *entry;
	struct memo_scratch *memo;
	__u64 oldest_ns = ~0ULL;
	__u32 zero = 0, first, slot;
	bool known = false;

	memo = bpf_map_lookup_elem(&memo_scratch, &zero);
	scratch = memo ? walked_scratch(memo) : NULL;
	if (!scratch)
		return PKBPF_MEMO_NONE;
	first = memo_slot(memo, tid);
	slot = first;
	for (__u32 way = 0; way < PKBPF_MEMO_WAYS; way++) {
		__u32 key = first + way;

		entry = bpf_map_lookup_elem(&stack_memos, &key);
		if (!entry)
			return PKBPF_MEMO_NONE;
		if (entry->stack_id == stack_id && memo_is_about(entry, memo, tid)) {
			known = true;
			slot = key;
			break;
		}
		/* An empty entry was last used at time 0. */
		if (entry->used_ns < oldest_ns) {
			oldest_ns = entry->used_ns;
			slot = key;
		}
	}
	entry = bpf_map_lookup_elem(&stack_memos, &slot);
	if (!entry)
		return PKBPF_MEMO_NONE;
	entry->tid = 0;
	if (known ? !memo_learn_words(slot) : !memo_keep_words(slot))
		return PKBPF_MEMO_NONE;
	entry->until_ns = believed_until(scratch, memo, now_ns);
	entry->used_ns = now_ns;
	if (!known) {
		entry->ip = memo->ip;
		entry->sp = memo->sp;
		entry->mm = memo->mm;
		entry->born_ns = memo->born_ns;
		entry->stack_id = stack_id;
		for (int i = 0; i < PKBPF_MEMO_ROWS; i++)
			entry->rows[i] = PKBPF_MEMO_NONE;
		entry->hits = 0;
		entry->walks = 0;
	}
	entry->fp = memo->fp;
	entry->bx = memo->bx;
	entry->walks++;
	entry->tid = tid;
	return slot;
}
