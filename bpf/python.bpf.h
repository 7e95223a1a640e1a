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
	struct pkbpf_event_python_code record;
	__u8 lines[PKBPF_PYTHON_SHORT_LINE_BYTES];
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

static __always_inline __u64 python_mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL;
	return hash ^ (hash >> 29);
}

/* Global functions: the verifier follows each once. python_walk() reads the Python frames of the
 * current thread; the process has been looked up in unwind_scratch. python_push_run() adds the run
 * that belongs behind the native frame just unwound. python_push_rest() adds the frames left at the
 * end of the native stack. python_rewind() begins the merge. All return 0. */
int python_walk(__u32 slot);
int python_push_run(__u32 slot);
int python_push_rest(__u32 slot);
int python_rewind(__u32 slot);
/* Adds a frame to the words, and names its code object; 1: there is no room. */
int python_add_code(__u32 slot, __u64 code, __u32 instruction);
/* Hash of the current thread's Python stack, with the anchors of its runs: 0: it has none;
 * PYTHON_NOT_HERE: nor has any thread of the process. */
#define PYTHON_NOT_HERE (~0ULL)
__u64 python_stack_hash(__u32 slot, __u32 pid, __u64 now_ns);

#endif
