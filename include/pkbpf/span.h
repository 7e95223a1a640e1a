/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Regions: named spans of time in programs. Layouts shared by the programs that see a thread enter
 * and leave them and by the source that reads the sums.
 *
 * A region is two readings of the account that off-CPU profiling keeps for its thread. Their
 * difference divides the wall time of every single call into on-CPU, run queue, sleep, disk and so
 * on: the parts add up to it exactly.
 */
#ifndef PKBPF_SPAN_H
#define PKBPF_SPAN_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#include <pkbpf/event.h>
#include <pkbpf/histogram.h>
#include <pkbpf/offcpu.h>

/* Regions that one thread may have open; deeper ones are counted, not measured. */
#define PKBPF_SPAN_DEPTH 32
/* Names whose regions are counted when they take longer than a limit. */
#define PKBPF_SPAN_LIMITS 64
/* Bytes of a name with its NUL; longer names are cut. */
#define PKBPF_SPAN_NAME 64

/* The account of the current thread at one moment. Its time on the CPU is what the other states
 * leave. */
struct pkbpf_span_reading {
	__u64 now_ns;
	__u64 first_ns;			    /* start of the account; 0: there is none */
	__u64 waited_ns[PKBPF_WAIT_STATES]; /* [PKBPF_WAIT_NONE] is not used */
	__u64 minor_faults, major_faults;
	__u64 read_bytes, written_bytes;
	__s64 rss_pages; /* of the process; 0 in readings of calls */
};

/* Flags of a frame. */
enum {
	/* Frames were taken from below it or it was taken from below others, as with coroutines of
	 * one thread: waits may be those of other tasks. */
	PKBPF_SPAN_INTERLEAVED = 1,
	PKBPF_SPAN_FUNCTION = 2,  /* a call; its leave has the same stack pointer */
	PKBPF_SPAN_RECURSIVE = 4, /* below another call of the same function */
	PKBPF_SPAN_NATIVE = 8,	  /* on the stack that its thread began with */
	PKBPF_SPAN_UNSCOPED = 16, /* may outlive the function that entered it */
	/* What was around it has ended: what is entered inside of it has no known parents. */
	PKBPF_SPAN_DETACHED = 32,
};

struct pkbpf_span_frame {
	struct pkbpf_span_reading at;
	__u64 token; /* what its leave will say; 0: nothing */
	/* Of calls: where its return address is, and that address. */
	__u64 stack_pointer, return_address;
	__u64 items;
	__u64 child_ns; /* wall time of what was entered and left inside of it */
	__u32 row;	/* PKBPF_NO_ROW: no room */
	__u32 flags;
};

_Static_assert(sizeof(struct pkbpf_span_frame) == 152, "map value");

/* A region that took long, until its record is sent. */
struct pkbpf_span_slow {
	__u64 start_ns;
	__u64 wall_ns; /* 0: none */
	__u64 part_ns[PKBPF_WAIT_STATES];
	__u32 row, reserved;
};

/* Calls of functions with one stack, in one process. */
struct pkbpf_span_caller_key {
	__u64 stack_id; /* with the function as its leaf; 0: unknown */
	__u32 pid;
	__u32 epoch; /* struct pkbpf_span_control */
};

struct pkbpf_span_caller {
	__u64 count;
	__u64 total_ns; /* of calls that were measured, and in no other one of the same function */
	__u64 max_ns;
	__u64 cgroup_id;
	char comm[PKBPF_COMM_SIZE];
};

/* A call that has just ended, or was counted, until its stack is read. */
struct pkbpf_span_called {
	__u64 wall_ns;
	__u32 is_set;
	__u32 reserved;
};

/* Open regions of one thread. Only programs that run on the thread write to it. */
struct pkbpf_span_stack {
	__u32 tid, pid;
	__u32 depth;
	__u32 deeper;		    /* open regions beyond PKBPF_SPAN_DEPTH */
	char name[PKBPF_SPAN_NAME]; /* of the region that is being entered */
	struct pkbpf_span_reading now;
	struct pkbpf_span_slow slow;
	struct pkbpf_span_called called;
	struct pkbpf_span_frame frames[PKBPF_SPAN_DEPTH];
	__u32 reserved;
	__u32 claims; /* must be last, see slot_take() */
};

_Static_assert(sizeof(struct pkbpf_span_stack) % 8 == 0, "map value");

/* Flags of a row and of its record. */
enum {
	PKBPF_REGION_BY_ID = 1,	   /* began and ended by number, perhaps in different threads */
	PKBPF_REGION_FUNCTION = 2, /* calls of a function */
	PKBPF_REGION_LET_GO = 4,   /* its probes were taken off, since they cost too much */
	PKBPF_REGION_REQUEST = 8,  /* requests with this label, by thread contexts */
};

/* One region below one other region of a process; all CPUs add to it. */
struct pkbpf_span_row {
	__u32 pid;    /* 0: not complete yet */
	__u32 parent; /* row; PKBPF_NO_ROW: none */
	__u32 flags;
	__u32 reserved;
	char name[PKBPF_SPAN_NAME];
	__u64 count;	   /* of regions left */
	__u64 lost_end;	   /* regions that ended without being left: exit, longjmp */
	__u64 interleaved; /* of count, without parts */
	__u64 recursive;   /* calls inside of calls, beside count; in no time but self_ns */
	__u64 unmeasured;  /* calls that were only counted, beside count */
	__u64 total_ns, self_ns, max_ns;
	__u64 items;
	__u64 part_ns[PKBPF_WAIT_STATES];
	__u64 minor_faults, major_faults;
	__u64 read_bytes, written_bytes;
	/* Resident memory of the process: at the ends of so many regions, summed up; the most at a
	 * begin or an end; and by how much it grew from begin to end, summed up. */
	__u64 rss_readings, rss_sum_pages, rss_max_pages;
	__s64 rss_growth_pages;
	__u64 limit_ns; /* of span_limits; 0: none */
	__u64 over;	/* of count, that took longer */
	__u32 buckets[PKBPF_HISTOGRAM_BUCKETS];
	__u32 reserved2;
	__u32 claims; /* must be last, see slot_take() */
};

_Static_assert(sizeof(struct pkbpf_span_row) % 8 == 0, "map value");

/* A value of a program at a site: a constant, a register, or memory at register + index * scale +
 * offset. */
enum {
	PKBPF_OPERAND_NONE, /* cannot be read */
	PKBPF_OPERAND_CONSTANT,
	PKBPF_OPERAND_REGISTER,
	PKBPF_OPERAND_MEMORY,
};

struct pkbpf_span_operand {
	__u8 kind;
	__u8 size; /* bytes: 1, 2, 4 or 8 */
	__u8 is_signed;
	__u8 scale;		/* 0: no index */
	__u16 word, index_word; /* of struct pt_regs */
	__s64 offset;		/* or the constant */
};

/* What happens at a site. */
enum {
	PKBPF_SITE_OFF, /* nothing any more: other sites have taken over */
	PKBPF_SITE_ENTER,
	PKBPF_SITE_LEAVE,
	PKBPF_SITE_BEGIN, /* by id */
	PKBPF_SITE_END,
	PKBPF_SITE_CALL,  /* a function begins */
	PKBPF_SITE_COUNT, /* the same, of one whose end is not seen */
	PKBPF_SITE_RETURN,
};

/* When an exit of a function is one; below: the number of the condition of a jump. */
enum {
	PKBPF_EXIT_ALWAYS = 16,
	PKBPF_EXIT_INDIRECT = 17, /* when the jump's target is not in the function */
};

/* A place in a file, by the cookie of its probe. Only user space writes to it. */
struct pkbpf_span_site {
	__u32 role;
	__u32 pair; /* of the places that belong together; from 1 */
	__u8 condition;
	__u8 has_loop;	      /* CALL: the function jumps to where it begins */
	__u8 nests;	      /* ENTER: one may begin where another one has not ended */
	__u8 value_is_record; /* `value` is the address of a record of NVTX, which has the name */
	__s32 stack_bytes;    /* CALL: from the stack pointer up to that of the function's start */
	/* ENTER, BEGIN: where the name is, NONE: `name` is it. RETURN: the jump's target */
	struct pkbpf_span_operand value;
	struct pkbpf_span_operand id;
	/* RETURN: from the function's start to the jump, and to its end. */
	__u64 from_start, function_size;
	union {
		char name[PKBPF_SPAN_NAME];
		/* Of a GPU library that is a run-time and nothing else: its code before the
		 * function, and all of it. */
		struct {
			__u64 before, bytes;
		} library;
	};
	__u64 hits; /* of all processes */
};

_Static_assert(sizeof(struct pkbpf_span_site) == 136, "map value");

struct pkbpf_span_row_key {
	__u64 name_hash;
	__u32 pid;
	__u32 parent;
	__u64 flags;
};

/* What stands for the words of a name in a key. */
static inline __attribute__((always_inline)) __u64 pkbpf_span_name_hash(const __u64 *words)
{
	__u64 hash = 0;

	/* The verifier of 5.10 follows no loops of a variable length. */
#if defined(__clang__)
#pragma unroll
#endif
	for (int i = 0; i < PKBPF_SPAN_NAME / 8; i++) {
		hash = (hash ^ words[i]) * 0x9E3779B97F4A7C15ULL;
		hash ^= hash >> 29;
	}
	return hash;
}

/* Regions that are known by a number of the program. */
struct pkbpf_span_id_key {
	__u64 id;
	__u32 pid;
	__u32 reserved;
};

struct pkbpf_span_id {
	__u64 start_ns;
	__u64 items;
	__u32 row;
	__u32 reserved;
};

/* Records: 96 to 111. */
enum {
	PKBPF_EVENT_REGION = 96,      /* struct pkbpf_event_region */
	PKBPF_EVENT_REGION_NAME = 97, /* struct pkbpf_event_region_name */
	PKBPF_EVENT_SLOW_REGION = 98, /* struct pkbpf_event_slow_region */
	PKBPF_EVENT_REGION_GAP = 99,  /* struct pkbpf_event_region_gap */
};

/* Numbers of regions are below this. */
#define PKBPF_REGIONS_MAX 65535

/* A region that samples and stacks may refer to from now on. */
/* In the interval that ends, regions of this name had no probes for so long, since these cost too
 * much. */
struct pkbpf_event_region_gap {
	struct pkbpf_event_header header;
	__u64 missed_ns;
	char name[PKBPF_SPAN_NAME];
};

struct pkbpf_event_region_name {
	struct pkbpf_event_header header;
	__u32 number;
	__u32 parent; /* number; PKBPF_NO_ROW: none */
	char name[PKBPF_SPAN_NAME];
};

_Static_assert(sizeof(struct pkbpf_event_region_name) == 16 + 8 + 64, "wire size");

/* One region, or call, that took long. Its parts may be less than its time: the rest is not known.
 */
struct pkbpf_event_slow_region {
	struct pkbpf_event_header header; /* flags: PKBPF_REGION_* */
	__u64 stack_id;			  /* where it was left; 0: unknown */
	__u64 start_ns, wall_ns;
	__u64 part_ns[PKBPF_WAIT_STATES];
	__u64 cgroup_id;
	__u32 pid, tid;
	char comm[PKBPF_COMM_SIZE];
	char name[PKBPF_SPAN_NAME];
};

_Static_assert(sizeof(struct pkbpf_event_slow_region) == 16 + 11 * 8 + 16 + 64, "wire size");

/* What has been added to one row since the record before. */
struct pkbpf_event_region {
	struct pkbpf_event_header header; /* flags: PKBPF_REGION_* */
	__u32 pid;
	__u32 depth; /* names of the path, at least 1 */
	__u64 count, lost_end, interleaved, unfinished;
	__u64 recursive, unmeasured;
	__u64 total_ns, self_ns, max_ns, items;
	__u64 part_ns[PKBPF_WAIT_STATES];
	__u64 minor_faults, major_faults;
	__u64 read_bytes, written_bytes;
	/* see struct pkbpf_span_row */
	__u64 rss_readings, rss_sum_kib, rss_max_kib;
	__s64 rss_growth_kib;
	__u64 limit_ns,
		over; /* of count, those that took longer than the limit; 0: there is none */
	__u32 n_buckets;
	__u32 reserved;
	/*
	 * Follow: struct pkbpf_histogram_bucket buckets[n_buckets], and the path: depth names of
	 * PKBPF_SPAN_NAME bytes each, outermost first, NUL-terminated and padded with NULs.
	 */
	struct pkbpf_histogram_bucket buckets[];
};

_Static_assert(sizeof(struct pkbpf_event_region) == 16 + 8 + 26 * 8 + 8, "wire size");

#endif
