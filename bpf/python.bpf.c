// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads the Python frames of the current thread, and merges them into the native stack. */
#include "python.bpf.h"

/* Bounds: interpreters of a process, threads in the list of each. */
#define MOST_INTERPRETERS 64
#define MOST_THREADS	  128
/* Entries read per call: the verifier follows each loop once, not their product. */
#define ENTRIES_PER_CALL 32
#define ENTRY_CALLS	 (PYTHON_MAX_WORDS / ENTRIES_PER_CALL)
/* Tags that are none of the loop's, and frames that are not shown, count as well. */
#define RUBY_TAG_CALLS	 (2 * RUBY_RUNS / ENTRIES_PER_CALL)
#define RUBY_FRAME_CALLS (2 * PYTHON_MAX_WORDS / ENTRIES_PER_CALL)
/* Frames that are passed over for the end of a run that is too long, of 0.1 us each. */
#define PASS_CALLS 256
/* On arm64 the state of a thread has the address of glibc's struct pthread, which ends at the
 * thread pointer. On x86-64 it begins there. */
#define MOST_THREAD_BYTES  4096
#define LISTED_INTERVAL_NS 500000000ULL
/* owner of frames that are no Python code: entries of the interpreter's loop */
#define OWNER_ENTRY 3
/* Stack references have tags in the lower bits. */
#define REFERENCE_TAGS 7ULL

int python_find_in_list(__u32 slot, __u64 interpreter);
int python_find_threads(__u32 slot);
int python_next_chain(__u32 slot);
int python_frame(__u32 slot);
int python_frames(__u32 slot);
int python_pass_frame(__u32 slot);
int python_pass_frames(__u32 slot);

/* Identity of a process since its last exec. */
static __always_inline __u64 process_identity(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return BPF_CORE_READ(task, group_leader, start_time) ^ (__u64)BPF_CORE_READ(task, mm);
}

/* Takes a thread state if it is one of the current thread. */
static __always_inline bool take_thread(struct python_scratch *python,
					const struct pkbpf_python_layout *layout, __u64 thread)
{
	__u32 at = python->chain_count;
	__u64 id;

	if (!thread || at >= PYTHON_CHAINS || !python_read_word(thread + layout->thread_id, &id) ||
	    python->thread_pointer - id >= MOST_THREAD_BYTES)
		return false;
	python->threads[python_index(at, PYTHON_CHAINS - 1)] = thread;
	python->chain_count = at + 1;
	return true;
}

/* Searches the threads of an interpreter; 1: found. */
__attribute__((noinline)) int python_find_in_list(__u32 slot, __u64 interpreter)
{
	struct python_scratch *python = python_scratch_get(slot);
	struct pkbpf_python_layout *layout;
	__u64 thread;

	if (!python)
		return 0;
	layout = python_layout_of(python);
	if (!layout || !python_read_word(interpreter + layout->interpreter_threads, &thread))
		return 0;
	for (int i = 0; i < MOST_THREADS; i++) {
		if (take_thread(python, layout, thread))
			return 1;
		if (!thread || !python_read_word(thread + layout->thread_next, &thread))
			return 0;
	}
	return 0;
}

/* Finds the state of the current thread without the list; false: not found. */
static __always_inline bool find_quickly(struct python_scratch *python,
					 const struct pkbpf_python_layout *layout)
{
	const struct pkbpf_python_process *process = &python->process;
	__u64 value;

	/* Whoever holds the GIL. */
	if (layout->runtime_tstate_current &&
	    python_read_word(process->runtime + layout->runtime_tstate_current, &value) &&
	    take_thread(python, layout, value))
		return true;
	for (int i = 0; i < PKBPF_PYTHON_SLOTS; i++)
		if (process->slots[i] &&
		    python_read_word(python->thread_pointer + (__s64)process->slots[i], &value) &&
		    take_thread(python, layout, value))
			return true;
	return false;
}

/*
 * Finds the interpreter's state of the current thread. A thread that runs the code of several
 * interpreters has as many states, and their frames take turns on its C stack: no slot leads to all
 * of them.
 */
__attribute__((noinline)) int python_find_threads(__u32 slot)
{
	struct python_scratch *python = python_scratch_get(slot);
	struct pkbpf_python_layout *layout;
	__u64 interpreter, second;

	if (!python)
		return 0;
	layout = python_layout_of(python);
	if (!layout)
		return 0;
	python->chain_count = 0;
	python->thread_pointer = python_thread_pointer();
	if (!python_read_word(python->process.runtime + layout->runtime_interpreters_head,
			      &interpreter) ||
	    !interpreter || !python_read_word(interpreter + layout->interpreter_next, &second))
		return 0;
	if (!second && find_quickly(python, layout))
		return 0;
	for (int i = 0; i < MOST_INTERPRETERS; i++) {
		if (!interpreter)
			break;
		python_find_in_list(slot, interpreter);
		if (!python_read_word(interpreter + layout->interpreter_next, &interpreter))
			break;
	}
	if (!second && python->chain_count) {
		counter_add(PKBPF_COUNTER_PYTHON_LISTED, 1);
		python_report_listed(python, LISTED_INTERVAL_NS);
	}
	return 0;
}

/* Finds the innermost frame of a thread state; false: there is none. */
static __always_inline bool first_frame(struct python_scratch *python,
					const struct pkbpf_python_layout *layout, __u64 thread)
{
	__u64 value;

	if (!python_read_word(thread + layout->thread_frame, &value))
		return false;
	python->frame = value;
	python->cframe = 0;
	switch (layout->chain) {
	case PKBPF_PYTHON_OBJECTS_CFRAME:
		if (!python_read_word(thread + layout->thread_cframe, &value))
			return false;
		python->cframe = value;
		break;
	case PKBPF_PYTHON_CFRAME:
	case PKBPF_PYTHON_CFRAME_SHIM:
		python->cframe = value;
		if (!python_read_word(python->cframe + layout->cframe_current, &value))
			return false;
		python->frame = value;
		break;
	}
	return python->frame != 0;
}

/* Ends the current run at an anchor on the C stack. */
static __always_inline void end_run(struct python_scratch *python, __u64 anchor)
{
	__u32 at = python->count;

	/* Without a frame it is no run: 3.15 ends the chain with an entry that is on no stack. */
	if (at >= PYTHON_MAX_WORDS || at == python->run + 1)
		return;
	python->words[python_index(python->run, PYTHON_MAX_WORDS - 1)] |=
		pkbpf_python_anchor_word(anchor);
	python->hash = python_mix(python->hash, anchor);
	python->words[python_index(at, PYTHON_MAX_WORDS - 1)] = pkbpf_python_anchor_word(0);
	python->run = at;
	python->count = at + 1;
}

static __always_inline __u64 frame_word(const struct python_scratch *python, __u32 offset)
{
	return python->frame_bytes[(offset / 8) & (PYTHON_FRAME_BYTES / 8 - 1)];
}

static __always_inline __u8 frame_byte(const struct python_scratch *python, __u32 offset)
{
	return frame_word(python, offset) >> (offset & 7) * 8;
}

/* Free-threaded interpreters have a copy of the code for each thread. */
static __always_inline __u64 first_instruction(const struct python_scratch *python,
					       const struct pkbpf_python_layout *layout, __u64 code)
{
	__u32 index = layout->frame_tlbc ? (__u32)(frame_word(python, layout->frame_tlbc) >>
						   (layout->frame_tlbc & 4) * 8)
					 : 0;
	__u64 copies, copy;

	if (index && python_read_word(code + layout->code_tlbc, &copies) &&
	    python_read_word(copies + 8 + 8ULL * index, &copy))
		return copy;
	return code + layout->code_first_instruction;
}

/* The instruction of a frame, in units of two bytes from the first one. */
static __always_inline __u32 frame_instruction(const struct python_scratch *python,
					       const struct pkbpf_python_layout *layout, __u64 code)
{
	__u64 value = frame_word(python, layout->frame_instruction);

	if (layout->instruction == PKBPF_PYTHON_ADDRESS)
		value -= first_instruction(python, layout, code);
	else
		value = (__s64)(__s32)(value >> (layout->frame_instruction & 4) * 8)
			<< (layout->instruction == PKBPF_PYTHON_UNITS);
	/* Before the first instruction: the function is being entered. */
	if ((__s64)value < 0)
		return 0;
	value /= 2;
	return value < PKBPF_PYTHON_NO_INSTRUCTION ? value : PKBPF_PYTHON_NO_INSTRUCTION;
}

enum { FRAMES_ARE_CUT = 2 };

/* Reads one frame; 1: the chain ends, FRAMES_ARE_CUT: it was not read. */
__attribute__((noinline)) int python_frame(__u32 slot)
{
	struct python_scratch *python = python_scratch_get(slot);
	struct pkbpf_python_layout *layout;
	__u64 frame, code, value, size;

	if (!python)
		return 1;
	layout = python_layout_of(python);
	frame = python->frame;
	if (!layout || !frame)
		return 1;
	size = layout->frame_size;
	barrier_var(size);
	if (size > PYTHON_FRAME_BYTES)
		size = PYTHON_FRAME_BYTES;
	if (bpf_probe_read_user(python->frame_bytes, size, (void *)frame)) {
		counter_add(PKBPF_COUNTER_PYTHON_UNREADABLE, 1);
		python->cut = PKBPF_END_FAULT_RA;
		return FRAMES_ARE_CUT;
	}
	python->frame = frame_word(python, layout->frame_previous);
	if (layout->chain >= PKBPF_PYTHON_CFRAME_SHIM &&
	    frame_byte(python, layout->frame_owner) >= OWNER_ENTRY) {
		end_run(python, frame);
		return 0;
	}
	code = frame_word(python, layout->frame_code) & ~REFERENCE_TAGS;
	/* A frame that is about to be freed has no code. */
	if (code && python_add_code(slot, code, frame_instruction(python, layout, code))) {
		python->cut = PKBPF_END_MAX_DEPTH;
		return FRAMES_ARE_CUT;
	}
	if (layout->chain == PKBPF_PYTHON_OBJECTS_CFRAME ||
	    (layout->chain == PKBPF_PYTHON_CFRAME && frame_byte(python, layout->frame_is_entry))) {
		end_run(python, python->cframe);
		if (!python_read_word(python->cframe + layout->cframe_previous, &value))
			value = 0;
		python->cframe = value;
	}
	return 0;
}

/* Ends the chain of frames that was read, and begins that of the next thread state; 0: there is
 * none. Not a loop around the chains: calls may be nested eight deep. */
__attribute__((noinline)) int python_next_chain(__u32 slot)
{
	struct python_scratch *python = python_scratch_get(slot);
	struct pkbpf_python_layout *layout;
	__u32 chain, at;

	if (!python)
		return 0;
	layout = python_layout_of(python);
	chain = python->chain;
	if (chain && chain <= PYTHON_CHAINS) {
		/* The last run is empty if a run ended with the last frame. */
		if (python->count == python->run + 1)
			python->count--;
		python->ends[python_index(chain - 1, PYTHON_CHAINS - 1)] = python->count;
		/* A chain without frames gives its place to the last one. */
		if (python->count == python->chain_start) {
			python->chain_count--;
			chain--;
			python->threads[python_index(chain, PYTHON_CHAINS - 1)] =
				python->threads[python_index(python->chain_count,
							     PYTHON_CHAINS - 1)];
		}
	}
	at = python->count;
	if (!layout || chain >= python->chain_count || chain >= PYTHON_CHAINS ||
	    at >= PYTHON_MAX_WORDS)
		return 0;
	python->run = at;
	python->chain_start = at;
	python->words[python_index(at, PYTHON_MAX_WORDS - 1)] =
		pkbpf_python_anchor_word(0) | (chain ? PKBPF_PYTHON_OTHER_CHAIN : 0);
	python->count = at + 1;
	python->chain = chain + 1;
	if (!first_frame(python, layout, python->threads[python_index(chain, PYTHON_CHAINS - 1)]))
		python->frame = 0;
	return 1;
}

/* Reads some frames; 1: there are no more. */
__attribute__((noinline)) int python_frames(__u32 slot)
{
	for (int i = 0; i < ENTRIES_PER_CALL; i++) {
		int end = python_frame(slot);

		if (end)
			return end == FRAMES_ARE_CUT || !python_next_chain(slot);
	}
	return 0;
}

/* Passes over one frame of a run; 1: python->frame is the entry that anchors it, or 0. A function
 * of its own: in a loop the verifier of 5.10 loses the bounds of what is read of it. */
__attribute__((noinline)) int python_pass_frame(__u32 slot)
{
	struct python_scratch *python = python_scratch_get(slot);
	struct pkbpf_python_layout *layout = python ? python_layout_of(python) : NULL;
	__u64 size;

	if (!layout || layout->chain < PKBPF_PYTHON_CFRAME_SHIM)
		return 1;
	size = layout->frame_size;
	barrier_var(size);
	if (size > PYTHON_FRAME_BYTES)
		size = PYTHON_FRAME_BYTES;
	if (!python->frame ||
	    bpf_probe_read_user(python->frame_bytes, size, (void *)python->frame)) {
		python->frame = 0;
		return 1;
	}
	if (frame_byte(python, layout->frame_owner) >= OWNER_ENTRY)
		return 1;
	python->frame = frame_word(python, layout->frame_previous);
	return 0;
}

/* Passes over some frames; 1: as above. */
__attribute__((noinline)) int python_pass_frames(__u32 slot)
{
	for (int i = 0; i < ENTRIES_PER_CALL; i++)
		if (python_pass_frame(slot))
			return 1;
	return 0;
}

/* Ends a run without its outer frames: the anchor says where the inner ones belong. */
static __always_inline void end_cut_run(struct python_scratch *python, __u32 slot)
{
	struct pkbpf_python_layout *layout = python_layout_of(python);
	__u64 anchor = python->cframe;
	__u32 at = python->count;
	int passed = 0;

	if (!layout)
		return;
	if (layout->chain >= PKBPF_PYTHON_CFRAME_SHIM) {
		for (int i = 0; i < PASS_CALLS && !passed; i++)
			passed = python_pass_frames(slot);
		anchor = passed ? python->frame : 0;
	}
	python->words[python_index(python->run, PYTHON_MAX_WORDS - 1)] |=
		pkbpf_python_anchor_word(anchor);
	if (at >= PYTHON_MAX_WORDS)
		at = PYTHON_MAX_WORDS - 1;
	python->words[python_index(at, PYTHON_MAX_WORDS - 1)] = PKBPF_PYTHON_CUT_WORD | python->cut;
	python->count = at + 1;
	python->ends[python_index(python->chain - 1, PYTHON_CHAINS - 1)] = at + 1;
}

static __always_inline bool is_ruby(const struct python_scratch *python)
{
	struct pkbpf_python_layout *layout = python_layout_of(python);

	return layout && layout->chain == PKBPF_RUBY_CONTROL_FRAMES;
}

static __always_inline void read_ruby_frames(__u32 slot)
{
	if (ruby_begin(slot))
		return;
	for (int i = 0; i < RUBY_TAG_CALLS; i++)
		if (ruby_tags(slot))
			break;
	for (int i = 0; i < RUBY_FRAME_CALLS; i++)
		if (ruby_frames(slot))
			break;
	ruby_end(slot);
}

/* Reads the Python frames of the current thread. */
static __always_inline void read_frames(struct python_scratch *python, __u32 slot,
					const struct pkbpf_python_process *process, __u32 pid,
					__u64 now_ns)
{
	python->count = 0;
	python->cut = 0;
	python->hash = 0;
	python->names = 0;
	python->layout = process->layout - 1;
	python->process = *process;
	python->pid = pid;
	python->time_ns = now_ns;
	python->identity = process_identity();
	python->ruby.is_leaf = 0;
	__builtin_memset(python->ends, 0, sizeof(python->ends));
	if (is_ruby(python)) {
		read_ruby_frames(slot);
		return;
	}
	python_find_threads(slot);
	if (!python->chain_count) {
		counter_add(PKBPF_COUNTER_PYTHON_NO_THREAD, 1);
		return;
	}
	/* As at the end of a chain: the first one is begun in the loop. */
	python->chain = 0;
	python->frame = 0;
	for (int i = 0; i < ENTRY_CALLS + PYTHON_CHAINS; i++)
		if (python_frames(slot))
			break;
	if (python->cut)
		end_cut_run(python, slot);
}

/* A run with its end too far away belongs right behind the leaf. */
static __always_inline void anchor_cut_run(struct python_scratch *python, __u64 leaf_sp)
{
	__u64 *word = &python->words[python_index(python->run, PYTHON_MAX_WORDS - 1)];

	if (python->cut && python->process.layout && !pkbpf_python_anchor(*word) &&
	    !python->process.loop[0].size)
		*word |= pkbpf_python_anchor_word(leaf_sp - 8);
	else if (python->ruby.is_leaf)
		python->words[0] |= pkbpf_python_anchor_word(leaf_sp - 8);
}

__attribute__((noinline)) int python_walk(__u32 slot)
{
	struct sample_scratch *scratch = slot < SCRATCH_SLOTS ? scratch_get(slot) : NULL;
	struct python_scratch *python = python_scratch_get(slot);
	struct unwind_scratch *unwind;

	if (!scratch || !python)
		return 0;
	unwind = &scratch->unwind;
	read_frames(python, slot, &unwind->python, scratch->sample.pid,
		    scratch->sample.header.time_ns);
	unwind->python_count = python->count;
	if (!python->count)
		return 0;
	counter_add(PKBPF_COUNTER_PYTHON_STACKS, 1);
	unwind->python_names = python->names;
	anchor_cut_run(python, unwind->state.sp);
	python_rewind(slot);
	return 0;
}

__attribute__((noinline)) __u64 python_stack_hash(__u32 slot, __u32 pid, __u64 now_ns)
{
	struct python_scratch *python = python_scratch_get(slot);
	struct pkbpf_unwind_process *process = bpf_map_lookup_elem(&unwind_processes, &pid);

	if (!python || !process)
		return PYTHON_NOT_HERE;
	if (!process->python.layout)
		return PYTHON_NOT_HERE;
	read_frames(python, slot, &process->python, pid, now_ns);
	return python->count ? python_mix(python->hash, python->count) : 0;
}
