// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Unwinds user stacks with the tables that user space publishes. */
#include "python.bpf.h"
#include "shared.bpf.h"
#include "stack.bpf.h"
#include "task_regs.bpf.h"
#include "v8.bpf.h"

#define UNWIND_INLINE __always_inline
#include <pkbpf/hotspot.h>
#include <pkbpf/unwind_go.h>
#include <pkbpf/unwind_step.h>

/* Bounds of the searches: 2^16 mappings of a process take 17 probes, the rows of a page 13. */
#define MAX_MAPPING_PROBES 17
#define MAX_ROW_PROBES	   13
/* Frames per call of unwind_frames(), and number of calls: the product is the frame limit. */
#define FRAMES_PER_CALL 32
#define FRAME_CALLS	(PKBPF_MAX_USER_FRAMES / FRAMES_PER_CALL)
/* Frame limit where the run queue or a device's queue may be locked. */
#define MAX_LOCKED_FRAMES 256

#define PAGE_BYTES 4096

/* Maximum number of uprobes on one stack: the kernel allows 64 return probes. */
#define MOST_PROBES 65

static __always_inline struct unwind_scratch *scratch_of(struct pkbpf_unwind_state *state)
{
	return (struct unwind_scratch *)state;
}

/* Code that most frames do not need is in global functions. The verifier follows each once, not for
 * each path that leads to it; and the code for every frame stays small in the processor's caches,
 * which are cold at a sample. */

/* Caches the mapping that holds pc in the state. Returns 0, or the end of the unwinding. */
__attribute__((noinline)) int unwind_find_mapping(__u32 slot, __u64 pc)
{
	struct sample_scratch *scratch = scratch_get(slot);
	struct pkbpf_unwind_mapping *mapping;
	struct pkbpf_unwind_state *state;
	struct pkbpf_unwind_file *file;
	struct unwind_scratch *unwind;
	__u32 at, count, key;

	if (!scratch)
		return PKBPF_END_NO_MAPPING;
	unwind = &scratch->unwind;
	state = &unwind->state;
	at = unwind->first_mapping;
	count = unwind->mapping_count;
	state->mapping_size = 0;
	if (!count)
		return PKBPF_END_NO_MAPPING;
	/* Searches the last mapping that starts at or below pc. */
	for (int i = 0; i < MAX_MAPPING_PROBES && count > 1; i++) {
		__u32 half = count >> 1;

		key = at + half;
		mapping = bpf_map_lookup_elem(&unwind_mappings, &key);
		if (!mapping)
			return PKBPF_END_NO_MAPPING;
		/* Adds half where start <= pc, without a branch: the verifier would follow both
		 * ways. Halves of addresses do not overflow, and start is even. */
		at += half & (__u32)((__s64)((mapping->start >> 1) - (pc >> 1) - 1) >> 63);
		count -= half;
	}
	mapping = bpf_map_lookup_elem(&unwind_mappings, &at);
	if (!mapping || pc < mapping->start || pc >= mapping->end)
		return PKBPF_END_NO_MAPPING;
	state->mapping_flags = mapping->flags;
	if (mapping->flags & PKBPF_MAPPING_PENDING)
		return PKBPF_END_NO_TABLE;
	if (mapping->flags & PKBPF_MAPPING_NO_ROOM)
		return PKBPF_END_NO_ROOM;
	state->bias = mapping->bias;
	state->page_count = 0;
	if (!(mapping->flags & (PKBPF_MAPPING_ANONYMOUS | PKBPF_MAPPING_NO_TABLE))) {
		key = mapping->file;
		file = bpf_map_lookup_elem(&unwind_files, &key);
		if (!file || !(file->flags & PKBPF_FILE_READY))
			return PKBPF_END_NO_TABLE;
		state->mapping_flags |= file->flags & PKBPF_FILE_REFUSED;
		state->text_start = file->text_start;
		state->first_page = file->first_page;
		state->edition = file->edition;
		state->page_count = file->page_count;
		if (file->last_used != unwind->epoch)
			file->last_used = unwind->epoch;
	}
	state->mapping_start = mapping->start;
	state->mapping_size = mapping->end - mapping->start;
	return 0;
}

static __always_inline __u32 unwind_enter_mapping(struct pkbpf_unwind_state *state, __u64 pc)
{
	return unwind_find_mapping(scratch_of(state)->slot, pc);
}

/* Returns the number of the rule that covers an offset in a page; PKBPF_UNWIND_MAX_RULES: none. */
__attribute__((noinline)) __u32 unwind_search_page(__u32 number, __u32 offset)
{
	struct pkbpf_unwind_page *page = bpf_map_lookup_elem(&unwind_pages, &number);
	__u32 key, at, count, zero = 0;
	struct unwind_chunk *chunk;
	void *inner;

	if (!page)
		return PKBPF_UNWIND_MAX_RULES;
	count = page->count;
	if (!count)
		return PKBPF_UNWIND_MAX_RULES;
	at = page->first;
	key = at / PKBPF_CHUNK_ROWS;
	inner = bpf_map_lookup_elem(&unwind_rows, &key);
	if (!inner)
		return PKBPF_UNWIND_MAX_RULES;
	chunk = bpf_map_lookup_elem(inner, &zero);
	if (!chunk)
		return PKBPF_UNWIND_MAX_RULES;
	/* The first row is at offset 0, so a row at or below always exists. */
	for (int i = 0; i < MAX_ROW_PROBES && count > 1; i++) {
		__u32 half = count >> 1;
		__u32 middle = (at + half) & (PKBPF_CHUNK_ROWS - 1);

		/* As above, without a branch: adds half where the row's offset <= offset. */
		at += half &
		      (((__s32)PKBPF_ROW_OFFSET(chunk->rows[middle]) - (__s32)offset - 1) >> 31);
		count -= half;
	}
	return PKBPF_ROW_RULE(chunk->rows[at & (PKBPF_CHUNK_ROWS - 1)]);
}

/* Returns the number of the rule of a place; PKBPF_UNWIND_MAX_RULES: none. */
static __always_inline __u32 unwind_rule_number(__u64 place, __u32 page, __u32 offset)
{
	__u32 key = pkbpf_recent_set_number(place), number;
	volatile struct pkbpf_recent_set *recent;
	__u64 first, second;

	recent = bpf_map_lookup_elem(&unwind_recent, &key);
	if (!recent)
		return PKBPF_UNWIND_MAX_RULES;
	first = recent->first;
	number = pkbpf_recent_rule(first, place);
	if (number < PKBPF_UNWIND_MAX_RULES)
		return number;
	second = recent->second;
	number = pkbpf_recent_rule(second, place);
	if (number < PKBPF_UNWIND_MAX_RULES) {
		recent->first = second;
		recent->second = first;
		return number;
	}
	number = unwind_search_page(page, offset);
	if (number < PKBPF_UNWIND_MAX_RULES)
		recent->second = pkbpf_recent_value(place, number);
	return number;
}

static __always_inline bool unwind_find_rule(struct pkbpf_unwind_state *state, __u64 address,
					     struct pkbpf_unwind_rule *rule)
{
	__u64 index = (address - state->text_start) >> PKBPF_TEXT_PAGE_SHIFT;
	__u32 offset = address & (PKBPF_TEXT_PAGE_SIZE - 1);
	struct pkbpf_unwind_rule *found;
	__u32 page, number;

	scratch_of(state)->rule = PKBPF_UNWIND_MAX_RULES;
	if (index >= state->page_count)
		return false;
	page = state->first_page + (__u32)index;
	number = unwind_rule_number(pkbpf_recent_place(state->edition, page, offset), page, offset);
	scratch_of(state)->rule = number;
	if (number >= PKBPF_UNWIND_MAX_RULES)
		return false;
	found = bpf_map_lookup_elem(&unwind_rules, &number);
	if (!found)
		return false;
	__builtin_memcpy(rule, found, PKBPF_UNWIND_RULE_HEAD_BYTES);
	return true;
}

static __always_inline void log_word(struct unwind_scratch *unwind, __u64 address, __u64 value)
{
	__u32 at = unwind->log_count;

	/* Constant to the verifier, which removes the code below if no program wants a log. */
	if (!config.log_walks || !unwind->log_wanted)
		return;
	unwind->log_count = at + 1;
	if (at >= UNWIND_LOG_WORDS)
		return;
	unwind->log_address[at] = address;
	unwind->log_value[at] = value;
}

/* Nonzero: a part is unreadable. */
static __always_inline long copy_to_window(struct unwind_scratch *unwind, __u64 address, __u64 size,
					   __u32 memory)
{
	/* Before 6.8 the verifier learns nothing from a comparison of two registers, only from one
	 * with a constant. The compiler must not find it redundant. */
	barrier_var(size);
	if (size > UNWIND_WINDOW_BYTES)
		size = UNWIND_WINDOW_BYTES;
	unwind->window_start = address;
	unwind->window_size = size;
	return memory == UNWIND_KERNEL_MEMORY
		       ? bpf_probe_read_kernel(unwind->window, size, (void *)address)
		       : bpf_probe_read_user(unwind->window, size, (void *)address);
}

/* Copies memory from `address` on into the window: at least one word. Nonzero: failed. */
__attribute__((noinline)) int unwind_move_window(__u32 slot, __u64 address, __u32 memory)
{
	struct sample_scratch *scratch = scratch_get(slot);
	struct unwind_scratch *unwind;
	__u64 page, size, goal;

	if (!scratch)
		return 1;
	unwind = &scratch->unwind;
	/* Up to the end of the page: the next page may not exist. */
	page = (PAGE_BYTES - (address & (PAGE_BYTES - 1))) & ~7ULL;
	size = page < unwind->window_next ? page : unwind->window_next;
	/* Pages that the last unwinding reached probably exist. */
	goal = (unwind->window_goal - address) & ~7ULL;
	if (goal > size && goal <= UNWIND_WINDOW_BYTES)
		size = goal;
	if (address & 7) {
		unwind->log_count = UNWIND_LOG_WORDS + 1;
		size = page = 8;
	}
	if (unwind->window_next < UNWIND_WINDOW_BYTES)
		unwind->window_next *= 2;
	if (!copy_to_window(unwind, address, size, memory))
		return 0;
	unwind->window_size = 0;
	if (!unwind->window_goal)
		return 1;
	unwind->window_goal = 0;
	if (!copy_to_window(unwind, address, page, UNWIND_USER_MEMORY))
		return 0;
	unwind->window_size = 0;
	return 1;
}

static __always_inline long unwind_read_word(struct pkbpf_unwind_state *state, __u64 address,
					     __u64 *value)
{
	struct unwind_scratch *unwind = scratch_of(state);
	__u64 offset = address - unwind->window_start;

	if (offset >= unwind->window_size || (offset & 7)) {
		if (unwind_move_window(unwind->slot, address, UNWIND_USER_MEMORY))
			return -1;
		offset = 0;
	}
	*value = unwind->window[(offset / 8) & (UNWIND_WINDOW_BYTES / 8 - 1)];
	log_word(unwind, address, *value);
	return 0;
}

static __always_inline long unwind_read_signal_regs(struct pkbpf_unwind_state *state, __u64 address)
{
	scratch_of(state)->log_count = UNWIND_LOG_WORDS + 1;
	return bpf_probe_read_user(state->regs, sizeof(state->regs), (void *)address);
}

static __always_inline long unwind_thread_pointer(struct pkbpf_unwind_state *state)
{
#if PKBPF_UNWIND_ARM64
	return -1; /* no rule needs it */
#else
	struct task_struct *task = (void *)bpf_get_current_task();

	return bpf_core_read(&state->go_word, sizeof(state->go_word), &task->thread.fsbase);
#endif
}

static __always_inline long unwind_read_go_word(struct pkbpf_unwind_state *state, __u64 address)
{
	return bpf_probe_read_user(&state->go_word, sizeof(state->go_word), (void *)address);
}

__attribute__((noinline)) int unwind_follow_go(__u32 slot)
{
	struct sample_scratch *scratch = scratch_get(slot);

	if (!scratch)
		return PKBPF_END_OTHER_STACK;
	/* The result depends on memory outside the stack. */
	scratch->unwind.log_count = UNWIND_LOG_WORDS + 1;
	return (int)unwind_go_switch(&scratch->unwind.state);
}

static __always_inline __u32 unwind_switch_go(struct pkbpf_unwind_state *state)
{
	return (__u32)unwind_follow_go(scratch_of(state)->slot);
}

static __always_inline bool unwind_push(struct pkbpf_unwind_state *state, __u64 ip)
{
	struct unwind_scratch *unwind = scratch_of(state);
	struct sample_scratch *scratch = container_of(unwind, struct sample_scratch, unwind);
	__u32 index = unwind->first_frame + state->depth;

	if (state->depth >= unwind->limit ||
	    index >= PKBPF_MAX_KERNEL_FRAMES + PKBPF_MAX_USER_FRAMES)
		return false;
	if (state->depth && (state->flags & PKBPF_UNWIND_EXACT))
		ip |= PKBPF_INTERRUPTED;
	scratch->ips[index] = ip;
	state->depth++;
	return true;
}

enum {
	FRAME_IS_PASSED = 0,
	FRAME_IS_LAST = 1, /* the unwinding has ended */
	/* Python frames belong behind it. The caller adds them: here is no stack left (5.10). */
	FRAME_RUNS_PYTHON = 2,
	FRAME_RUNS_JAVA = 3, /* the same with a method of HotSpot's interpreter */
	FRAME_IS_V8 = 4,     /* the same with a function of JavaScript, or a stub */
};

/* Unwinds one frame. */
__attribute__((noinline)) int unwind_frame(__u32 slot)
{
	struct sample_scratch *scratch = scratch_get(slot);

	if (!scratch)
		return 1;
	scratch->unwind.callee_fp = scratch->unwind.state.fp;
	scratch->unwind.end = unwind_step(&scratch->unwind.state);
	if (scratch->unwind.end)
		return FRAME_IS_LAST;
	if (scratch->unwind.state.flags & PKBPF_UNWIND_HOTSPOT)
		return FRAME_RUNS_JAVA;
	/* V8's code has no unwind info. */
	if (scratch->unwind.v8.is_known && scratch->unwind.state.flags & PKBPF_UNWIND_GUESSED)
		return FRAME_IS_V8;
	return pkbpf_python_encloses(scratch->unwind.state.sp, scratch->unwind.python_anchor)
		       ? FRAME_RUNS_PYTHON
		       : FRAME_IS_PASSED;
}

/* Adds the method that runs in the interpreter's frame that the last step left. */
__attribute__((noinline)) int unwind_push_method(__u32 slot)
{
	struct sample_scratch *scratch = scratch_get(slot);
	struct unwind_scratch *unwind;
	__u64 method, bytecode, word;
	__u32 index;

	if (!scratch)
		return 0;
	unwind = &scratch->unwind;
	unwind->state.flags &= ~PKBPF_UNWIND_HOTSPOT;
	if (unwind_read_word(&unwind->state, unwind->callee_fp + PKBPF_HOTSPOT_BYTECODE_AT,
			     &bytecode) ||
	    unwind_read_word(&unwind->state, unwind->callee_fp + PKBPF_HOTSPOT_METHOD_AT, &method))
		return 0;
	if (unwind->state.depth == 1 && unwind->first_flags & PKBPF_UNWIND_EXACT) {
		bytecode = unwind->first_regs[PKBPF_SIGNAL_INDEX(PKBPF_HOTSPOT_LEAF_BYTECODE)];
		/* Stack recognition does not compare this register. */
		unwind->log_count = UNWIND_LOG_WORDS + 1;
	}
	word = pkbpf_hotspot_word(method, bytecode);
	index = unwind->first_frame + unwind->state.depth;
	if (!word || unwind->state.depth >= unwind->limit ||
	    index >= PKBPF_MAX_KERNEL_FRAMES + PKBPF_MAX_USER_FRAMES)
		return 0;
	scratch->ips[index] = word;
	unwind->state.depth++;
	return 0;
}

/* Restores the callee-saved registers of the frame that the last step reached. */
__attribute__((noinline)) int unwind_restore_registers(__u32 slot)
{
	struct sample_scratch *scratch = scratch_get(slot);
	struct pkbpf_unwind_rule *rule;
	struct unwind_scratch *unwind;
	__u32 number;

	if (!scratch)
		return 0;
	unwind = &scratch->unwind;
	number = unwind->rule;
	rule = bpf_map_lookup_elem(&unwind_rules, &number);
	unwind_restore_kept(&unwind->state, unwind->callee_fp,
			    rule && rule->cfa != PKBPF_CFA_NONE ? rule->saved : NULL);
	unwind->callee_fp = unwind->state.fp;
	return 0;
}

static __always_inline void push_javascript(__u32 slot)
{
	int function = v8_find_function(slot);

	if (function == V8_NEW_FUNCTION)
		function = v8_send_function(slot);
	if (function == V8_KNOWN_FUNCTION)
		v8_push_function(slot);
}

__attribute__((noinline)) int unwind_following_frames(__u32 slot)
{
	for (int i = 0; i < FRAMES_PER_CALL; i++) {
		int frame = unwind_frame(slot);

		if (frame == FRAME_IS_LAST)
			return 1;
		if (frame == FRAME_RUNS_PYTHON)
			python_push_run(slot);
		else if (frame == FRAME_RUNS_JAVA)
			unwind_push_method(slot);
		else if (frame == FRAME_IS_V8)
			push_javascript(slot);
		unwind_restore_registers(slot);
	}
	return 0;
}

/* Loops in two levels: the verifier follows each of them once, not their product. */
__attribute__((noinline)) int unwind_frames(__u32 slot)
{
	for (int i = 0; i < FRAMES_PER_CALL; i++) {
		int frame = unwind_frame(slot);

		if (frame == FRAME_IS_LAST)
			return 1;
		if (frame == FRAME_RUNS_PYTHON)
			python_push_run(slot);
		else if (frame == FRAME_RUNS_JAVA)
			unwind_push_method(slot);
		else if (frame == FRAME_IS_V8)
			push_javascript(slot);
	}
	return 0;
}

__attribute__((noinline)) int unwind_all_frames(__u32 slot)
{
	struct sample_scratch *scratch = scratch_get(slot);
	bool follows = scratch && scratch->unwind.state.flags & PKBPF_UNWIND_FOLLOWS_KEPT;

	for (int i = 0; i < FRAME_CALLS; i++) {
		if (follows ? unwind_following_frames(slot) : unwind_frames(slot))
			return 1;
	}
	return 0;
}

/* Starts again at the leaf and follows callee-saved registers: some code counts its CFA from one of
 * them. */
static __always_inline void walk_again(struct unwind_scratch *unwind)
{
	struct pkbpf_unwind_state *state = &unwind->state;

	__builtin_memcpy(state->regs, unwind->first_regs, sizeof(state->regs));
	state->flags = unwind->first_flags | PKBPF_UNWIND_FOLLOWS_KEPT;
	unwind_begin(state);
	unwind->callee_fp = state->fp;
	unwind->probed_call = 0;
	unwind->end = 0;
	/* Stack recognition compares fewer registers than these. */
	unwind->log_count = UNWIND_LOG_WORDS + 1;
}

static __always_inline void finish_walk(struct sample_scratch *scratch, __u32 slot)
{
	struct unwind_scratch *unwind = &scratch->unwind;
	__u32 end;

	if (!unwind->end)
		unwind->end = PKBPF_END_MAX_DEPTH; /* all rounds done without an end */
	if (unwind->end > PKBPF_END_LAST_COMPLETE ||
	    unwind->state.depth <= UNWIND_THREAD_START_FRAMES || unwind->state.generated_ip)
		unwind_note_incomplete(slot);
	end = unwind->end;
	/* The step has already removed guessed frames that failed a check. */
	unwind->state.guessed -=
		unwind->verified < unwind->state.guessed ? unwind->verified : unwind->state.guessed;
	if (unwind->state.guessed)
		counter_add(PKBPF_COUNTER_GUESSED_FRAMES, unwind->state.guessed);
	if (slot == SCRATCH_CPU && end && end <= PKBPF_END_LAST_COMPLETE &&
	    ++unwind->whole_walks % UNWIND_CHECK_EVERY == UNWIND_CHECK_FIRST &&
	    unwind->state.depth <= PKBPF_MAX_CHECK_FRAMES)
		unwind->want_raw = UNWIND_RAW_CHECK;
	scratch->sample.user_end = end;
	scratch->sample.n_user = unwind->state.depth;
	scratch->sample.n_guessed = unwind->state.guessed;
}

/* Finds the mappings of the sample's process. Returns 0 or PKBPF_END_NO_PROCESS. */
__attribute__((noinline)) int unwind_find_process(__u32 slot, __u64 moment)
{
	struct sample_scratch *scratch = scratch_get(slot);
	struct pkbpf_unwind_process *process;
	struct unwind_scratch *unwind;
	__u32 pid;

	if (!scratch)
		return PKBPF_END_NO_PROCESS;
	unwind = &scratch->unwind;
	pid = scratch->sample.pid;
	process = bpf_map_lookup_elem(&unwind_processes, &pid);
	if (!process)
		return PKBPF_END_NO_PROCESS;
	unwind->pid = pid;
	unwind->moment = moment;
	unwind->first_mapping = process->first_mapping;
	unwind->mapping_count = process->mapping_count;
	unwind->python = process->python;
	unwind->v8 = process->v8;
	return 0;
}

/* Returns 0 if there is more than the leaf to unwind; otherwise the end at the leaf. */
static __always_inline __u32 start_walk(struct sample_scratch *scratch, __u32 slot)
{
	struct unwind_scratch *unwind = &scratch->unwind;
	__u64 moment;

	/* A thread at its first instruction: it has no caller, and its stack may not have a page
	 * yet. */
	if (unwind->new_thread && (bpf_probe_read_user(unwind->window, sizeof(unwind->window[0]),
						       (void *)unwind->state.sp) ||
				   !unwind->window[0]))
		return PKBPF_END_ZERO_RA;
	if (unwind->compat)
		return PKBPF_END_COMPAT;
	moment = process_moment(scratch->sample.header.time_ns);
	if (unwind->pid == scratch->sample.pid && unwind->moment == moment)
		return 0;
	return unwind_find_process(slot, moment);
}

/* Records the size of this stack's frames, as an estimate for the next stack. */
static __always_inline void note_density(struct unwind_scratch *unwind)
{
	__u64 bytes = unwind->state.sp - unwind->first_regs[PKBPF_SIGNAL_SP];

	unwind->dense_bytes =
		bytes <= (__u64)unwind->state.depth * UNWIND_DENSE_FRAME_BYTES ? bytes : 0;
}

/* Returns whether the end may be in a uprobe area: not in known code, but possibly at an address
 * found by a frame pointer. */
static __always_inline bool may_be_at_probe(const struct unwind_scratch *unwind)
{
	return unwind->end == PKBPF_END_NO_MAPPING ||
	       ((unwind->end == PKBPF_END_NO_RULE || unwind->end == PKBPF_END_FAULT_FP) &&
		unwind->state.flags & PKBPF_UNWIND_GUESSED);
}

/* Continues behind a uprobe. Returns 1 if there may be another one. */
__attribute__((noinline)) int unwind_behind_probe(__u32 slot)
{
	struct sample_scratch *scratch = scratch_get(slot);

	if (!scratch || !unwind_leave_probe(slot))
		return 0;
	unwind_all_frames(slot);
	return may_be_at_probe(&scratch->unwind);
}

static __always_inline void leave_probes(__u32 slot)
{
	for (int i = 0; i < MOST_PROBES; i++) {
		if (!unwind_behind_probe(slot))
			break;
	}
}

static __always_inline void set_limit(struct unwind_scratch *unwind, __u32 slot)
{
	unwind->limit = slot == SCRATCH_OFFCPU || slot == SCRATCH_BLOCKIO ? MAX_LOCKED_FRAMES
									  : PKBPF_MAX_USER_FRAMES;
	unwind->python_end = 0;
	unwind->verified = 0;
	unwind->stubs = 0;
}

static __always_inline void walk(struct sample_scratch *scratch, __u32 slot)
{
	unwind_all_frames(slot);
	if (may_be_at_probe(&scratch->unwind))
		leave_probes(slot);
}

/* Unwinds the current task's user stack into its scratch, behind the kernel frames. stack.bpf.h has
 * prepared the rest. */
__attribute__((noinline)) int unwind_user_stack(__u32 slot)
{
	struct sample_scratch *scratch = scratch_get(slot);
	struct unwind_scratch *unwind;
	__u32 end = 0;

	if (!scratch)
		return 0;
	unwind = &scratch->unwind;
	if (!unwind->regs_ready)
		end = take_task_regs(unwind);
	if (end || !unwind->regs_ready) {
		scratch->sample.user_end = end;
		if (end == PKBPF_END_NO_REGS)
			counter_add(PKBPF_COUNTER_USER_STACK_FAILED, 1);
		return 0;
	}
	/* The leaf's ip is exact only if the leaf was interrupted, not after a system call
	 * instruction. */
	unwind->first_flags = unwind->state.flags;
	unwind_begin(&unwind->state);
	if (!(unwind->first_flags & PKBPF_UNWIND_EXACT))
		scratch->sample.header.flags |= PKBPF_SAMPLE_AFTER_SYSCALL;
	__builtin_memcpy(unwind->first_regs, unwind->state.regs, sizeof(unwind->first_regs));
	/* After its point of no return, execve has replaced the memory: there is no stack to
	 * unwind. */
	if (unwind->in_exec && bpf_probe_read_user(unwind->window, sizeof(unwind->window[0]),
						   (void *)unwind->state.sp)) {
		scratch->sample.user_end = PKBPF_END_EXEC;
		return 0;
	}
	end = start_walk(scratch, slot);
	if (end) {
		unwind_push(&unwind->state, unwind->state.ip);
		unwind->end = end;
	} else {
		set_limit(unwind, slot);
		unwind->window_goal = unwind->state.sp + unwind->dense_bytes;
		if (config.want_python && unwind->python.layout)
			python_walk(slot);
		walk(scratch, slot);
		if (unwind->state.flags & PKBPF_UNWIND_WANTS_KEPT) {
			walk_again(unwind);
			set_limit(unwind, slot);
			if (config.want_python && unwind->python_count)
				python_rewind(slot);
			walk(scratch, slot);
		}
		if (config.want_python && unwind->python_anchor != PYTHON_NO_ANCHOR)
			python_push_rest(slot);
		if (config.want_python && unwind->python_end)
			unwind->end = unwind->python_end;
		note_density(unwind);
	}
	finish_walk(scratch, slot);
	return 0;
}
