// SPDX-License-Identifier: BSD-2-Clause
/* Merges runs of Python frames by their anchors, and frames without anchors by their number. */
#include "unwind/python_merge.h"

#include <pkbpf/python.h>

static bool is_anchor(uint64_t word)
{
	return pkbpf_python_kind(word) == PKBPF_PYTHON_ANCHOR;
}

void python_merge_init(struct python_merge *merge, const uint64_t *words, size_t count)
{
	*merge = (struct python_merge){.words = words};
	for (size_t i = 0; i < count; i++) {
		if (!i || (is_anchor(words[i]) && words[i] & PKBPF_PYTHON_OTHER_CHAIN)) {
			if (merge->chains == PYTHON_MERGE_CHAINS)
				break;
			merge->starts[merge->chains++] = i;
		}
		merge->ends[merge->chains - 1] = i + 1;
	}
	python_merge_rewind(merge);
}

void python_merge_rewind(struct python_merge *merge)
{
	for (size_t i = 0; i < merge->chains; i++)
		merge->nexts[i] = merge->starts[i];
}

static void push(struct python_merge_stack *stack, uint64_t word)
{
	/* Frames are missing: whatever comes now is not the caller. */
	if (pkbpf_python_kind(word) == PKBPF_PYTHON_CUT) {
		stack->limit = stack->depth;
		stack->cut = pkbpf_python_cut_reason(word);
	} else if (stack->depth < stack->limit)
		stack->ips[stack->depth++] = word;
}

static void push_cut(struct python_merge_stack *stack)
{
	if (stack->depth < stack->limit)
		stack->ips[stack->depth++] = PKBPF_PYTHON_CUT_WORD;
}

/* The chain whose next run is the innermost. Inner frames have lower addresses; runs without an
 * anchor wait for the end. chains: none has an anchor. */
static size_t innermost_chain(const struct python_merge *merge, uint64_t *ret_anchor)
{
	size_t found = merge->chains;

	for (size_t i = 0; i < merge->chains; i++) {
		uint64_t anchor;

		if (merge->nexts[i] >= merge->ends[i])
			continue;
		anchor = pkbpf_python_anchor(merge->words[merge->nexts[i]]);
		if (anchor && (found == merge->chains || anchor < *ret_anchor)) {
			*ret_anchor = anchor;
			found = i;
		}
	}
	return found;
}

void python_merge_push(struct python_merge *merge, uint64_t sp, struct python_merge_stack *stack)
{
	uint64_t anchor = 0;
	size_t chain = innermost_chain(merge, &anchor), *next;

	if (chain == merge->chains || !pkbpf_python_encloses(sp, anchor))
		return;
	next = &merge->nexts[chain];
	for (++*next; *next < merge->ends[chain] && !is_anchor(merge->words[*next]); ++*next)
		push(stack, merge->words[*next]);
}

/* Number of native frames of the interpreter's loop. Where there is no room for Python frames
 * beside all of them, or there are `most` of those and the others are missing, the outer ones are
 * left out. */
static size_t count_loops(const struct pkbpf_python_process *interpreter, size_t most, uint32_t cut,
			  struct python_merge_stack *stack)
{
	size_t loops = 0;

	for (size_t at = 0; at < stack->depth; at++) {
		bool in_loop = pkbpf_python_in_loop(interpreter, stack->ips[at]);

		if (at + loops + in_loop + 1 > stack->limit || (cut && loops + in_loop > most)) {
			stack->depth = at;
			stack->cut = cut ? cut : PKBPF_END_MAX_DEPTH;
			break;
		}
		loops += in_loop;
	}
	return loops;
}

/* Behind each native frame of the interpreter's loop belongs the Python frame that it runs. true:
 * all have been placed. */
static bool place(struct python_merge *merge, const struct pkbpf_python_process *interpreter,
		  bool is_complete, struct python_merge_stack *stack)
{
	size_t frames = merge->ends[0] - 1, loops, placed, to;
	uint32_t cut = 0;

	if (!interpreter || !interpreter->loop[0].size || merge->chains != 1 || merge->nexts[0] ||
	    pkbpf_python_anchor(merge->words[0]))
		return false;
	if (frames && pkbpf_python_kind(merge->words[frames]) == PKBPF_PYTHON_CUT)
		cut = pkbpf_python_cut_reason(merge->words[frames--]);
	loops = count_loops(interpreter, frames, cut, stack);
	/* The innermost activation may have no frame yet, or none any more. In a complete stack
	 * each frame has its activation. */
	if (loops > frames + 1 || (loops < frames && is_complete && !stack->cut))
		return false;
	placed = loops < frames ? loops : frames;
	to = stack->depth + placed;
	for (size_t from = stack->depth, next = placed; from-- > 0 && to > from + 1;) {
		if (next && pkbpf_python_in_loop(interpreter, stack->ips[from]))
			stack->ips[--to] = merge->words[next--];
		stack->ips[--to] = stack->ips[from];
	}
	stack->depth += placed;
	merge->nexts[0] = 1 + placed;
	return placed == frames || stack->cut;
}

void python_merge_push_rest(struct python_merge *merge,
			    const struct pkbpf_python_process *interpreter, bool is_complete,
			    struct python_merge_stack *stack)
{
	bool is_left = false;

	for (size_t i = 0; i < merge->chains; i++)
		is_left |= merge->nexts[i] < merge->ends[i];
	if (!is_left || place(merge, interpreter, is_complete, stack))
		return;
	push_cut(stack);
	for (size_t i = 0; i < merge->chains; i++)
		for (size_t *next = &merge->nexts[i]; *next < merge->ends[i]; ++*next)
			if (!is_anchor(merge->words[*next]))
				push(stack, merge->words[*next]);
}
