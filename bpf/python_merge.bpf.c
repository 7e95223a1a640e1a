// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Puts the Python frames of a thread into its native stack. */
#include "python.bpf.h"

int python_push_part(__u32 slot, __u32 all_runs);
int python_count_loops(__u32 slot);
int python_place_part(__u32 slot);
int python_place(__u32 slot);

/* Words, or frames, looked at per call: the verifier follows each loop once. */
#define WORDS_PER_CALL 32
#define WORD_CALLS     (PYTHON_MAX_WORDS / WORDS_PER_CALL)
#define CHAIN_MASK     (PYTHON_CHAINS - 1)
/* That of frames without one: they come last. No stack pointer is near. */
#define PYTHON_LAST_ANCHOR (PYTHON_NO_ANCHOR - 1)

/* Chooses the chain whose next run is the innermost, and returns the run's anchor. Inner frames
 * have lower addresses. */
static __always_inline __u64 next_anchor(struct python_scratch *python)
{
	__u64 lowest = PYTHON_NO_ANCHOR, anchor;
	__u32 chain = 0;

#pragma unroll
	for (__u32 i = 0; i < PYTHON_CHAINS; i++) {
		__u32 next = python->nexts[i];

		if (i >= python->chain_count || next >= python->ends[i])
			continue;
		anchor = pkbpf_python_anchor(
			python->words[python_index(next, PYTHON_MAX_WORDS - 1)]);
		if (!anchor)
			anchor = PYTHON_LAST_ANCHOR;
		if (anchor < lowest) {
			lowest = anchor;
			chain = i;
		}
	}
	python->chain = chain;
	return lowest;
}

__attribute__((noinline)) int python_rewind(__u32 slot)
{
	struct sample_scratch *scratch = slot < SCRATCH_SLOTS ? scratch_get(slot) : NULL;
	struct python_scratch *python = python_scratch_get(slot);

	if (!scratch || !python)
		return 0;
	python->nexts[0] = 0;
#pragma unroll
	for (__u32 i = 1; i < PYTHON_CHAINS; i++)
		python->nexts[i] = python->ends[i - 1];
	scratch->unwind.python_anchor = next_anchor(python);
	return 0;
}

/* Adds a word to the user stack; false: there is no room. */
static __always_inline bool push_word(struct sample_scratch *scratch, __u64 word)
{
	struct unwind_scratch *unwind = &scratch->unwind;
	__u32 depth = unwind->state.depth, index = unwind->first_frame + depth;

	if (depth >= unwind->limit || index >= PKBPF_MAX_KERNEL_FRAMES + PKBPF_MAX_USER_FRAMES)
		return false;
	scratch->ips[index] = word;
	unwind->state.depth = depth + 1;
	return true;
}

/* Adds the frames of a run of the current chain, up to the next anchor, or those of all its runs;
 * 1: all are added. */
__attribute__((noinline)) int python_push_part(__u32 slot, __u32 all_runs)
{
	struct sample_scratch *scratch = slot < SCRATCH_SLOTS ? scratch_get(slot) : NULL;
	struct python_scratch *python = python_scratch_get(slot);
	__u32 chain;

	if (!scratch || !python)
		return 1;
	chain = python_index(python->chain, CHAIN_MASK);
	for (int i = 0; i < WORDS_PER_CALL; i++) {
		__u32 at = python->nexts[chain];
		__u64 word;

		if (at >= python->ends[chain])
			return 1;
		word = python->words[python_index(at, PYTHON_MAX_WORDS - 1)];
		if (pkbpf_python_kind(word) == PKBPF_PYTHON_ANCHOR && !all_runs)
			return 1;
		python->nexts[chain] = at + 1;
		if (pkbpf_python_kind(word) == PKBPF_PYTHON_CUT) {
			/* Whatever comes now is not the caller. */
			scratch->unwind.limit = scratch->unwind.state.depth;
			if (!all_runs || scratch->unwind.end <= PKBPF_END_LAST_COMPLETE)
				scratch->unwind.python_end = pkbpf_python_cut_reason(word);
			return 1;
		}
		if (pkbpf_python_kind(word) != PKBPF_PYTHON_ANCHOR)
			push_word(scratch, word);
	}
	return 0;
}

__attribute__((noinline)) int python_push_run(__u32 slot)
{
	struct sample_scratch *scratch = slot < SCRATCH_SLOTS ? scratch_get(slot) : NULL;
	struct python_scratch *python = python_scratch_get(slot);

	if (!scratch || !python)
		return 0;
	python->nexts[python_index(python->chain, CHAIN_MASK)]++; /* the run's own anchor */
	for (int i = 0; i < WORD_CALLS; i++)
		if (python_push_part(slot, 0))
			break;
	scratch->unwind.python_anchor = next_anchor(python);
	return 0;
}

/* A word of the user stack; NULL: beyond its end. */
static __always_inline __u64 *word_at(struct sample_scratch *scratch, __u32 at)
{
	__u64 index = scratch->unwind.first_frame + at;

	/* The register that is compared is the one that is used. */
	barrier_var(index);
	if (index >= PKBPF_MAX_KERNEL_FRAMES + PKBPF_MAX_USER_FRAMES)
		return NULL;
	barrier_var(index);
	return &scratch->ips[index];
}

/* Counts native frames of the interpreter's loop, of those that fit in beside their Python frames,
 * and have one; 1: there are no more. */
__attribute__((noinline)) int python_count_loops(__u32 slot)
{
	struct sample_scratch *scratch = slot < SCRATCH_SLOTS ? scratch_get(slot) : NULL;
	struct python_scratch *python = python_scratch_get(slot);

	if (!scratch || !python)
		return 1;
	for (int i = 0; i < WORDS_PER_CALL; i++) {
		__u64 *word = word_at(scratch, python->from);
		__u32 loops = python->loops;

		if (!word || python->from >= scratch->unwind.state.depth)
			return 1;
		loops += pkbpf_python_in_loop(&python->process, *word);
		if (python->from + loops + 1 > scratch->unwind.limit ||
		    (python->cut && loops > python->ends[0] - 2))
			return 1;
		python->loops = loops;
		python->from++;
	}
	return 0;
}

/* Moves native frames up, from the outermost on, and puts Python frames between them; 1: all are
 * placed. */
__attribute__((noinline)) int python_place_part(__u32 slot)
{
	struct sample_scratch *scratch = slot < SCRATCH_SLOTS ? scratch_get(slot) : NULL;
	struct python_scratch *python = python_scratch_get(slot);

	if (!scratch || !python)
		return 1;
	for (int i = 0; i < WORDS_PER_CALL; i++) {
		__u64 *from, *to, word;

		if (!python->from || python->from >= python->to)
			return 1;
		from = word_at(scratch, --python->from);
		to = word_at(scratch, --python->to);
		if (!from || !to)
			return 1;
		word = *from;
		if (pkbpf_python_in_loop(&python->process, word) &&
		    --python->loops < python->ends[0] - 1 - !!python->cut) {
			/* behind the anchor */
			*to = python->words[python_index(python->loops + 1, PYTHON_MAX_WORDS - 1)];
			to = word_at(scratch, --python->to);
			if (!to)
				return 1;
		}
		*to = word;
	}
	return 0;
}

/*
 * Interpreters without anchors have a native frame of the loop for each Python frame. 1: all Python
 * frames are in their places; 0: those of the outermost frames may be left.
 */
__attribute__((noinline)) int python_place(__u32 slot)
{
	struct sample_scratch *scratch = slot < SCRATCH_SLOTS ? scratch_get(slot) : NULL;
	struct python_scratch *python = python_scratch_get(slot);
	__u32 frames, placed, skipped, is_shortened;

	if (!scratch || !python || !python->process.loop[0].size || python->chain_count != 1 ||
	    python->ends[0] < 2)
		return 0;
	frames = python->ends[0] - 1 - !!python->cut;
	python->loops = 0;
	python->from = 0;
	for (int i = 0; i < WORD_CALLS; i++)
		if (python_count_loops(slot))
			break;
	/* The innermost ones stay. */
	is_shortened = python->from < scratch->unwind.state.depth;
	if (is_shortened) {
		scratch->unwind.state.depth = python->from;
		scratch->unwind.end = python->cut ? python->cut : PKBPF_END_MAX_DEPTH;
	}
	/* The innermost activation may have no frame yet, or none any more. */
	skipped = python->loops > frames;
	if (python->loops > frames + 1)
		return 0;
	/* In a complete stack each frame has its activation. */
	if (python->loops < frames && scratch->unwind.end <= PKBPF_END_LAST_COMPLETE)
		return 0;
	placed = python->loops - skipped;
	python->from = scratch->unwind.state.depth;
	python->to = python->from + placed;
	scratch->unwind.state.depth = python->to;
	python->loops -= skipped;
	for (int i = 0; i < 2 * WORD_CALLS; i++)
		if (python_place_part(slot))
			break;
	python->nexts[0] = 1 + placed;
	return placed == frames || is_shortened;
}

/* The native stack ends before the frames that run these: it was cut, or the interpreter has no
 * anchors. */
__attribute__((noinline)) int python_push_rest(__u32 slot)
{
	struct sample_scratch *scratch = slot < SCRATCH_SLOTS ? scratch_get(slot) : NULL;
	struct python_scratch *python = python_scratch_get(slot);

	if (!scratch || !python)
		return 0;
	scratch->unwind.python_anchor = PYTHON_NO_ANCHOR;
	if (python_place(slot))
		return 0;
	counter_add(PKBPF_COUNTER_PYTHON_UNPLACED, 1);
	push_word(scratch, PKBPF_PYTHON_CUT_WORD);
	for (__u32 chain = 0; chain < PYTHON_CHAINS; chain++) {
		if (chain >= python->chain_count)
			break;
		python->chain = chain;
		for (int i = 0; i < WORD_CALLS; i++)
			if (python_push_part(slot, 1))
				break;
	}
	return 0;
}
