/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* User stacks from unwind tables: the maps, the memory of a walk, and what event programs call. */
#ifndef PKBPF_UNWIND_BPF_H
#define PKBPF_UNWIND_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

#include <pkbpf/event.h>
#include <pkbpf/unwind.h>
#include <pkbpf/unwind_state.h>

/*
 * Scratch memory for building one sample, per CPU and per class of event: a perf_event sample (NMI
 * or timer interrupt) may interrupt a tracepoint program half way, so each class has a slot of its
 * own. Its number says nothing of the kind of event.
 */
enum scratch_slot {
	SCRATCH_CPU,
	SCRATCH_OFFCPU,
	SCRATCH_BLOCKIO,
	SCRATCH_FAULTS,
	SCRATCH_SLOTS,
};

/*
 * Rows lie inside large values: a BPF array would round each 4-byte value up to 8, and a search
 * inside one value is plain loads. All sizes are set before the object is loaded.
 */
struct unwind_chunk {
	__u32 rows[PKBPF_CHUNK_ROWS];
};

struct unwind_chunk_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	/* sizes, since clang leaves the types behind an inner map incomplete */
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct unwind_chunk));
};

struct unwind_rows_map { /* chunks, as they become needed */
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

/* All CPUs share it: an entry is one word that tells all, so whatever two CPUs make of a set is
 * right. */
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
	__uint(type, BPF_MAP_TYPE_HASH); /* preallocated, unless the loader says otherwise */
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

/* When a process was reported last; pids share slots, which only delays a report. Reports of whole
 * stacks have slots of their own, and others for when they began: a process that generates code has
 * little else. */
#define UNWIND_MISS_SLOTS	1024
#define UNWIND_MISS_INTERVAL_NS 100000000ULL
#define UNWIND_WHOLE_WAKE_NS	1000000000ULL
/* A table is asked for at once: a process's first stacks need those of several files, one after the
 * other. */
#define UNWIND_TABLE_MISS_INTERVAL_NS 10000000ULL

struct unwind_miss_times_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 3 * UNWIND_MISS_SLOTS);
	__type(key, __u32);
	__type(value, __u64);
};

/*
 * One copy of stack memory is good for some frames. A copy costs about 150 ns however small it is,
 * so a walk that goes on takes ever larger ones: half of what it copies in vain at most.
 */
#define UNWIND_FIRST_WINDOW_BYTES 512
#define UNWIND_WINDOW_BYTES	  4096

/*
 * Where the last walk's frames were no larger than this on average, the next one is expected to be
 * like it, and what it will need is copied at once: a sixth less of the time of 50 such frames. Of
 * larger frames most bytes would be copied in vain.
 */
#define UNWIND_DENSE_FRAME_BYTES 128

enum { UNWIND_USER_MEMORY = 0, UNWIND_KERNEL_MEMORY = 1 };

/* The words a walk has read, for whoever wants to recognise the stack later: room for about 48
 * frames. */
#define UNWIND_LOG_WORDS 96

enum unwind_want_raw {
	UNWIND_NO_RAW = 0,
	UNWIND_RAW_INSTEAD = 1, /* tables are missing: to be unwound later */
	UNWIND_RAW_CHECK = 2,	/* to be unwound again and compared */
};

/* Of so many whole stacks of CPU samples one is checked, the first one soon: copying and walking it
 * again costs about ten times what the sample did. */
#define UNWIND_CHECK_EVERY 2048
#define UNWIND_CHECK_FIRST 64

/* What a walk needs besides the frames it finds; one per CPU and event class, in the class's
 * scratch. */
struct unwind_scratch {
	struct pkbpf_unwind_state state;     /* first: the step's functions find the rest by it */
	__u64 first_regs[PKBPF_SIGNAL_REGS]; /* of the leaf, for a raw record */
	__u32 first_mapping, mapping_count;  /* of process pid, found in that moment */
	__u32 pid;
	__u32 epoch; /* about a second each */
	__u64 moment;
	__u32 limit;
	__u32 first_frame; /* where user frames begin in ips[] */
	__u32 end;	   /* how the unwinding ended; 0: not yet */
	__u32 slot;	   /* of the scratch it lies in */
	__u32 rule;	   /* that was found last, of the walk's last frame if it had one */
	__u32 first_flags; /* of the state, at the leaf */
	__u64 callee_fp;   /* where it follows registers: before the last step */
	__u8 regs_ready;   /* state.regs are filled */
	__u8 in_exec;	   /* inside execve: a stack that cannot be read has gone */
	__u8 compat;	   /* 32-bit code */
	__u8 want_raw;	   /* enum unwind_want_raw */
	__u8 raw_filled;
	__u8 new_thread; /* has not returned from clone yet */
	__u8 reserved;
	/* the kernel's record of the last one that was looked at; 0: none so far */
	__u64 probed_call;
	__u64 kernel_sp; /* where the event interrupted the kernel; 0: unknown */
	__u64 window_start;
	__u64 window_size;
	__u64 window_next; /* bytes to copy when it has been left */
	__u64 window_goal; /* the unwinding is expected to end there; 0: nothing is known */
	/* from the leaf to the root of the last stack, if its frames were small; else 0 */
	__u64 dense_bytes;
	__u64 window[UNWIND_WINDOW_BYTES / 8];
	__u64 raw_stack_id; /* of the stack that a raw record is of; 0: it is of an event */
	__u64 regs_address; /* of pt_regs in the kernel */
	__u64 pt_regs[36];
	__u32 whole_walks;  /* so far, to choose some for a check */
	__u32 kernel_walks; /* the same for kernel stacks */
	__u32 kernel_left;  /* to the kernel */
	__u32 reserved4;
	__u32 log_wanted;
	__u32 log_count; /* beyond UNWIND_LOG_WORDS: the unwinding depended on more than the log
			    holds */
	__u64 log_address[UNWIND_LOG_WORDS];
	__u64 log_value[UNWIND_LOG_WORDS];
};

/*
 * A raw record: the sample, its kernel frames (in a check also the user frames found), the
 * registers and up to 112 KiB of stack: below 128 KiB, the most that the decoder accepts, and
 * enough for 1,024 frames of an ordinary size. Deeper stacks end where their copy ends. Pages of it
 * that do not exist come in between, so that it spans more.
 */
#define RAW_STACK_PAGES 28
#define RAW_STACK_BYTES (RAW_STACK_PAGES * PKBPF_RAW_PAGE_BYTES)
#define RAW_PREFIX_WORDS                                                                           \
	(11 + PKBPF_MAX_KERNEL_FRAMES + PKBPF_MAX_CHECK_FRAMES + PKBPF_RAW_HEAD_WORDS)

struct raw_scratch {
	__u64 second[SCRATCH_SLOTS];
	__u64 sent[SCRATCH_SLOTS]; /* in that second */
	__u64 busy;    /* an event of another class was interrupted while it filled the record */
	__u32 cut;     /* the record's stack ends for want of room, not of memory */
	__u32 known;   /* its pages, where that is known; 0: it is not */
	__u64 holes;   /* bits of its pages that do not exist, the first page's is 1 */
	__u32 missing; /* pages in a row that do not exist, at the end of what there is so far */
	__u32 pages;   /* copied, beside the first */
	__u32 allowed; /* of them */
	__u32 copied;  /* bytes */
	__u32 word;    /* of the record, where the copy begins */
	__u32 reserved;
	__u64 start;	  /* of the copied stack */
	__u64 trampoline; /* to which probed functions return */
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

/* Global functions: verified once by themselves, and only scalars pass, as 5.10 demands. Always 0
 * or 1. */
int unwind_user_stack(__u32 slot);
int unwind_move_window(__u32 slot, __u64 address, __u32 memory);
int emit_raw_stack(__u32 slot);
int unwind_leave_probe(__u32 slot);
/* A walk from a thread's first function has at most these: its leaf, and what the new stack happens
 * to hold. */
#define UNWIND_THREAD_START_FRAMES 4
int unwind_note_incomplete(__u32 slot);
int unwind_is_thread_start(__u32 slot);
int uprobe_mend_copy(__u32 cpu);

#endif
