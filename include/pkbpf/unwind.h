/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind tables: the builder packs them, the loader publishes them, the frame step reads them.
 *
 * A row is one u32: the offset in its 4 KiB text page (12 bits) and the id of its rule (20 bits).
 * Every text page starts with a row at offset 0, so that a lookup never leaves its page; a page's
 * rows are consecutive in one chunk. A rule describes how to find the caller of the code that it
 * covers.
 */
#ifndef PKBPF_UNWIND_H
#define PKBPF_UNWIND_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#include <pkbpf/event.h>
#include <pkbpf/v8.h>

#define PKBPF_TEXT_PAGE_SHIFT		12
#define PKBPF_TEXT_PAGE_SIZE		(1U << PKBPF_TEXT_PAGE_SHIFT)
#define PKBPF_ROW_RULE_BITS		20
#define PKBPF_ROW(offset_in_page, rule) (((__u32)(offset_in_page) << PKBPF_ROW_RULE_BITS) | (rule))
#define PKBPF_ROW_OFFSET(row)		((row) >> PKBPF_ROW_RULE_BITS)
#define PKBPF_ROW_RULE(row)		((row) & ((1U << PKBPF_ROW_RULE_BITS) - 1))

/* Rows of one value of the rows map: 1 MiB. A text page's rows never straddle two chunks. */
#define PKBPF_CHUNK_ROWS 262144U
/* A page may have at most 4096 rows (one per byte): the bound of the search loop is 13 probes. */
#define PKBPF_MAX_PAGE_ROWS 4096U

enum pkbpf_cfa_kind {
	/* no unwind info here: the unwinder verifies and follows the frame pointer */
	PKBPF_CFA_NONE = 0,
	PKBPF_CFA_SP = 1, /* sp + cfa_offset */
	PKBPF_CFA_FP = 2, /* fp + cfa_offset */
	/* register[aux] + cfa_offset */
	PKBPF_CFA_REGISTER = 3,
	PKBPF_CFA_SP_DEREF = 4, /* *(sp + cfa_offset) + 8 * aux */
	PKBPF_CFA_FP_DEREF = 5, /* *(fp + cfa_offset) + 8 * aux */
	PKBPF_CFA_PLT = 6,	/* sp + 8 + ((ip & 15) >= cfa_offset ? 8 : 0) */
	PKBPF_CFA_SIGNAL = 7,	/* registers are in a signal frame on the stack */
	/* outermost frame; with aux, the outermost frame is the one that this code called */
	PKBPF_CFA_END = 8,
	PKBPF_CFA_UNSUPPORTED = 9, /* unwind info that a rule cannot express */
	/* fp + cfa_offset, on the stack that this code left for another one */
	PKBPF_CFA_OTHER_STACK = 10,
	/* The instructions here, from which the rules are made, have not been read yet. */
	PKBPF_CFA_PENDING = 11,
	/* *(sp + cfa_offset + 8 * register[aux & 15]) + 8 * (aux >> 4) */
	PKBPF_CFA_SP_INDEXED = 12,
	PKBPF_CFA_NO_ROOM = 13, /* no room for the rule of this code */
	/* The code jumps into another frame, on any stack; fp and ra have no meaning. Leaf only. */
	/* stack pointer in register[aux], frame pointer in [fp_offset], address in [ra_offset] */
	PKBPF_CFA_JUMP = 14,
	/* the three are saved at register[aux] + cfa_offset, + fp_offset and + ra_offset */
	PKBPF_CFA_JUMP_SAVED = 15,
	PKBPF_CFA_GO_STACK = 16, /* Go's runtime left this stack for another one: see below */
	PKBPF_CFA_GO_CALL = 17,	 /* as GO_STACK, with the way back in words on the new stack */
	/* as PKBPF_CFA_SP; the caller was interrupted and made no call */
	PKBPF_CFA_SP_INTERRUPTED = 18,
	/* *(register[aux & 15] + cfa_offset) + 8 * (aux >> 4) */
	PKBPF_CFA_REGISTER_DEREF = 19,
};

enum pkbpf_fp_kind {
	PKBPF_FP_SAME = 0,	/* the caller's frame pointer is still in its register */
	PKBPF_FP_CFA = 1,	/* saved at cfa + fp_offset */
	PKBPF_FP_FP = 2,	/* saved at fp + fp_offset (fp before this step) */
	PKBPF_FP_UNDEFINED = 3, /* not recoverable: 0 in the caller */
};

enum pkbpf_ra_kind {
	PKBPF_RA_CFA = 0,      /* saved at cfa + ra_offset (x86-64: -8) */
	PKBPF_RA_REGISTER = 1, /* in register[ra_offset] */
	PKBPF_RA_LINK = 2,     /* arm64: still in the link register; leaf only */
	PKBPF_RA_FP = 3,       /* saved at fp + ra_offset (fp before this step) */
	/* Saved at a register + a distance, both in ra_offset: PKBPF_RA_AT(). Leaf only. The stack
	 * pointer counts as a register. */
	PKBPF_RA_AT_REGISTER = 4,
};

/* A DWARF register number, and a distance up to PKBPF_RA_AT_MAX_BYTES. Linux 5.10 leaves the step
 * no stack for another field. */
#define PKBPF_RA_AT(number, distance) ((__s16)((number) << 12 | (distance)))
#define PKBPF_RA_AT_NUMBER(ra_offset) ((__u16)(ra_offset) >> 12)
#define PKBPF_RA_AT_MAX_BYTES	      0xfff

/*
 * PKBPF_CFA_GO_STACK. The thread has its g at cfa_offset from its thread pointer (with fp: the word
 * at ELF address cfa_offset holds that distance). g has its m at 8 * aux, and m its goroutine at
 * ra_offset. The goroutine has its saved stack pointer at go_offset, followed by the code's
 * address.
 *
 * PKBPF_CFA_GO_CALL. The g is in [sp + fp_offset], and the limit at offset aux of that g. CFA =
 * limit - [sp + go_offset] + cfa_offset. Without a limit (aux is 0) or without a g: CFA = [sp +
 * go_offset] + cfa_offset.
 */

/* ra of PKBPF_CFA_GO_STACK */
enum pkbpf_go_stack {
	PKBPF_GO_CALLER = 0, /* systemstack: CFA = the goroutine's stack pointer + fp_offset */
	/* morestack: the frame itself is where the goroutine stopped */
	PKBPF_GO_STOPPED = 1,
	PKBPF_GO_CALLED_BACK = 2, /* cgocallback: CFA = g0's stack pointer + fp_offset */
};

/* Where code has saved a callee-saved register. The lower two bits are the kind; the bits above are
 * the distance in words. The unwinder follows these only after it met a CFA that is counted from
 * such a register; it then starts again. */
enum pkbpf_saved_kind {
	PKBPF_SAVED_NOT = 0, /* still in its register; the whole value is 0 */
	PKBPF_SAVED_CFA = 1, /* at cfa + distance */
	PKBPF_SAVED_FP = 2,  /* at fp + distance (fp before this step) */
	PKBPF_SAVED_UNKNOWN = 3,
};

#define PKBPF_SAVED_KIND(saved)	  ((__u32)(saved)&3)
#define PKBPF_SAVED_OFFSET(saved) ((__s64)((saved) >> 2) * 8)
#define PKBPF_SAVED(kind, offset) ((__s16)((offset) / 8 * 4 | (kind)))
#define PKBPF_SAVED_MAX_BYTES	  65528 /* in either direction */
/* rbx, r12, r13, r14, r15 */
#define PKBPF_KEPT_REGISTERS 5
#define PKBPF_ALL_SAVED_UNKNOWN                                                                    \
	{                                                                                          \
		PKBPF_SAVED_UNKNOWN, PKBPF_SAVED_UNKNOWN, PKBPF_SAVED_UNKNOWN,                     \
			PKBPF_SAVED_UNKNOWN, PKBPF_SAVED_UNKNOWN                                   \
	}

struct pkbpf_unwind_rule {
	__s32 cfa_offset;
	__s32 fp_offset;
	__s16 ra_offset;
	__u8 cfa; /* enum pkbpf_cfa_kind */
	__u8 fp;  /* enum pkbpf_fp_kind */
	__u8 ra;  /* enum pkbpf_ra_kind */
	/* DWARF register number of the CFA; for the _DEREF kinds a multiplier of 8; see also
	 * PKBPF_CFA_SP_INDEXED */
	__u8 aux;
	__s16 go_offset; /* see PKBPF_CFA_GO_STACK */
	/* Every step reads the fields up to here. */
	__s16 saved[PKBPF_KEPT_REGISTERS]; /* PKBPF_SAVED() */
	__u16 reserved2[3];
};

#define PKBPF_UNWIND_RULE_HEAD_BYTES 16

_Static_assert(sizeof(struct pkbpf_unwind_rule) == 32, "rule size");

#define PKBPF_UNWIND_MAX_RULES 65536U

/* One 4 KiB page of text of one file. */
struct pkbpf_unwind_page {
	__u32 first; /* global row index: chunk = first / PKBPF_CHUNK_ROWS */
	__u16 count; /* 0: no rows, only frame pointers */
	__u16 flags;
};

enum {
	PKBPF_FILE_READY = 1,	 /* unset: table not built yet, or evicted */
	PKBPF_FILE_REFUSED = 64, /* its unwind info is too large or damaged: no rows */
};

struct pkbpf_unwind_file {
	__u64 text_start; /* lowest ELF address covered, page-aligned */
	__u32 first_page; /* index into pages */
	__u32 page_count;
	__u32 flags;
	/* epoch of the last use; BPF writes it when it enters a mapping of this file */
	__u32 last_used;
	/* unique among all tables ever published: the pages of a new table may lie where those of
	 * an old one were */
	__u32 edition;
	__u32 reserved;
};

/*
 * Cache of the rules found last: a frame met again costs one load. A search instead reads memory
 * that has left the processor's caches since the last sample. An entry holds a place in a table and
 * the number of its rule. The place consists of edition, page and offset in the page: 56 bits,
 * multiplied by an odd number, which is reversible. The upper bits of the product are the number of
 * the entry's set; the entry keeps the lower bits. No two places share a value.
 *
 * A set has two entries. A place that was searched for becomes the second entry, and the first when
 * it is met again. The leaves of interpreters hardly repeat: they replace each other, and not the
 * return addresses that every stack has.
 *
 * All sets together stay well below 32 KiB: up to that size the kernel maps an array with large
 * pages. Beyond it, each 4 KiB page that a sample touches costs one more address translation.
 */
#define PKBPF_RECENT_SET_BITS	10
#define PKBPF_RECENT_PLACE_BITS 56
#define PKBPF_RECENT_KEPT_BITS	(PKBPF_RECENT_PLACE_BITS - PKBPF_RECENT_SET_BITS)
#define PKBPF_RECENT_RULE_BITS	16	     /* PKBPF_UNWIND_MAX_RULES */
#define PKBPF_RECENT_USED	(1ULL << 63) /* a used entry is never 0 */

_Static_assert(PKBPF_UNWIND_MAX_RULES == 1U << PKBPF_RECENT_RULE_BITS, "bits of a rule's number");
_Static_assert(PKBPF_RECENT_KEPT_BITS + PKBPF_RECENT_RULE_BITS <= 63,
	       "a place and its rule below the flag");

struct pkbpf_recent_set {
	__u64 first, second;
};

static inline __u64 pkbpf_recent_place(__u32 edition, __u32 page, __u32 offset)
{
	__u64 place = (__u64)edition << 32 | (__u64)page << PKBPF_TEXT_PAGE_SHIFT | offset;

	return place * 0x9e3779b97f4a7c15ULL & ((1ULL << PKBPF_RECENT_PLACE_BITS) - 1);
}

static inline __u32 pkbpf_recent_set_number(__u64 place)
{
	return (__u32)(place >> PKBPF_RECENT_KEPT_BITS);
}

static inline __u64 pkbpf_recent_value(__u64 place, __u32 rule)
{
	return PKBPF_RECENT_USED |
	       (place & ((1ULL << PKBPF_RECENT_KEPT_BITS) - 1)) << PKBPF_RECENT_RULE_BITS | rule;
}

/* Returns the rule's number if the entry is for this place. Otherwise, or if the entry is empty, it
 * returns PKBPF_UNWIND_MAX_RULES. */
static inline __u32 pkbpf_recent_rule(__u64 entry, __u64 place)
{
	__u32 rule = entry & (PKBPF_UNWIND_MAX_RULES - 1);

	return entry == pkbpf_recent_value(place, rule) ? rule : PKBPF_UNWIND_MAX_RULES;
}

enum {
	PKBPF_MAPPING_ANONYMOUS = 1, /* no file, or no executable format: generated code */
	PKBPF_MAPPING_NO_TABLE = 2,
	PKBPF_MAPPING_PENDING = 4,
	PKBPF_MAPPING_NO_ROOM = 8,  /* a file beyond the maximum number of files */
	PKBPF_MAPPING_NO_FILE = 16, /* with NO_TABLE: the file cannot be opened, now or ever */
	PKBPF_MAPPING_VSYSCALL = 32,
	PKBPF_MAPPING_REFUSED = PKBPF_FILE_REFUSED, /* of its file; in BPF only in a state */
};

/* An executable mapping of a process. ELF address = address - bias. */
struct pkbpf_unwind_mapping {
	__u64 start;
	__u64 end;
	__u64 bias;
	__u32 file; /* index into files */
	__u32 flags;
};

/* Where the Python interpreter of a process keeps its threads. */
#define PKBPF_PYTHON_SLOTS	2
#define PKBPF_PYTHON_LOOP_PARTS 2

struct pkbpf_python_process {
	__u64 runtime; /* address of _PyRuntime */
	/* Places from the thread pointer that may hold the address of the thread's state; 0: none.
	 * What they lead to is checked. */
	__s32 slots[PKBPF_PYTHON_SLOTS];
	__u32 layout; /* 1 + index of the layout; 0: no Python */
	__u32 reserved;
	/* The interpreter's loop, where each activation runs one frame and has nothing of it on the
	 * C stack (3.8, 3.9): the parts of its code. */
	struct {
		__u64 start, size;
	} loop[PKBPF_PYTHON_LOOP_PARTS];
	/* Ruby in its place: the first slot leads to the execution context, and the second part of
	 * the loop is where its activations return to after an exception. */
	struct {
		__u64 symbols;	   /* address of the names of methods by number */
		__u64 path_id;	   /* of the variable with the name of a class */
		__u64 attached_id; /* of the one with the object of a singleton class */
	} ruby;
};

/* Whether a word of a native stack is in the interpreter's loop. Return addresses are behind
 * their call. */
static inline int pkbpf_python_in_loop(const struct pkbpf_python_process *python, __u64 word)
{
	__u64 before = pkbpf_address(word) - 1;

	return before - python->loop[0].start < python->loop[0].size ||
	       before - python->loop[1].start < python->loop[1].size;
}

/* A process: an extent of sorted mappings. */
struct pkbpf_unwind_process {
	__u32 first_mapping;
	__u32 mapping_count;
	__u64 exec_ns;	/* CLOCK_MONOTONIC when its image was started; 0: unknown */
	__u64 start_ns; /* as in struct pkbpf_target */
	struct pkbpf_python_process python;
	struct pkbpf_v8_process v8;
};

/* Mappings are announced before the exec that makes them. An entry with an image younger than this
 * at the end of exec may therefore belong to the new image. */
#define PKBPF_UNWIND_EXEC_WINDOW_NS 50000000ULL

/* end of a request: Python threads were found in the interpreter's list only. The slots that lead
 * to them are to be looked for. */
#define PKBPF_MISS_PYTHON 0x100

/* A request of the unwinder: user space is to read the process again. */
struct pkbpf_unwind_miss {
	__u32 pid;
	/* enum pkbpf_stack_end: NO_PROCESS, NO_MAPPING, NO_TABLE, NO_FILE, NO_PROGRESS, NO_ROOM or
	 * FAULT_FP; or of a complete stack: it has frames of generated code found by frame
	 * pointers. */
	__u32 end;
	__u64 address;
	__u64 time_ns;
};

_Static_assert(sizeof(struct pkbpf_unwind_page) == 8, "page size");
_Static_assert(sizeof(struct pkbpf_unwind_file) == 32, "file size");
_Static_assert(sizeof(struct pkbpf_unwind_mapping) == 32, "mapping size");
_Static_assert(sizeof(struct pkbpf_unwind_process) == 128, "process size");
_Static_assert(sizeof(struct pkbpf_unwind_miss) == 24, "miss size");

#endif
