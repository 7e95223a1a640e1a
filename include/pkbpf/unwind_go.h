/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frame step across a stack switch of Go's runtime: from the stack it switched to, back to the one
 * it left.
 *
 * A thread has its own stack (of g0) beside those of its goroutines. The includer defines
 * UNWIND_INLINE and the two functions below, which fill state->go_word and return 0 or an error.
 * unwind_thread_pointer() reads the thread's FS base. unwind_read_go_word() reads a word of the
 * task's memory at any address.
 *
 * Everything is kept in the state: Linux 5.10 leaves hardly any room on the kernel's stack.
 */
#ifndef PKBPF_UNWIND_GO_H
#define PKBPF_UNWIND_GO_H

#include <pkbpf/event.h>
#include <pkbpf/unwind.h>
#include <pkbpf/unwind_state.h>

static UNWIND_INLINE long unwind_thread_pointer(struct pkbpf_unwind_state *state);
static UNWIND_INLINE long unwind_read_go_word(struct pkbpf_unwind_state *state, __u64 address);

/* Reads the thread's m into go_ra and go_word. Every g of a thread has the same m. */
static UNWIND_INLINE long unwind_go_machine(struct pkbpf_unwind_state *state)
{
	if (unwind_thread_pointer(state) || !state->go_word)
		return -1;
	state->go_cfa = state->go_word + (__s64)state->go_rule.cfa_offset;
	if (state->go_rule.fp) {
		state->go_cfa = state->go_word;
		if (unwind_read_go_word(state, state->bias + (__u32)state->go_rule.cfa_offset))
			return -1;
		state->go_cfa += state->go_word;
	}
	if (unwind_read_go_word(state, state->go_cfa) || !state->go_word ||
	    unwind_read_go_word(state, state->go_word + 8ULL * state->go_rule.aux))
		return -1;
	state->go_ra = state->go_word;
	return state->go_word ? 0 : -1;
}

/* Reads return address and frame pointer of the frame with CFA go_cfa. `saves_fp`: the frame saved
 * its caller's frame pointer. */
static UNWIND_INLINE __u32 unwind_go_caller(struct pkbpf_unwind_state *state, _Bool saves_fp)
{
	state->go_fp = state->fp;
	if (saves_fp) {
		if (unwind_read_go_word(state, state->go_cfa - 16))
			return PKBPF_END_OTHER_STACK;
		state->go_fp = state->go_word;
	}
	if (unwind_read_go_word(state, state->go_cfa - 8) || !state->go_word)
		return PKBPF_END_OTHER_STACK;
	state->go_ra = state->go_word;
	return 0;
}

/* From a goroutine that C code called back, to where the thread left its own stack. Before the
 * callback the runtime saved where the previous callback had left it. */
static UNWIND_INLINE __u32 unwind_go_called_back(struct pkbpf_unwind_state *state)
{
	if (!state->go_left_at) {
		if (unwind_go_machine(state) || unwind_read_go_word(state, state->go_word) ||
		    unwind_read_go_word(state, state->go_word + state->go_rule.go_offset))
			return PKBPF_END_OTHER_STACK;
		state->go_left_at = state->go_word;
	}
	state->go_cfa = state->go_left_at + (__s64)state->go_rule.fp_offset;
	if (unwind_read_go_word(state, state->go_left_at))
		return PKBPF_END_OTHER_STACK;
	state->go_left_at = state->go_word;
	return unwind_go_caller(state, 1);
}

/* From C code to the goroutine that called it, even if its stack was moved since. */
static UNWIND_INLINE __u32 unwind_go_call(struct pkbpf_unwind_state *state)
{
	if (unwind_read_go_word(state, state->sp + state->go_rule.go_offset))
		return PKBPF_END_OTHER_STACK;
	state->go_cfa = state->go_word;
	if (state->go_rule.aux) {
		if (unwind_read_go_word(state, state->sp + (__s64)state->go_rule.fp_offset))
			return PKBPF_END_OTHER_STACK;
		if (state->go_word) {
			if (unwind_read_go_word(state, state->go_word + state->go_rule.aux))
				return PKBPF_END_OTHER_STACK;
			state->go_cfa = state->go_word - state->go_cfa;
		}
	}
	state->go_cfa += (__s64)state->go_rule.cfa_offset;
	return unwind_go_caller(state, state->go_rule.cfa_offset > 8);
}

/* Returns 0 with the caller's stack pointer, address and frame pointer in go_cfa, go_ra and go_fp;
 * otherwise the end. */
static UNWIND_INLINE __u32 unwind_go_switch(struct pkbpf_unwind_state *state)
{
	if (state->go_rule.cfa == PKBPF_CFA_GO_CALL)
		return unwind_go_call(state);
	if (state->go_rule.ra == PKBPF_GO_CALLED_BACK)
		return unwind_go_called_back(state);
	if (unwind_go_machine(state) ||
	    unwind_read_go_word(state, state->go_word + state->go_rule.ra_offset))
		return PKBPF_END_OTHER_STACK;
	/* The thread has no current goroutine: it was to be stopped instead, and the code that
	 * follows runs for none. */
	if (!state->go_word)
		return state->go_rule.ra == PKBPF_GO_STOPPED ? PKBPF_END_ROOT
							     : PKBPF_END_OTHER_STACK;
	state->go_fp = state->go_word;
	if (unwind_read_go_word(state, state->go_fp + 8ULL * state->go_rule.aux) ||
	    state->go_word != state->go_ra ||
	    unwind_read_go_word(state, state->go_fp + state->go_rule.go_offset) || !state->go_word)
		return PKBPF_END_OTHER_STACK;
	state->go_cfa = state->go_word;
	if (state->go_rule.ra != PKBPF_GO_STOPPED) {
		state->go_cfa += (__s64)state->go_rule.fp_offset;
		return unwind_go_caller(state, state->go_rule.fp_offset > 8);
	}
	if (unwind_read_go_word(state, state->go_fp + state->go_rule.go_offset + 8) ||
	    !state->go_word)
		return PKBPF_END_OTHER_STACK;
	state->go_ra = state->go_word;
	state->go_fp = state->fp;
	return 0;
}

#endif
