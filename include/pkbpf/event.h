/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The record stream: written by BPF programs and by the procfs snapshot, stored in recordings, read
 * by the decoder. Byte order is that of the recording machine; sizes are multiples of 8.
 *
 * Numbers are part of the recording format: never reuse or renumber one.
 */
#ifndef PKBPF_EVENT_H
#define PKBPF_EVENT_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#include <pkbpf/profile_kind.h>

#define PKBPF_COMM_SIZE 16

/* Hash of a comm: 16 bytes, padded with zeros, as two words. */
static inline __u64 pkbpf_comm_hash(__u64 first, __u64 second)
{
	__u64 hash = (first * 0x9E3779B97F4A7C15ULL ^ second) * 0xD6E8FEB86659FD93ULL;

	return hash ^ hash >> 32;
}

/*
 * Marks the PC of a frame interrupted by a signal: an exact instruction address, not a return
 * address. The first address of a user stack is exact without a mark. No architecture has user code
 * above 2^57.
 */
#define PKBPF_INTERRUPTED (1ULL << 62)

static inline int pkbpf_is_interrupted(__u64 ip)
{
	return ip >> 57 == PKBPF_INTERRUPTED >> 57;
}

/* Returns the address without the mark. */
static inline __u64 pkbpf_address(__u64 ip)
{
	return pkbpf_is_interrupted(ip) ? ip & ~PKBPF_INTERRUPTED : ip;
}

/* Maximum frames per record; deeper stacks end in PKBPF_END_MAX_DEPTH. */
#define PKBPF_MAX_KERNEL_FRAMES 127
#define PKBPF_MAX_USER_FRAMES	1024

enum pkbpf_event_kind {
	PKBPF_EVENT_SAMPLE = 1, /* struct pkbpf_event_sample */
	PKBPF_EVENT_FORK = 2,	/* struct pkbpf_event_task: parent_tid forked tid */
	/* struct pkbpf_event_task: new comm; flag EXEC: a new program image */
	PKBPF_EVENT_COMM = 3,
	PKBPF_EVENT_EXIT = 4,	 /* struct pkbpf_event_task: thread tid exited */
	PKBPF_EVENT_MAPPING = 5, /* struct pkbpf_event_mapping */
	PKBPF_EVENT_LOST = 6,	 /* struct pkbpf_event_lost */
	PKBPF_EVENT_RAW_STACK =
		7, /* struct pkbpf_event_raw_stack: stack memory, unwound in user space */
	PKBPF_EVENT_STACK = 8, /* struct pkbpf_event_stack: frames behind a stack id, sent once */
	/* Number 9 was TOTALS before the record had waker_id and variance. */
	/* struct pkbpf_event_totals: sums of one key from BPF maps */
	PKBPF_EVENT_TOTALS = 10,
	/* struct pkbpf_event_cut: one slice of the capture ends and the next one begins */
	PKBPF_EVENT_CUT = 11,
	PKBPF_EVENT_PYTHON_CODE = 12, /* struct pkbpf_event_python_code (python.h) */
	PKBPF_EVENT_V8_FUNCTION = 13, /* struct pkbpf_event_v8_function (v8.h) */
	PKBPF_EVENT_RUBY_CODE = 14,   /* struct pkbpf_event_ruby_code (ruby.h) */
	/* 16..31: off-CPU, 32..47: block I/O (blockio.h), 48..63: faults and resource usage
	   (resource.h), 64..79: memory (alloc.h), 80..95: network (network.h) */
};

/* flags of PKBPF_EVENT_COMM */
#define PKBPF_COMM_EXEC 1
/* flags of FORK, COMM and MAPPING: read from procfs at the start, not an event */
#define PKBPF_FROM_SNAPSHOT 0x8000

/* Why unwinding of a user stack ended. Values up to PKBPF_END_LAST_COMPLETE: a complete stack. */
enum pkbpf_stack_end {
	PKBPF_END_NONE = 0, /* no user stack: kernel thread, or not requested */
	PKBPF_END_ROOT = 1, /* outermost frame by the table (return address undefined) */
	/* return address 0: thread start, but no unwind info says so */
	PKBPF_END_ZERO_RA = 2,
	PKBPF_END_FP_ROOT = 3, /* frame pointer 0 */
	PKBPF_END_LAST_COMPLETE = PKBPF_END_FP_ROOT,
	/* unwound by the kernel's frame-pointer helper, which does not report its end */
	PKBPF_END_UNVERIFIED = 4,
	PKBPF_END_MAX_DEPTH = 5,  /* more frames than the maximum */
	PKBPF_END_NO_PROCESS = 6, /* the unwinder does not know the process yet */
	PKBPF_END_NO_MAPPING = 7, /* address in no known executable mapping */
	/* the table of the mapping is not built yet, or not for this address */
	PKBPF_END_NO_TABLE = 8,
	PKBPF_END_NO_RULE = 9,	    /* code without unwind info and no usable frame pointer */
	PKBPF_END_UNSUPPORTED = 10, /* unwind info the row format cannot express */
	PKBPF_END_NO_PROGRESS = 11, /* stack pointer did not move up */
	/* stack memory not readable (not resident, or beyond the end of the stack) */
	PKBPF_END_FAULT_RA = 12,
	/* frame-pointer chain leaves the stack (JIT without frame pointers) */
	PKBPF_END_FAULT_FP = 13,
	PKBPF_END_EXEC = 14,	     /* in execve: no user stack exists */
	PKBPF_END_COMPAT = 15,	     /* 32-bit task on a 64-bit kernel */
	PKBPF_END_NO_REGS = 16,	     /* user registers not available */
	PKBPF_END_FAULT_HELPER = 17, /* the kernel's stack helper failed */
	/* not from the unwinder: the profile kept only the outer frames of a rare stack */
	PKBPF_END_SHORTENED = 18,
	/* the copy of the stack was too short */
	PKBPF_END_COPY_CUT = 19,
	/* a blocked thread resumed or exited before its stack memory was read */
	PKBPF_END_RAN_ON = 20,
	PKBPF_END_NO_ROOM = 21, /* no room for the unwind table of this code */
	/* The innermost function has return address 0: it is the first of its stack, or the unwind
	 * info is wrong. */
	PKBPF_END_NOWHERE = 22,
	/* not from the unwinder: page faults that the kernel counts without a perf event */
	PKBPF_END_UNANNOUNCED = 23,
	/* the file of this code cannot be opened, and no frame pointer is usable */
	PKBPF_END_NO_FILE = 24,
	/* The code has switched stacks, and the place where it left the other stack is unknown. */
	PKBPF_END_OTHER_STACK = 25,
	/* not from the unwinder: the report's class for complete stacks with frames found by
	 * unverified frame pointers, or with a root that no unwind info marks */
	PKBPF_END_GUESSED = 26,
	/* the unwind info of this code is too large or damaged, and no frame pointer is usable */
	PKBPF_END_REFUSED = 27,
	/* not from the unwinder: the profile kept no frame of some of the rarest stacks */
	PKBPF_END_OTHERS = 28,
	PKBPF_END_COUNT,
};

struct pkbpf_event_header {
	__u32 size;    /* of the record with its header, multiple of 8 */
	__u16 kind;    /* enum pkbpf_event_kind */
	__u16 flags;   /* meaning per kind */
	__u64 time_ns; /* CLOCK_MONOTONIC */
};

/* Flag of SAMPLE, RAW_STACK and STACK: the first user ip follows a system call instruction, like a
 * return address; without it the ip is exact. */
#define PKBPF_SAMPLE_AFTER_SYSCALL 1
/* Flags of RAW_STACK. CHECK: the record is no event; its sample was sent as well. ips[] has the
 * frames unwound in the kernel, to be compared with those of the copy; n_user is not 0. */
#define PKBPF_RAW_CHECK 4
/* The stack continues behind the copy. */
#define PKBPF_RAW_CUT 8
/* The record is no event: its unwound frames are the stack stack_id, as in PKBPF_EVENT_STACK. */
#define PKBPF_RAW_NUMBERED 16
/* The words where a check has user frames are the Python part of the stack, not merged yet: anchors
 * and frames, see python.h. */
#define PKBPF_RAW_PYTHON       32
#define PKBPF_MAX_CHECK_FRAMES 127 /* also a bit mask */
#define PKBPF_RAW_PAGE_BYTES   4096
/* pages that the bit mask holes covers, from the page of stack_start */
#define PKBPF_RAW_SPAN_PAGES 64

struct pkbpf_event_sample {
	struct pkbpf_event_header header;
	__u32 pid; /* thread group */
	__u32 tid;
	__u32 cpu;
	__u8 profile_kind; /* enum pkbpf_profile_kind */
	__u8 user_end;	   /* enum pkbpf_stack_end */
	__u8 state;	   /* off-CPU: enum pkbpf_wait_state; block I/O, faults: per kind; else 0 */
	__u8 reserved;
	__u16 n_kernel;	 /* words of ips[] that are kernel frames, leaf first; they come first */
	__u16 n_user;	 /* words of ips[] that are user frames, leaf first */
	__u16 n_guessed; /* user frames found by an unverified frame pointer */
	__u16 region;	 /* 1 + number of the thread's region (span.h); 0: none */
	__u64 cgroup_id;
	__u64 count; /* events that this record stands for; 1 for a single sample */
	/* sum of what is measured: cpu: samples; off-CPU, block I/O: ns; faults: faults */
	__u64 weight;
	char comm[PKBPF_COMM_SIZE]; /* of the thread */
	__u64 ips[];		    /* n_kernel + n_user words */
};

struct pkbpf_event_task {
	struct pkbpf_event_header header;
	__u32 pid;
	__u32 tid;
	__u32 parent_pid;	    /* FORK only */
	__u32 parent_tid;	    /* FORK only */
	char comm[PKBPF_COMM_SIZE]; /* COMM only; FORK inherits the parent's */
};

#define PKBPF_PROT_EXEC 4

struct pkbpf_event_mapping {
	struct pkbpf_event_header header;
	__u32 pid;
	__u32 tid;
	__u64 start;
	__u64 end; /* exclusive */
	__u64 file_offset;
	__u64 inode; /* 0: no file behind it */
	__u32 device_major;
	__u32 device_minor;
	__u32 inode_generation; /* 0 when not known */
	__u32 protection;
	/* NUL-terminated, padded with NULs to a multiple of 8; as the kernel shows it */
	char path[];
};

struct pkbpf_event_lost {
	struct pkbpf_event_header header;
	__u32 cause; /* enum pkbpf_counter (counter.h) */
	__u32 reserved;
	__u64 count;
};

/* User registers the frame step starts from, x86-64 numbering of DWARF (0 rax, 1 rdx, 2 rcx, 3 rbx,
 * 4 rsi, 5 rdi, 6 rbp, 7 rsp, 8..15) with 16 = ip; arm64: 0..30, 31 = sp, 32 = ip. */
#define PKBPF_REGS 33
/* Words between the frames of a raw stack and its stack memory. */
#define PKBPF_RAW_HEAD_WORDS (PKBPF_REGS + 3)

struct pkbpf_event_raw_stack {
	/* kind RAW_STACK; n_user is 0 except in checks and with Python frames; user_end says why
	 * the stack is raw */
	struct pkbpf_event_sample sample;
	/*
	 * PKBPF_RAW_HEAD_WORDS words follow sample.ips[n_kernel + n_user]: __u64 regs[PKBPF_REGS],
	 * stack_start, stack_size, holes. With flag NUMBERED one more word follows, __u64 stack_id.
	 * Then come stack_size bytes (a multiple of 8), read from address stack_start, which is
	 * near the stack pointer. Bit N of holes: the page N pages after that of stack_start was
	 * not readable, and the bytes lack it.
	 */
};

struct pkbpf_event_stack {
	struct pkbpf_event_header header;
	__u64 stack_id;
	__u32 pid;
	__u8 user_end;
	__u8 reserved;
	__u16 n_guessed;
	__u16 n_kernel;
	__u16 n_user;
	__u32 region; /* as in a sample */
	__u64 ips[];
};

/* flags of TOTALS */
#define PKBPF_TOTALS_ESTIMATED 1 /* scaled up from a sample of the events */
/* truncated at an edge of the interval: the wait or request began before it or continues after
 * it */
#define PKBPF_TOTALS_OPEN 2

struct pkbpf_histogram_bucket {
	__u32 index; /* below PKBPF_HISTOGRAM_BUCKETS, ascending */
	__u32 count; /* values above 2^32 - 1 are split over several records */
};

/* Sums added up in the kernel since the previous record of the same key: increments, not running
 * totals. max is the largest single value of the increment. The key is all fields before count. */
struct pkbpf_event_totals {
	struct pkbpf_event_header header;
	__u64 stack_id; /* of an earlier PKBPF_EVENT_STACK; 0: no stack */
	__u64 waker_id; /* off-CPU: of the stack that ended these waits; 0: unknown */
	__u32 pid;
	__u32 tid; /* 0: the process's threads together */
	__u64 cgroup_id;
	/* block I/O: major << 20 | minor; network, and off-CPU if it is known: number of the peer;
	 * else 0 */
	__u32 device;
	__u8 profile_kind; /* enum pkbpf_profile_kind */
	__u8 state;	   /* off-CPU: wait state; block I/O: operation; faults: minor or major */
	__u8 measure;	   /* 0: the kind's weight; others per kind (block I/O 1: queue time) */
	__u8 reserved;
	char comm[PKBPF_COMM_SIZE]; /* of the thread, when the key was new */
	__u64 count;
	__u64 total; /* sum of the measure: ns, faults */
	__u64 max;
	__u64 bytes;	/* block I/O, network; else 0 */
	__u64 variance; /* of count, when count is an estimate with a known variance; else 0 */
	__u32 n_buckets;
	__u32 reserved2;
	struct pkbpf_histogram_bucket buckets[];
};

/* header.time_ns is the moment of the cut; it belongs to the slice that begins. */
struct pkbpf_event_cut {
	struct pkbpf_event_header header;
	__u64 sequence; /* of the slice that begins; the first one of a capture is 0 */
	__s64 unix_ns;	/* the same moment, CLOCK_REALTIME */
};

_Static_assert(sizeof(struct pkbpf_event_cut) == 16 + 16, "wire size");
_Static_assert(sizeof(struct pkbpf_event_totals) == 16 + 40 + 16 + 48, "wire size");
_Static_assert(sizeof(struct pkbpf_event_header) == 16, "wire size");
_Static_assert(sizeof(struct pkbpf_event_sample) == 16 + 24 + 24 + 16, "wire size");
_Static_assert(sizeof(struct pkbpf_event_task) == 16 + 16 + 16, "wire size");
_Static_assert(sizeof(struct pkbpf_event_mapping) == 16 + 56, "wire size");
_Static_assert(sizeof(struct pkbpf_event_lost) == 16 + 16, "wire size");
_Static_assert(sizeof(struct pkbpf_event_stack) == 16 + 24, "wire size");

#endif
