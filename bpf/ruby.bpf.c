// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reads the Ruby frames of the current thread. They are an array of control frames, which has no
 * pointers into the C stack. But each activation of the interpreter's loop has a tag there, for
 * exceptions, and returns with a frame that is marked: the n-th run of frames belongs to the n-th
 * tag that leads into the loop.
 */
#include "python.bpf.h"

int ruby_tag(__u32 slot);
int ruby_environment(__u32 slot, __u64 address);
int ruby_find_method(__u32 slot);
int ruby_frame(__u32 slot);
int ruby_set_anchors(__u32 slot);

#define ENTRIES_PER_CALL 32
#define RUN_CALLS	 (RUBY_RUNS / ENTRIES_PER_CALL)
/* The part of a piece of code that is read: all its fields are there. */
#define BODY_BYTES 160
/* Blocks in blocks. */
#define MOST_OUTER    12
#define OUTER_ADDRESS (~3ULL)
/* An interpreter that starts is soon ready. */
#define LOOK_INTERVAL_NS 20000000ULL

/* Reads one tag; 1: there are no more. */
__attribute__((noinline)) int ruby_tag(__u32 slot)
{
	struct python_scratch *python = python_scratch_get(slot);
	struct pkbpf_ruby_layout *layout = python ? ruby_layout_of(python) : NULL;
	__u64 tag, receiver, previous;
	__u32 at;

	if (!layout)
		return 1;
	tag = python->ruby.tag;
	at = python->ruby.tag_count;
	if (!tag || at >= RUBY_RUNS || !python_read_word(tag + layout->tag_receiver, &receiver) ||
	    !python_read_word(tag + layout->tag_previous, &previous))
		return 1;
	/* Outer functions have higher addresses, so that the list ends. */
	python->ruby.tag = previous > tag ? previous : 0;
	if (receiver - python->process.loop[1].start >= python->process.loop[1].size)
		return 0;
	python->ruby.tags[python_index(at, RUBY_RUNS - 1)] = tag;
	python->ruby.tag_count = at + 1;
	python->hash = python_mix(python->hash, tag);
	return 0;
}

__attribute__((noinline)) int ruby_tags(__u32 slot)
{
	for (int i = 0; i < ENTRIES_PER_CALL; i++)
		if (ruby_tag(slot))
			return 1;
	return 0;
}

/* Reads an environment; 0: done. */
__attribute__((noinline)) int ruby_environment(__u32 slot, __u64 address)
{
	struct python_scratch *python = python_scratch_get(slot);

	if (!python)
		return 1;
	return bpf_probe_read_user(python->ruby.environment, PKBPF_RUBY_ENVIRONMENT_BYTES,
				   (void *)(address + 8 - PKBPF_RUBY_ENVIRONMENT_BYTES)) != 0;
}

/* Kind of an internal object; 0: it is none. */
static __always_inline __u32 internal_kind(__u64 object)
{
	__u64 flags;

	if (!object || object & 7 || !python_read_word(object, &flags) ||
	    PKBPF_RUBY_TYPE(flags) != PKBPF_RUBY_INTERNAL)
		return 0;
	return PKBPF_RUBY_KIND(flags);
}

/* Finds the method of the frame by its environment: that of a block is an outer one's. */
__attribute__((noinline)) int ruby_find_method(__u32 slot)
{
	struct python_scratch *python = python_scratch_get(slot);

	if (!python)
		return 0;
	for (int i = 0; i < MOST_OUTER; i++) {
		__u64 object = python->ruby.environment[0], flags = python->ruby.environment[2];
		__u32 kind = internal_kind(object);

		if (kind == PKBPF_RUBY_VARIABLES && flags & PKBPF_RUBY_IS_LOCAL) {
			if (!python_read_word(object + 8, &object))
				return 0;
			kind = internal_kind(object);
		}
		if (kind == PKBPF_RUBY_METHOD) {
			python->ruby.method = object;
			return 1;
		}
		if (flags & PKBPF_RUBY_IS_LOCAL ||
		    ruby_environment(slot, python->ruby.environment[1] & OUTER_ADDRESS))
			return 0;
	}
	return 0;
}

/* Ends a run: the frames from here on are those of an outer activation. */
static __always_inline void end_run(struct python_scratch *python)
{
	__u32 at = python->count, run = python->ruby.run_count;

	if (at >= PYTHON_MAX_WORDS || run >= RUBY_RUNS)
		return;
	python->ruby.runs[python_index(run, RUBY_RUNS - 1)] = python->run;
	python->ruby.run_count = run + 1;
	python->words[python_index(at, PYTHON_MAX_WORDS - 1)] = pkbpf_python_anchor_word(0);
	python->run = at;
	python->count = at + 1;
}

/* Adds the frame to the words; 1: there is no room. */
static __always_inline int add_word(struct python_scratch *python, __u64 position)
{
	__u64 key = python->ruby.key, word;
	__u32 at = python->count, instruction = PKBPF_PYTHON_NO_INSTRUCTION;

	if (at >= PYTHON_MAX_WORDS - 2) {
		counter_add(PKBPF_COUNTER_PYTHON_TOO_DEEP, 1);
		python->cut = PKBPF_END_MAX_DEPTH;
		return 1;
	}
	if (key && position < PKBPF_PYTHON_NO_INSTRUCTION)
		instruction = position;
	word = pkbpf_python_word(key ? key : PKBPF_RUBY_UNKNOWN_CODE, instruction);
	python->names = python_mix(python->names, key);
	python->hash = python_mix(python->hash, word);
	python->words[python_index(at, PYTHON_MAX_WORDS - 1)] = word;
	python->count = at + 1;
	return 0;
}

/* What the frame's code object is; false: it has none. */
static __always_inline bool find_body(struct python_scratch *python,
				      const struct pkbpf_ruby_layout *layout)
{
	__u64 iseq = python->frame_bytes[PKBPF_RUBY_FRAME_ISEQ], body;

	if (!iseq || internal_kind(iseq) != PKBPF_RUBY_ISEQ ||
	    !python_read_word(iseq + layout->iseq_body, &body))
		return false;
	python->ruby.body = body;
	return !bpf_probe_read_user(python->ruby.body_words, BODY_BYTES, (void *)body);
}

/* Sends what was identified, and is new. */
static __always_inline void name(struct python_scratch *python, __u32 slot)
{
	if (python->ruby.kind != PKBPF_RUBY_PLAIN)
		ruby_read_owner(slot);
	if (!ruby_send_code(slot))
		python->ruby.key = 0;
}

enum { FRAMES_END = 1 };

/* Reads one frame; 1: there are no more, or they were not read. */
__attribute__((noinline)) int ruby_frame(__u32 slot)
{
	struct python_scratch *python = python_scratch_get(slot);
	struct pkbpf_ruby_layout *layout = python ? ruby_layout_of(python) : NULL;
	__u64 flags, position = PKBPF_PYTHON_NO_INSTRUCTION;
	__u32 magic;

	if (!layout || python->frame + layout->frame_size > python->ruby.stack_end)
		return FRAMES_END;
	if (bpf_probe_read_user(python->frame_bytes, 8 * PKBPF_RUBY_FRAME_WORDS,
				(void *)python->frame) ||
	    ruby_environment(slot, python->frame_bytes[PKBPF_RUBY_FRAME_ENVIRONMENT])) {
		counter_add(PKBPF_COUNTER_PYTHON_UNREADABLE, 1);
		python->cut = PKBPF_END_FAULT_RA;
		return FRAMES_END;
	}
	python->frame += layout->frame_size;
	flags = python->ruby.environment[2];
	magic = flags & PKBPF_RUBY_MAGIC;
	if (magic == PKBPF_RUBY_DUMMY)
		return FRAMES_END;
	python->ruby.flags = flags;
	python->ruby.method = 0;
	python->ruby.key = 0;
	if (magic == PKBPF_RUBY_C_FUNCTION) {
		if (ruby_find_method(slot) && ruby_identify_method(slot))
			name(python, slot);
		if (add_word(python, position))
			return FRAMES_END;
	} else if (magic != PKBPF_RUBY_C_BLOCK && find_body(python, layout)) {
		ruby_find_method(slot);
		if (ruby_identify_code(slot))
			name(python, slot);
		position =
			(python->frame_bytes[PKBPF_RUBY_FRAME_PC] - python->ruby.body_words[1]) / 8;
		if (add_word(python, position))
			return FRAMES_END;
	}
	if (flags & PKBPF_RUBY_IS_FINISH)
		end_run(python);
	return 0;
}

__attribute__((noinline)) int ruby_frames(__u32 slot)
{
	for (int i = 0; i < ENTRIES_PER_CALL; i++)
		if (ruby_frame(slot))
			return 1;
	return 0;
}

/*
 * Gives the next runs their anchors. An activation that is about to begin has a frame but no tag
 * yet, and one that is about to end a tag but no frame any more; all others have both. 1: there are
 * no more runs.
 */
__attribute__((noinline)) int ruby_set_anchors(__u32 slot)
{
	struct python_scratch *python = python_scratch_get(slot);

	if (!python)
		return 1;
	for (int i = 0; i < ENTRIES_PER_CALL; i++) {
		__u32 run = python->from, tag = python->to;

		if (run >= python->ruby.run_count || tag >= python->ruby.tag_count)
			return 1;
		python->words[python_index(python->ruby.runs[python_index(run, RUBY_RUNS - 1)],
					   PYTHON_MAX_WORDS - 1)] |=
			pkbpf_python_anchor_word(
				python->ruby.tags[python_index(tag, RUBY_RUNS - 1)]);
		python->from = run + 1;
		python->to = tag + 1;
	}
	return 0;
}

/* Ends the walk: places the runs. */
__attribute__((noinline)) int ruby_end(__u32 slot)
{
	struct python_scratch *python = python_scratch_get(slot);
	__u32 runs, tags, at;

	if (!python)
		return 0;
	if (python->cut && python->ruby.run_count < RUBY_RUNS) {
		/* its end is not known, but it belongs to the next tag */
		at = python->ruby.run_count;
		python->ruby.runs[python_index(at, RUBY_RUNS - 1)] = python->run;
		python->ruby.run_count = at + 1;
	}
	runs = python->ruby.run_count;
	tags = python->ruby.tag_count;
	python->from = 0;
	python->to = 0;
	if (!python->cut && runs == tags + 1) {
		python->ruby.is_leaf = 1;
		python->from = 1;
	} else if (!python->cut && tags == runs + 1) {
		python->to = 1;
	}
	for (int i = 0; i < RUN_CALLS; i++)
		if (ruby_set_anchors(slot))
			break;
	at = python->count;
	if (python->cut) {
		at = python_index(at, PYTHON_MAX_WORDS - 1);
		python->words[at] = PKBPF_PYTHON_CUT_WORD | python->cut;
		python->count = at + 1;
	} else if (at == python->run + 1) {
		python->count = at - 1;
	}
	python->ends[0] = python->count;
	python->chain_count = python->count != 0;
	return 0;
}

/* Finds the execution context, and its frames; false: the thread runs no Ruby. */
static __always_inline bool find_context(struct python_scratch *python)
{
	__u64 context, size, *words = python->ruby.context;

	if (!python->process.slots[0]) {
		python_report_listed(python, LOOK_INTERVAL_NS);
		return false;
	}
	if (!python_read_word(python_thread_pointer() + (__s64)python->process.slots[0],
			      &context) ||
	    !context ||
	    bpf_probe_read_user(python->ruby.context, sizeof(python->ruby.context),
				(void *)context))
		return false;
	size = words[PKBPF_RUBY_CONTEXT_SIZE / 8];
	if (size > PKBPF_RUBY_MAX_STACK)
		return false;
	python->frame = words[PKBPF_RUBY_CONTEXT_FRAME / 8];
	python->ruby.tag = words[PKBPF_RUBY_CONTEXT_TAG / 8];
	python->ruby.stack_end = words[PKBPF_RUBY_CONTEXT_STACK / 8] + 8 * size;
	return python->frame - words[PKBPF_RUBY_CONTEXT_STACK / 8] < 8 * size;
}

__attribute__((noinline)) int ruby_begin(__u32 slot)
{
	struct python_scratch *python = python_scratch_get(slot);

	if (!python)
		return 1;
	python->chain_count = 0;
	if (!find_context(python)) {
		counter_add(PKBPF_COUNTER_PYTHON_NO_THREAD, 1);
		return 1;
	}
	python->chain = 1;
	python->run = 0;
	python->words[0] = pkbpf_python_anchor_word(0);
	python->count = 1;
	python->ruby.run_count = 0;
	python->ruby.tag_count = 0;
	return 0;
}
