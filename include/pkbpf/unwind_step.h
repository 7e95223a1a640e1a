/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One step from a user frame to its caller: the same code in the BPF programs and in user space.
 *
 * The includer defines UNWIND_INLINE (the way to force a function inline) before the include, and
 * these six functions after it:
 *
 * unwind_enter_mapping(state, pc): caches the mapping that holds pc in the state. Returns 0,
 * PKBPF_END_NO_MAPPING or PKBPF_END_NO_TABLE.
 *
 * unwind_find_rule(state, address, rule): copies the rule that covers an ELF address of the cached
 * mapping. Returns false if no rule does.
 *
 * unwind_read_word(state, address, value): reads a word of the task's memory. Returns 0 or an
 * error.
 *
 * unwind_read_signal_regs(state, address): reads PKBPF_SIGNAL_REGS words into state->regs. Returns
 * 0 or an error.
 *
 * unwind_push(state, ip): keeps a frame. Returns false if there is no room.
 *
 * unwind_switch_go(state): unwind_go_switch() of unwind_go.h.
 *
 * Nothing here loops. Every value from the task is only compared, added, or passed to
 * unwind_read_word(): hostile tables or stacks lead to wrong frames at worst.
 */
#ifndef PKBPF_UNWIND_STEP_H
#define PKBPF_UNWIND_STEP_H

#include <pkbpf/event.h>
#include <pkbpf/unwind.h>
#include <pkbpf/unwind_state.h>

static UNWIND_INLINE __u32 unwind_enter_mapping(struct pkbpf_unwind_state *state, __u64 pc);
static UNWIND_INLINE _Bool unwind_find_rule(struct pkbpf_unwind_state *state, __u64 address,
					    struct pkbpf_unwind_rule *rule);
static UNWIND_INLINE long unwind_read_word(struct pkbpf_unwind_state *state, __u64 address,
					   __u64 *value);
static UNWIND_INLINE long unwind_read_signal_regs(struct pkbpf_unwind_state *state, __u64 address);
static UNWIND_INLINE _Bool unwind_push(struct pkbpf_unwind_state *state, __u64 ip);
static UNWIND_INLINE __u32 unwind_switch_go(struct pkbpf_unwind_state *state);

/* Continues with the registers that were just read into regs[]. */
static UNWIND_INLINE void unwind_take_regs(struct pkbpf_unwind_state *state)
{
	state->ip = PKBPF_CODE_ADDRESS(state->regs[PKBPF_SIGNAL_IP]);
	state->sp = state->regs[PKBPF_SIGNAL_SP];
	state->stack_start = state->sp;
	state->fp = state->regs[PKBPF_SIGNAL_FP];
	state->kept = state->flags & PKBPF_UNWIND_FOLLOWS_KEPT ? PKBPF_UNWIND_ALL_KEPT : 0;
	state->flags |= PKBPF_UNWIND_EXACT | PKBPF_UNWIND_REGS;
	state->flags &= ~(PKBPF_UNWIND_GUESSED | PKBPF_UNWIND_LEAF_REGS | PKBPF_UNWIND_FRAMELESS);
}

/* Starts an unwinding with the registers in regs[] and the flags that describe them. */
static UNWIND_INLINE void unwind_begin(struct pkbpf_unwind_state *state)
{
	__u32 flags = state->flags;

	unwind_take_regs(state);
	state->flags = flags | PKBPF_UNWIND_REGS;
	state->mapping_size = 0;
	state->mapping_flags = 0;
	state->generated_ip = 0;
	state->go_left_at = 0;
	state->depth = 0;
	state->guessed = 0;
}

static UNWIND_INLINE _Bool unwind_register(struct pkbpf_unwind_state *state, __u32 number,
					   __u64 *value)
{
	__u32 index = PKBPF_SIGNAL_INDEX(number);

	if (state->flags & PKBPF_UNWIND_REGS || (!PKBPF_UNWIND_ARM64 && state->kept >> index & 1)) {
		*value = state->regs[index];
		return 1;
	}
	if (!PKBPF_UNWIND_ARM64 && PKBPF_UNWIND_ALL_KEPT >> index & 1 &&
	    !(state->flags & PKBPF_UNWIND_FOLLOWS_KEPT))
		state->flags |= PKBPF_UNWIND_WANTS_KEPT;
	return 0;
}

/* The vsyscall page is called but calls nothing: an address there is always that of a leaf. */
static UNWIND_INLINE _Bool unwind_is_vsyscall(const struct pkbpf_unwind_state *state)
{
	return PKBPF_IS_VSYSCALL(state->ip) && state->flags & PKBPF_UNWIND_REGS;
}

static UNWIND_INLINE __u32 unwind_enter_vsyscall(struct pkbpf_unwind_state *state)
{
	state->mapping_start = state->ip & ~0xfffULL;
	state->mapping_size = 0x1000;
	state->mapping_flags = PKBPF_MAPPING_VSYSCALL;
	state->page_count = 0;
	return 0;
}

static UNWIND_INLINE __u32 unwind_leave_vsyscall(struct pkbpf_unwind_state *state, __u64 *cfa,
						 __u64 *ra)
{
	if (!unwind_is_vsyscall(state))
		return PKBPF_END_NO_MAPPING;
	*cfa = state->sp + 8;
	state->flags &= ~(PKBPF_UNWIND_GUESSED | PKBPF_UNWIND_MAY_LEAVE);
	state->flags |= PKBPF_UNWIND_FRAMELESS;
	return unwind_read_word(state, state->sp, ra) ? PKBPF_END_FAULT_RA : 0;
}

/* No rule covers the code: JIT, assembly, or a compiler without unwind info. The step follows the
 * frame pointer if it passes the checks below. */
static UNWIND_INLINE __u32 unwind_guess(struct pkbpf_unwind_state *state, __u64 *cfa, __u64 *ra,
					__u64 *fp)
{
	__u64 frame = state->fp;
	__u32 failed = state->mapping_flags & PKBPF_MAPPING_ANONYMOUS ? PKBPF_END_FAULT_FP
								      : PKBPF_END_NO_RULE;

	if (state->flags & PKBPF_UNWIND_NO_GUESS)
		return PKBPF_END_NO_RULE;
	if (failed == PKBPF_END_FAULT_FP && !state->generated_ip)
		state->generated_ip = state->ip;
	/*
	 * A chain of frame pointers ends with 0. Without a chain, 0 may be any value of a general
	 * register; on arm64 the register holds nothing but frame pointers. No thread begins in
	 * generated code, but an Erlang process does: there, 0 counts as the root only if the chain
	 * has come through generated code, too.
	 */
	if (!frame && failed == PKBPF_END_FAULT_FP)
		return state->flags & PKBPF_UNWIND_GUESSED ? PKBPF_END_FP_ROOT : failed;
	if (!frame)
		return !PKBPF_UNWIND_ARM64 && !state->guessed ? failed : PKBPF_END_FP_ROOT;
	if ((frame & 7) || frame < state->sp || frame - state->sp > PKBPF_UNWIND_MAX_GUESS_BYTES)
		return failed;
	if (unwind_read_word(state, frame, fp) || unwind_read_word(state, frame + 8, ra))
		return failed;
	/* A return address of 0 ends the chain as well, but not at the first link. On x86-64 the
	 * register may point to variables that are 0; on arm64 it cannot. */
	if (!PKBPF_CODE_ADDRESS(*ra) &&
	    (*fp || (!PKBPF_UNWIND_ARM64 && state->flags & PKBPF_UNWIND_REGS)))
		return failed;
	*cfa = frame + 16;
	state->guessed++;
	state->flags |= PKBPF_UNWIND_GUESSED;
	return 0;
}

/* The CFA may be in a caller-saved register even across a call. OpenSSL's AES-GCM loops call a
 * frameless helper of their own that leaves this register alone. The step accepts the register if
 * it points up the stack. */
static UNWIND_INLINE _Bool unwind_leaf_register(struct pkbpf_unwind_state *state, __u32 number,
						__u64 *cfa)
{
	if (PKBPF_UNWIND_ARM64 || state->flags & PKBPF_UNWIND_WANTS_KEPT ||
	    (state->flags & (PKBPF_UNWIND_LEAF_REGS | PKBPF_UNWIND_NO_GUESS)) !=
		    PKBPF_UNWIND_LEAF_REGS)
		return 0;
	*cfa = state->regs[PKBPF_SIGNAL_INDEX(number)];
	if (*cfa & 7 || *cfa <= state->sp || *cfa - state->sp > PKBPF_UNWIND_MAX_GUESS_BYTES)
		return 0;
	state->guessed++;
	state->flags |= PKBPF_UNWIND_GUESSED;
	return 1;
}

/* The last instructions of longjmp(), which has everything in registers, and of setcontext(): the
 * step goes to the frame that they jump to. */
static UNWIND_INLINE __u32 unwind_jump(struct pkbpf_unwind_state *state,
				       const struct pkbpf_unwind_rule *rule)
{
	__u64 sp, fp, ra;

	if (!unwind_register(state, rule->aux, &sp))
		return PKBPF_END_UNSUPPORTED;
	if (rule->cfa == PKBPF_CFA_JUMP) {
		if (!unwind_register(state, (__u32)rule->fp_offset, &fp) ||
		    !unwind_register(state, (__u16)rule->ra_offset, &ra))
			return PKBPF_END_UNSUPPORTED;
	} else if (unwind_read_word(state, sp + (__s64)rule->fp_offset, &fp) ||
		   unwind_read_word(state, sp + (__s64)rule->ra_offset, &ra) ||
		   unwind_read_word(state, sp + (__s64)rule->cfa_offset, &sp)) {
		return PKBPF_END_FAULT_RA;
	}
	ra = PKBPF_CODE_ADDRESS(ra);
	if (!ra)
		return PKBPF_END_ZERO_RA;
	state->ip = ra;
	state->sp = sp;
	state->stack_start = sp;
	state->fp = fp;
	state->flags &= ~(PKBPF_UNWIND_EXACT | PKBPF_UNWIND_REGS | PKBPF_UNWIND_LEAF_REGS |
			  PKBPF_UNWIND_FRAMELESS);
	return 0;
}

/*
 * Returns whether a CFA below the current frame lies on another stack. Code that switches stacks
 * keeps its caller's stack pointer in a register or in memory, and a fiber's stack may lie below
 * its caller's stack. A switch is not accepted after guessed frames, nor to addresses of the
 * current stack that were already unwound. Two stacks that refer to each other end at the frame
 * limit.
 */
static UNWIND_INLINE _Bool unwind_leaves_stack(const struct pkbpf_unwind_state *state, __u64 cfa)
{
	return state->flags & PKBPF_UNWIND_MAY_LEAVE && !state->guessed && !(cfa & 7) &&
	       cfa <= state->stack_start - 16;
}

/* Restores callee-saved registers after a step, if the unwinding follows them. fp: the function's
 * frame pointer before the step. saved NULL: nothing is known about the function. */
static UNWIND_INLINE void unwind_restore_kept(struct pkbpf_unwind_state *state, __u64 fp,
					      const __s16 *saved)
{
	/* Index in regs[] of rbx and r12 to r15. */
	static const __u8 index[PKBPF_KEPT_REGISTERS] = {11, 4, 5, 6, 7};

	if (!saved) {
		state->kept &= state->mapping_flags & PKBPF_MAPPING_VSYSCALL ? ~0U : 0;
		return;
	}
	for (int i = 0; i < PKBPF_KEPT_REGISTERS; i++) {
		__u32 kind = PKBPF_SAVED_KIND(saved[i]);
		__u64 from = kind == PKBPF_SAVED_CFA ? state->sp : fp;

		if (kind == PKBPF_SAVED_NOT)
			continue;
		if (kind == PKBPF_SAVED_UNKNOWN ||
		    unwind_read_word(state, from + PKBPF_SAVED_OFFSET(saved[i]),
				     &state->regs[index[i]]))
			state->kept &= ~(1U << index[i]);
		else
			state->kept |= 1U << index[i];
	}
}

/* Returns 0 with the caller's frame in the state, or the enum pkbpf_stack_end that ends the
 * unwinding. */
// NOLINTNEXTLINE(readability-function-*): parts of it would share state that the verifier loses
static UNWIND_INLINE __u32 unwind_step(struct pkbpf_unwind_state *state)
{
	__u64 pc = state->ip - (state->flags & PKBPF_UNWIND_EXACT ? 0 : 1);
	__u64 cfa = 0, ra = 0, fp = state->fp, lowest_cfa = state->sp, at;
	struct pkbpf_unwind_rule rule = {};
	__u32 end = 0;

	if (pc - state->mapping_start >= state->mapping_size) {
		__u32 guessed_in = state->mapping_flags;

		end = unwind_is_vsyscall(state) ? unwind_enter_vsyscall(state)
						: unwind_enter_mapping(state, pc);
		if (end == PKBPF_END_NO_MAPPING && (state->flags & PKBPF_UNWIND_GUESSED)) {
			/* The word above the supposed frame pointer is no code address, so it was
			 * no frame pointer. */
			state->guessed--;
			return guessed_in & PKBPF_MAPPING_ANONYMOUS ? PKBPF_END_FAULT_FP
								    : PKBPF_END_NO_RULE;
		}
	}
	if (!unwind_push(state, state->ip))
		return PKBPF_END_MAX_DEPTH;
	if (end)
		return end;
	if (!unwind_find_rule(state, pc - state->bias, &rule) || rule.cfa == PKBPF_CFA_NONE) {
		end = state->mapping_flags & PKBPF_MAPPING_VSYSCALL
			      ? unwind_leave_vsyscall(state, &cfa, &ra)
			      : unwind_guess(state, &cfa, &ra, &fp);
		if (end)
			return end;
		goto next;
	}
	state->flags &= ~(PKBPF_UNWIND_GUESSED | PKBPF_UNWIND_MAY_LEAVE);

	switch (rule.cfa) {
	case PKBPF_CFA_SP:
		cfa = state->sp + (__s64)rule.cfa_offset;
		if (!PKBPF_UNWIND_ARM64 && rule.cfa_offset == 8)
			state->flags |= PKBPF_UNWIND_FRAMELESS;
		break;
	case PKBPF_CFA_FP:
		state->flags |= PKBPF_UNWIND_MAY_LEAVE;
		cfa = state->fp + (__s64)rule.cfa_offset;
		break;
	case PKBPF_CFA_OTHER_STACK:
		if (!state->fp || (state->fp & 7))
			return PKBPF_END_OTHER_STACK;
		cfa = state->fp + (__s64)rule.cfa_offset;
		lowest_cfa = 0;
		break;
	case PKBPF_CFA_REGISTER:
		state->flags |= PKBPF_UNWIND_MAY_LEAVE;
		if (!unwind_register(state, rule.aux, &cfa) &&
		    !unwind_leaf_register(state, rule.aux, &cfa))
			return PKBPF_END_UNSUPPORTED;
		cfa += (__s64)rule.cfa_offset;
		break;
	case PKBPF_CFA_SP_DEREF:
	case PKBPF_CFA_FP_DEREF:
		state->flags |= PKBPF_UNWIND_MAY_LEAVE;
		at = rule.cfa == PKBPF_CFA_SP_DEREF ? state->sp : state->fp;
		if (unwind_read_word(state, at + (__s64)rule.cfa_offset, &cfa))
			return PKBPF_END_FAULT_RA;
		cfa += 8ULL * rule.aux;
		if (rule.ra == PKBPF_RA_FP)
			state->flags |= PKBPF_UNWIND_HOTSPOT;
		break;
	case PKBPF_CFA_REGISTER_DEREF:
		state->flags |= PKBPF_UNWIND_MAY_LEAVE;
		if (!unwind_register(state, rule.aux & 15, &at))
			return PKBPF_END_UNSUPPORTED;
		if (unwind_read_word(state, at + (__s64)rule.cfa_offset, &cfa))
			return PKBPF_END_FAULT_RA;
		cfa += 8ULL * (rule.aux >> 4);
		break;
	case PKBPF_CFA_SP_INDEXED:
		if (!unwind_register(state, rule.aux & 15, &at))
			return PKBPF_END_UNSUPPORTED;
		if (unwind_read_word(state, state->sp + (__s64)rule.cfa_offset + 8 * at, &cfa))
			return PKBPF_END_FAULT_RA;
		cfa += 8ULL * (rule.aux >> 4);
		break;
	case PKBPF_CFA_GO_STACK:
	case PKBPF_CFA_GO_CALL:
		__builtin_memcpy(&state->go_rule, &rule, PKBPF_UNWIND_RULE_HEAD_BYTES);
		end = unwind_switch_go(state);
		if (end)
			return end;
		cfa = state->go_cfa;
		ra = state->go_ra;
		fp = state->go_fp;
		state->stack_start = cfa;
		state->kept = 0;
		lowest_cfa = 0;
		goto next;
	case PKBPF_CFA_SP_INTERRUPTED:
		cfa = state->sp + (__s64)rule.cfa_offset;
		state->flags |= PKBPF_UNWIND_INTERRUPTED;
		break;
	case PKBPF_CFA_PLT:
		cfa = state->sp + 8 + ((pc & 15) >= (__u64)rule.cfa_offset ? 8 : 0);
		break;
	case PKBPF_CFA_SIGNAL:
		if (unwind_read_signal_regs(state, state->sp + PKBPF_SIGNAL_REGS_AT))
			return PKBPF_END_FAULT_RA;
		unwind_take_regs(state);
		return 0;
	case PKBPF_CFA_JUMP:
	case PKBPF_CFA_JUMP_SAVED:
		return unwind_jump(state, &rule);
	case PKBPF_CFA_END:
		state->depth -= rule.aux && state->depth > 1;
		return PKBPF_END_ROOT;
	case PKBPF_CFA_PENDING:
		return PKBPF_END_NO_TABLE;
	case PKBPF_CFA_NO_ROOM:
		return PKBPF_END_NO_ROOM;
	default:
		return PKBPF_END_UNSUPPORTED;
	}

	/* The frame pointer lies below the return address. Reading it first lets one window serve
	 * both. */
	if (rule.fp == PKBPF_FP_CFA || rule.fp == PKBPF_FP_FP) {
		at = rule.fp == PKBPF_FP_CFA ? cfa : state->fp;
		if (unwind_read_word(state, at + (__s64)rule.fp_offset, &fp))
			return PKBPF_END_FAULT_RA;
	} else if (rule.fp == PKBPF_FP_UNDEFINED) {
		fp = 0;
	}
	if (rule.ra == PKBPF_RA_CFA || rule.ra == PKBPF_RA_FP || rule.ra == PKBPF_RA_AT_REGISTER) {
		at = rule.ra == PKBPF_RA_CFA ? cfa : state->fp;
		if (rule.ra == PKBPF_RA_AT_REGISTER) {
			if (!unwind_register(state, PKBPF_RA_AT_NUMBER(rule.ra_offset), &at))
				return PKBPF_END_UNSUPPORTED;
			rule.ra_offset &= PKBPF_RA_AT_MAX_BYTES;
		}
		if (unwind_read_word(state, at + (__s64)rule.ra_offset, &ra))
			return PKBPF_END_FAULT_RA;
		/* Only a leaf may return with the stack pointer where it is: its stack has not
		 * moved yet, or has already moved back (OCaml's caml_c_call). */
		lowest_cfa += !(state->flags & PKBPF_UNWIND_REGS);
	} else if (rule.ra == PKBPF_RA_REGISTER) {
		if (!unwind_register(state, (__u16)rule.ra_offset, &ra))
			return PKBPF_END_UNSUPPORTED;
	} else {
#if PKBPF_UNWIND_ARM64
		if (!(state->flags & PKBPF_UNWIND_REGS))
			return PKBPF_END_UNSUPPORTED;
		ra = state->regs[PKBPF_SIGNAL_LINK];
#else
		return PKBPF_END_UNSUPPORTED;
#endif
	}
next:
	ra = PKBPF_CODE_ADDRESS(ra);
	/* A return address of 0 does not justify a change of stacks. */
	if (cfa < lowest_cfa && (!ra || !unwind_leaves_stack(state, cfa)))
		return PKBPF_END_NO_PROGRESS;
	/* A return address of 0 ends the stack, but not right after a stack was entered. The
	 * innermost function is rarely the first of its stack, and unwind info that is wrong inside
	 * an assembly loop (LuaJIT's interpreter, OpenSSL) leads to arbitrary words. */
	if (!ra)
		return (state->flags & PKBPF_UNWIND_EXACT) && fp ? PKBPF_END_NOWHERE
								 : PKBPF_END_ZERO_RA;
	if (cfa < state->sp)
		state->stack_start = cfa;
	state->ip = ra;
	state->sp = cfa;
	state->fp = fp;
	if ((state->flags & (PKBPF_UNWIND_REGS | PKBPF_UNWIND_FRAMELESS)) ==
	    (PKBPF_UNWIND_REGS | PKBPF_UNWIND_FRAMELESS))
		state->flags |= PKBPF_UNWIND_LEAF_REGS;
	else
		state->flags &= ~PKBPF_UNWIND_LEAF_REGS;
	/* PKBPF_UNWIND_INTERRUPTED becomes PKBPF_UNWIND_EXACT. */
	end = (state->flags / PKBPF_UNWIND_INTERRUPTED) & PKBPF_UNWIND_EXACT;
	state->flags &= ~(PKBPF_UNWIND_EXACT | PKBPF_UNWIND_REGS | PKBPF_UNWIND_FRAMELESS |
			  PKBPF_UNWIND_INTERRUPTED);
	state->flags |= end;
	return 0;
}

#endif
