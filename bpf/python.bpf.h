/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Python frames of the current thread.
 *
 * The interpreter's frames are read before the native stack is unwound. They come in runs: the
 * frames that one activation of the interpreter's loop executes. Each run has an anchor, a
 * structure of the interpreter on the C stack. The native frame that encloses the anchor is the
 * loop, so the run is placed behind it. No symbol and no unwind rule of the interpreter matters.
 */
#ifndef PKBPF_PYTHON_BPF_H
#define PKBPF_PYTHON_BPF_H

#include "shared.bpf.h"

#include <pkbpf/python.h>
#include <pkbpf/ruby.h>

#define PYTHON_MAX_WORDS PKBPF_MAX_USER_FRAMES
/* The part of a frame that is read: all its fields are below. */
#define PYTHON_FRAME_BYTES 128
/* From the first line of a code object on: the fields that identify it. */
#define PYTHON_CODE_BYTES    96
#define PYTHON_CODE_WORDS    16 /* the next power of two */
#define PYTHON_CODE_SET_BITS 14
#define PYTHON_LAYOUTS	     32
#define PYTHON_NO_ANCHOR     (~0ULL)
/* Chains of frames of one thread: it has a state in each interpreter whose code it runs. */
#define PYTHON_CHAINS 4

/* Nested activations of Ruby's loop. */
#define RUBY_RUNS 512

/* Of Ruby's frames beside those of Python. */
struct ruby_scratch {
	__u64 context[4]; /* the first words of the execution context */
	__u64 stack_end;
	__u64 tag;	       /* the next one to be read */
	__u64 tags[RUBY_RUNS]; /* of activations of the loop, the innermost first */
	__u32 runs[RUBY_RUNS]; /* their words of frames: indices of the anchors */
	__u32 tag_count, run_count;
	__u64 environment[3];	   /* the one that is looked at */
	__u64 flags;		   /* of the frame */
	__u64 body, method;	   /* of the frame; 0: none */
	__u64 method_words[8];	   /* rb_callable_method_entry_t */
	__u64 definition[8];	   /* rb_method_definition_t */
	__u64 body_words[32];	   /* struct rb_iseq_constant_body */
	__u64 text[4];		   /* the start of a string object */
	__u64 owner[4];		   /* of a class */
	__u64 table[3];		   /* of a table of variables */
	__u64 variable, name, key; /* results */
	__u64 hash;		   /* of what the frame runs */
	__u32 kind;
	__u32 is_leaf; /* the first run has no tag yet */
};

struct python_scratch {
	/* An anchor's word (PKBPF_PYTHON_ANCHOR), then the frames of its run, and so on; at last
	 * PKBPF_PYTHON_CUT where frames are missing. */
	__u64 words[PYTHON_MAX_WORDS];
	__u32 count;
	__u32 run; /* index of the anchor of the current run */
	__u32 cut; /* enum pkbpf_unwind_end: why frames are missing; 0: they are not */
	__u32 layout;
	__u32 pid;
	struct pkbpf_python_process process;
	__u64 time_ns, identity;
	__u64 thread_pointer;
	__u64 threads[PYTHON_CHAINS]; /* the interpreters' states of this thread */
	__u32 chain_count, chain_start;
	__u32 chain;		    /* the one that is read or merged */
	__u32 ends[PYTHON_CHAINS];  /* of each chain, in words[] */
	__u32 nexts[PYTHON_CHAINS]; /* merged up to here */
	__u64 frame, cframe;	    /* the next ones to be read */
	__u64 names, hash; /* hash of the functions; hash of functions, instructions, anchors */
	/* Frames of the interpreter's loop that are looked at, and words that are left to place. */
	__u32 loops, from, to;
	__u64 frame_bytes[PYTHON_FRAME_BYTES / 8];
	__u64 code_bytes[PYTHON_CODE_WORDS];
	struct ruby_scratch ruby;
	union {
		struct {
			struct pkbpf_event_python_code record;
			__u8 lines[PKBPF_PYTHON_SHORT_LINE_BYTES];
		};
		struct {
			struct pkbpf_event_ruby_code ruby_record;
			__u8 ruby_index[PKBPF_RUBY_SHORT_INDEX];
			__u8 ruby_lines[PKBPF_RUBY_SHORT_LINES];
		};
	};
};

struct python_layouts_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PYTHON_LAYOUTS);
	__type(key, __u32);
	__type(value, struct pkbpf_python_layout);
};

/* Which code object was named last at an address: an entry has half of the hash of process and
 * address, and half of the fingerprint. A lost entry only means that the record is sent again. */
struct python_code_set {
	__u64 first, second;
};

struct python_codes_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* 1 << PYTHON_CODE_SET_BITS, set by the loader */
	__type(key, __u32);
	__type(value, struct python_code_set);
};

struct python_scratch_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_SLOTS);
	__type(key, __u32);
	__type(value, struct python_scratch);
};

extern struct python_layouts_map python_layouts SEC(".maps");
extern struct python_codes_map python_codes SEC(".maps");
extern struct python_scratch_map python_scratch SEC(".maps");

static __always_inline struct python_scratch *python_scratch_get(__u32 slot)
{
	return bpf_map_lookup_elem(&python_scratch, &slot);
}

static __always_inline struct pkbpf_python_layout *
python_layout_of(const struct python_scratch *python)
{
	__u32 key = python->layout;

	return bpf_map_lookup_elem(&python_layouts, &key);
}

static __always_inline bool python_read_word(__u64 address, __u64 *value)
{
	return !bpf_probe_read_user(value, sizeof(*value), (void *)address);
}

/* An index for the verifier of 5.10, which learns nothing from a comparison of a lower half. The
 * barrier keeps the mask where a comparison has made it needless. */
static __always_inline __u32 python_index(__u32 value, __u32 mask)
{
	barrier_var(value);
	return value & mask;
}

static __always_inline struct pkbpf_ruby_layout *ruby_layout_of(const struct python_scratch *python)
{
	return (struct pkbpf_ruby_layout *)python_layout_of(python);
}

static __always_inline __u64 python_mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL;
	return hash ^ (hash >> 29);
}

static __always_inline __u64 python_thread_pointer(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

#if PKBPF_UNWIND_ARM64
	return BPF_CORE_READ(task, thread.uw.tp_value);
#else
	return BPF_CORE_READ(task, thread.fsbase);
#endif
}

/* Asks user space for the slots that lead to a thread at once. The search costs it up to a
 * millisecond, and may find nothing. */
static __always_inline void python_report_listed(const struct python_scratch *python,
						 __u64 interval_ns)
{
	__u32 key = 3 * UNWIND_MISS_SLOTS + (python->pid & (UNWIND_MISS_SLOTS - 1));
	struct pkbpf_unwind_miss *miss;
	__u64 *last_ns;

	last_ns = bpf_map_lookup_elem(&unwind_miss_times, &key);
	if (!last_ns || python->time_ns - *last_ns < interval_ns)
		return;
	*last_ns = python->time_ns;
	miss = bpf_ringbuf_reserve(&unwind_misses, sizeof(*miss), 0);
	if (!miss)
		return;
	miss->pid = python->pid;
	miss->end = PKBPF_MISS_PYTHON;
	miss->address = 0;
	miss->time_ns = python->time_ns;
	bpf_ringbuf_submit(miss, BPF_RB_NO_WAKEUP);
}

/* Global functions: the verifier follows each once. python_walk() reads the Python frames of the
 * current thread; the process has been looked up in unwind_scratch. python_push_run() adds the run
 * that belongs behind the native frame just unwound. python_push_rest() adds the frames left at the
 * end of the native stack. python_rewind() begins the merge. All return 0. */
int python_walk(__u32 slot);
int python_push_run(__u32 slot);
int python_push_rest(__u32 slot);
int python_rewind(__u32 slot);
/* Ruby's frames instead; the process and its layout are set. ruby_begin(): 1: the thread has none.
 * ruby_tags() and ruby_frames() are called until they return 1, then ruby_end(). Not one function:
 * calls may be nested eight deep. */
int ruby_begin(__u32 slot);
int ruby_tags(__u32 slot);
int ruby_frames(__u32 slot);
int ruby_end(__u32 slot);
/* Identify what the current Ruby frame runs: set ruby.key, 0: it is not known. 1: it has no name
 * yet, so that ruby_read_owner() and ruby_send_code() are to follow (1: sent). */
int ruby_identify_method(__u32 slot);
int ruby_identify_code(__u32 slot);
int ruby_read_owner(__u32 slot);
int ruby_send_code(__u32 slot);
/* Adds a frame to the words, and names its code object; 1: there is no room. */
int python_add_code(__u32 slot, __u64 code, __u32 instruction);
/* Hash of the current thread's Python stack, with the anchors of its runs: 0: it has none;
 * PYTHON_NOT_HERE: nor has any thread of the process. */
#define PYTHON_NOT_HERE (~0ULL)
__u64 python_stack_hash(__u32 slot, __u32 pid, __u64 now_ns);

#endif
