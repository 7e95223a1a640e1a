/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* User stacks from unwind tables: the maps, the unwinder's memory, and the functions for event
 * programs. */
#ifndef PKBPF_UNWIND_BPF_H
#define PKBPF_UNWIND_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include <pkbpf/event.h>
#include <pkbpf/unwind.h>
#include <pkbpf/unwind_state.h>

/* Scratch memory for one sample, per CPU and per kind of event. A perf_event sample (NMI or timer
 * interrupt) may interrupt a tracepoint program, so each kind has a slot of its own. Slot numbers
 * are unrelated to the numbers of profile kinds. */
enum scratch_slot {
	SCRATCH_CPU,
	SCRATCH_OFFCPU,
	SCRATCH_BLOCKIO,
	SCRATCH_FAULTS,
	SCRATCH_ALLOC,
	SCRATCH_ALLOC_NESTED, /* of a thread that preempted one in SCRATCH_ALLOC */
	SCRATCH_MEMORY,
	SCRATCH_NETWORK,
	SCRATCH_SPAN,
	SCRATCH_GPU, /* last: the loader leaves it out where it is not needed */
	SCRATCH_SLOTS,
};
_Static_assert(SCRATCH_GPU == SCRATCH_SLOTS - 1, "left out by the number of slots");

/* Rows are packed into large values: a BPF array would round each 4-byte value up to 8, and a
 * search inside one value is plain loads. All sizes are set before the object is loaded. */
struct unwind_chunk {
	__u32 rows[PKBPF_CHUNK_ROWS];
};

struct unwind_chunk_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	/* sizes instead of types: clang leaves the types behind an inner map incomplete */
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct unwind_chunk));
};

struct unwind_rows_map { /* chunks, allocated as needed */
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct unwind_chunk_map);
};

struct unwind_pages_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pkbpf_unwind_page);
};

struct unwind_rules_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pkbpf_unwind_rule);
};

/* Shared by all CPUs without a lock: an entry is one self-contained word, so any mix of two CPUs'
 * writes to a set is valid. */
struct unwind_recent_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << PKBPF_RECENT_SET_BITS);
	__type(key, __u32);
	__type(value, struct pkbpf_recent_set);
};

struct unwind_files_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pkbpf_unwind_file);
};

struct unwind_mappings_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pkbpf_unwind_mapping);
};

struct unwind_processes_map {		 /* tgid -> its mappings */
	__uint(type, BPF_MAP_TYPE_HASH); /* preallocated, unless the loader changes it */
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pkbpf_unwind_process);
};

struct unwind_misses_map {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
};

struct raw_ring_map {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
};

/* Time of a process's last report. pids share slots, which only delays a report. Reports of
 * complete stacks have their own slots, because a process that generates code has little else. A
 * third set holds the start of such reports. Those of Python threads have a fourth. */
#define UNWIND_MISS_SLOTS	1024
#define UNWIND_MISS_INTERVAL_NS 100000000ULL
#define UNWIND_WHOLE_WAKE_NS	1000000000ULL
/* Tables are requested at once: the first stacks of a process need those of several files, one
 * after another. */
#define UNWIND_TABLE_MISS_INTERVAL_NS 10000000ULL

struct unwind_miss_times_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 4 * UNWIND_MISS_SLOTS);
	__type(key, __u32);
	__type(value, __u64);
};

/* The window is a copy of stack memory for several frames. A copy costs about 150 ns, however
 * small. The unwinder therefore doubles its size: at most half of the copied bytes are unused. */
#define UNWIND_FIRST_WINDOW_BYTES 512
#define UNWIND_WINDOW_BYTES	  4096

/* If the frames of the last stack were at most this large on average, the next stack is expected to
 * be similar, and its bytes are copied at once. That saves a sixth of the time for 50 such frames.
 * With larger frames, most copied bytes would be unused. */
#define UNWIND_DENSE_FRAME_BYTES 128

enum { UNWIND_USER_MEMORY = 0, UNWIND_KERNEL_MEMORY = 1 };

/* The log of the words that the unwinder has read, used to recognize the stack later: room for
 * about 48 frames. */
#define UNWIND_LOG_WORDS 96

enum unwind_want_raw {
	UNWIND_NO_RAW = 0,
	UNWIND_RAW_INSTEAD = 1, /* tables are missing: to be unwound later */
	UNWIND_RAW_CHECK = 2,	/* to be unwound a second time and compared */
};

/* One in this many complete stacks of CPU samples is verified, the first one early. Copying it and
 * unwinding it again costs about ten times the sample. */
#define UNWIND_CHECK_EVERY 2048
#define UNWIND_CHECK_FIRST 64

/* Memory of the unwinder besides the frames it finds; one per CPU and kind of event, in the kind's
 * scratch. */
struct unwind_scratch {
	/* must be first: the functions of the step find the rest by it */
	struct pkbpf_unwind_state state;
	__u64 first_regs[PKBPF_SIGNAL_REGS]; /* of the leaf, for a raw record */
	__u32 first_mapping, mapping_count;  /* of process pid, looked up in `moment` */
	__u32 pid;
	__u32 epoch; /* about a second each */
	__u64 moment;
	__u32 limit;
	__u32 first_frame; /* index of the first user frame in ips[] */
	__u32 end;	   /* enum pkbpf_stack_end; 0: still unwinding */
	__u32 slot;	   /* slot of the scratch that holds this struct */
	__u32 rule;	   /* rule of the last frame; PKBPF_UNWIND_MAX_RULES: none */
	__u32 first_flags; /* flags of the state at the leaf */
	/* frame pointer before the last step */
	__u64 callee_fp;
	__u8 regs_ready; /* state.regs are filled */
	__u8 in_exec;	 /* in execve: unreadable stack memory means that the stack is gone */
	__u8 compat;	 /* 32-bit code */
	__u8 want_raw;	 /* enum unwind_want_raw */
	__u8 raw_filled;
	__u8 new_thread; /* thread has not returned from clone yet */
	__u8 reserved;
	/* address of the kernel's record of the probed call checked last; 0: none yet */
	__u64 probed_call;
	struct pkbpf_python_process python; /* of process pid */
	struct pkbpf_v8_process v8;	    /* of process pid */
	/* Python frames that are not merged yet belong behind the native frame that encloses this
	 * address; PYTHON_NO_ANCHOR: none are left */
	__u64 python_anchor;
	__u64 python_names; /* hash of the Python functions in this stack; 0: none */
	__u32 python_count; /* words of the Python part; 0: none */
	__u32 python_end;   /* why outer Python frames are missing; 0: they are not */
	__u32 verified;	    /* guessed frames confirmed by V8's function or frame type */
	__u32 stubs;	    /* guessed frames of V8's stubs inside of all confirmed ones */
	__u64 kernel_sp;    /* kernel stack pointer at the event; 0: unknown */
	__u64 window_start;
	__u64 window_size;
	__u64 window_next; /* bytes of the next copy */
	__u64 window_goal; /* expected end of the unwinding; 0: unknown */
	/* bytes from leaf to root of the last stack if its frames were small; else 0 */
	__u64 dense_bytes;
	__u64 window[UNWIND_WINDOW_BYTES / 8];
	__u64 raw_stack_id; /* id of the stack in a raw record; 0: the record is an event */
	__u64 regs_address; /* address of pt_regs in the kernel */
	__u64 pt_regs[36];
	__u32 whole_walks;  /* complete stacks so far, to choose some for verification */
	__u32 kernel_walks; /* kernel stacks so far, for the same purpose */
	__u32 kernel_left;  /* kernel stacks left to the kernel (fallback) */
	__u32 reserved4;
	__u32 log_wanted;
	__u32 log_count; /* beyond UNWIND_LOG_WORDS: the unwinding depended on more than the log */
	__u64 log_address[UNWIND_LOG_WORDS];
	__u64 log_value[UNWIND_LOG_WORDS];
};

/*
 * A raw record: the sample, its kernel frames (in a check also its user frames), the registers and
 * up to 112 KiB of stack. That is below 128 KiB, the decoder's limit, and enough for 1,024 frames
 * of ordinary size. Deeper stacks are truncated at the end of their copy. The copy skips pages that
 * do not exist, so it may span more than its size.
 */
#define RAW_STACK_PAGES 28
#define RAW_STACK_BYTES (RAW_STACK_PAGES * PKBPF_RAW_PAGE_BYTES)
#define RAW_PREFIX_WORDS                                                                           \
	(11 + PKBPF_MAX_KERNEL_FRAMES + PKBPF_MAX_CHECK_FRAMES + PKBPF_RAW_HEAD_WORDS)

struct raw_scratch {
	__u64 second[SCRATCH_SLOTS];
	__u64 sent[SCRATCH_SLOTS]; /* records sent in that second */
	__u64 busy;    /* set while the record is in use; an event of another kind may interrupt */
	__u32 cut;     /* the copy is truncated by its size limit, not at the end of the memory */
	__u32 known;   /* number of the stack's pages; 0: unknown */
	__u64 holes;   /* bit mask of missing pages; bit 0 is the first page */
	__u32 missing; /* consecutive missing pages at the end so far */
	__u32 pages;   /* pages copied beyond the first */
	__u32 allowed; /* limit of `pages` */
	__u32 copied;  /* bytes copied */
	__u32 word;    /* word of the record where the copy begins */
	__u32 reserved;
	__u64 start;	  /* start of the copied stack */
	__u64 trampoline; /* address that probed functions return to */
	__u64 record[RAW_PREFIX_WORDS + RAW_STACK_BYTES / 8];
};

_Static_assert(PKBPF_RAW_SPAN_PAGES <= 64, "each page has its bit in holes");

struct raw_scratch_map { /* one per possible CPU: values of per-CPU maps are limited to 32 KiB */
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set by the loader */
	__type(key, __u32);
	__type(value, struct raw_scratch);
};

extern struct unwind_rows_map unwind_rows SEC(".maps");
extern struct unwind_pages_map unwind_pages SEC(".maps");
extern struct unwind_rules_map unwind_rules SEC(".maps");
extern struct unwind_recent_map unwind_recent SEC(".maps");
extern struct unwind_files_map unwind_files SEC(".maps");
extern struct unwind_mappings_map unwind_mappings SEC(".maps");
extern struct unwind_processes_map unwind_processes SEC(".maps");
extern struct unwind_misses_map unwind_misses SEC(".maps");
extern struct unwind_miss_times_map unwind_miss_times SEC(".maps");
extern struct raw_ring_map raw_ring SEC(".maps");
extern struct raw_scratch_map raw_scratch SEC(".maps");

/* Global functions: each is verified once by itself, and takes scalars only, as 5.10 requires. They
 * return 0 or 1. */
int unwind_user_stack(__u32 slot);
int unwind_move_window(__u32 slot, __u64 address, __u32 memory);
int emit_raw_stack(__u32 slot);
int unwind_leave_probe(__u32 slot);
/* Maximum number of frames found from a thread's first function: its leaf, and words that happen to
 * be on the new stack. */
#define UNWIND_THREAD_START_FRAMES 4
int unwind_note_incomplete(__u32 slot);
int unwind_is_thread_start(__u32 slot);
int uprobe_mend_copy(__u32 cpu);

#endif
