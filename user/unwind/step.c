// SPDX-License-Identifier: BSD-2-Clause
/* Connects the shared unwind step to memory and tables in user space. */
#include "unwind/step.h"

#include <errno.h>
#include <string.h>

#include <pkbpf/hotspot.h>

#include "unwind/python_merge.h"

#define UNWIND_INLINE inline __attribute__((always_inline))
#include <pkbpf/unwind_go.h>
#include <pkbpf/unwind_step.h>

struct walk {
	struct pkbpf_unwind_state state; /* first: walk_of() relies on it */
	const struct unwind_walk_ops *ops;
	void *context;
	struct unwind_code code;
	struct pkbpf_unwind_rule rule; /* of the last frame; NONE: it had none */
	uint64_t *ips;
	size_t limit;
	struct python_merge python;
	uint32_t python_cut; /* as in struct python_merge_stack */
	uint64_t leaf_bytecode;
	bool is_exact;
};

static struct walk *walk_of(struct pkbpf_unwind_state *state)
{
	return (struct walk *)state;
}

static UNWIND_INLINE __u32 unwind_enter_mapping(struct pkbpf_unwind_state *state, __u64 pc)
{
	struct walk *walk = walk_of(state);
	uint32_t end;

	state->mapping_size = 0;
	memset(&walk->code, 0, sizeof(walk->code));
	end = walk->ops->find_code(walk->context, pc, &walk->code);
	/* As in the kernel: outside all mappings the flags of the previous code stay, which give
	 * the reason for truncation. */
	if (end != PKBPF_END_NO_MAPPING)
		state->mapping_flags = walk->code.flags;
	if (end)
		return end;
	state->bias = walk->code.bias;
	state->mapping_start = walk->code.start;
	state->mapping_size = walk->code.end - walk->code.start;
	return 0;
}

static UNWIND_INLINE bool unwind_find_rule(struct pkbpf_unwind_state *state, __u64 address,
					   struct pkbpf_unwind_rule *rule)
{
	struct walk *walk = walk_of(state);

	walk->rule.cfa = PKBPF_CFA_NONE;
	if (state->mapping_flags &
	    (PKBPF_MAPPING_ANONYMOUS | PKBPF_MAPPING_NO_TABLE | PKBPF_MAPPING_VSYSCALL))
		return false;
	if (!walk->ops->find_rule(walk->context, &walk->code, address, rule))
		return false;
	walk->rule = *rule;
	return true;
}

static UNWIND_INLINE long unwind_read_word(struct pkbpf_unwind_state *state, __u64 address,
					   __u64 *value)
{
	struct walk *walk = walk_of(state);

	return walk->ops->read_memory(walk->context, address, value, sizeof(*value));
}

static UNWIND_INLINE long unwind_read_signal_regs(struct pkbpf_unwind_state *state, __u64 address)
{
	struct walk *walk = walk_of(state);

	return walk->ops->read_memory(walk->context, address, state->regs, sizeof(state->regs));
}

static UNWIND_INLINE long unwind_thread_pointer(struct pkbpf_unwind_state *state)
{
	struct walk *walk = walk_of(state);

	return walk->ops->thread_pointer ? walk->ops->thread_pointer(walk->context, &state->go_word)
					 : -EOPNOTSUPP;
}

static UNWIND_INLINE long unwind_read_go_word(struct pkbpf_unwind_state *state, __u64 address)
{
	return unwind_read_word(state, address, &state->go_word);
}

static UNWIND_INLINE __u32 unwind_switch_go(struct pkbpf_unwind_state *state)
{
	return unwind_go_switch(state);
}

static UNWIND_INLINE bool unwind_push(struct pkbpf_unwind_state *state, __u64 ip)
{
	struct walk *walk = walk_of(state);

	if (state->depth >= walk->limit)
		return false;
	if (state->depth && (state->flags & PKBPF_UNWIND_EXACT))
		ip |= PKBPF_INTERRUPTED;
	walk->ips[state->depth++] = ip;
	return true;
}

/* Adds the method of the interpreter's frame just unwound; fp: that frame's. */
static void push_method(struct walk *walk, uint64_t fp)
{
	struct pkbpf_unwind_state *state = &walk->state;
	bool is_leaf = state->depth == 1 && walk->is_exact;
	__u64 method, bytecode, word;

	state->flags &= ~PKBPF_UNWIND_HOTSPOT;
	if (unwind_read_word(state, fp + PKBPF_HOTSPOT_BYTECODE_AT, &bytecode) ||
	    unwind_read_word(state, fp + PKBPF_HOTSPOT_METHOD_AT, &method))
		return;
	word = pkbpf_hotspot_word(method, is_leaf ? walk->leaf_bytecode : bytecode);
	if (word && state->depth < walk->limit)
		walk->ips[state->depth++] = word;
}

/* Adds the Python frames that belong behind the native frame just unwound. */
static void push_python(struct walk *walk)
{
	struct python_merge_stack stack = {walk->ips, walk->state.depth, walk->limit, 0};

	python_merge_push(&walk->python, walk->state.sp, &stack);
	walk->state.depth = (uint32_t)stack.depth;
	walk->limit = stack.limit;
	walk->python_cut = stack.cut ? stack.cut : walk->python_cut;
}

/* The end of the stack with them. */
static uint32_t push_python_rest(struct walk *walk, const struct pkbpf_python_process *interpreter,
				 uint32_t end)
{
	struct python_merge_stack stack = {walk->ips, walk->state.depth, walk->limit, 0};

	python_merge_push_rest(&walk->python, interpreter, end <= PKBPF_END_LAST_COMPLETE, &stack);
	walk->state.depth = (uint32_t)stack.depth;
	if (walk->python_cut)
		return walk->python_cut;
	return stack.cut && end <= PKBPF_END_LAST_COMPLETE ? stack.cut : end;
}

/* Unwinds from the registers in regs[]. */
static uint32_t walk_frames(struct walk *walk, uint32_t flags)
{
	struct pkbpf_unwind_state *state = &walk->state;
	uint32_t end;

	python_merge_rewind(&walk->python);
	state->flags = flags;
	walk->is_exact = flags & PKBPF_UNWIND_EXACT;
	walk->leaf_bytecode = state->regs[PKBPF_SIGNAL_INDEX(PKBPF_HOTSPOT_LEAF_BYTECODE)];
	unwind_begin(state);
	/* The loop ends: each step either ends the unwind or adds a frame, of which there are
	 * `limit`. */
	for (;;) {
		uint64_t fp = state->fp;

		end = unwind_step(state);
		if (!end && state->flags & PKBPF_UNWIND_HOTSPOT)
			push_method(walk, fp);
		push_python(walk);
		if (end)
			return end;
		if (state->flags & PKBPF_UNWIND_FOLLOWS_KEPT)
			unwind_restore_kept(state, fp,
					    walk->rule.cfa == PKBPF_CFA_NONE ? NULL
									     : walk->rule.saved);
	}
}

static void take_registers(struct walk *walk, const uint64_t regs[PKBPF_REGS])
{
	for (uint32_t i = 0; i < PKBPF_SIGNAL_REGS; i++) {
#if PKBPF_UNWIND_ARM64
		walk->state.regs[i] = regs[i];
#else
		if (i < 16)
			walk->state.regs[PKBPF_SIGNAL_INDEX(i)] = regs[i];
		else
			walk->state.regs[PKBPF_SIGNAL_IP] = regs[i];
#endif
	}
}

struct unwind_walk_result unwind_walk(const struct unwind_walk_ops *ops, void *context,
				      const uint64_t regs[PKBPF_REGS],
				      const struct unwind_walk_options *options, uint64_t *ips,
				      size_t limit)
{
	struct walk walk = {
		.ops = ops,
		.context = context,
		.ips = ips,
		.limit = limit,
	};
	uint32_t flags = (options->exact ? PKBPF_UNWIND_EXACT : 0) |
			 (options->no_guess ? PKBPF_UNWIND_NO_GUESS : 0);
	uint32_t end;

	python_merge_init(&walk.python, options->python, options->python_count);
	take_registers(&walk, regs);
	end = walk_frames(&walk, flags);
	if (walk.state.flags & PKBPF_UNWIND_WANTS_KEPT) {
		take_registers(&walk, regs);
		walk.limit = limit;
		walk.python_cut = 0;
		end = walk_frames(&walk, flags | PKBPF_UNWIND_FOLLOWS_KEPT);
	}
	end = push_python_rest(&walk, options->interpreter, end);
	return (struct unwind_walk_result){
		.end = pkbpf_unwind_reason(&walk.state, end),
		.depth = walk.state.depth,
		.guessed = walk.state.guessed,
	};
}
