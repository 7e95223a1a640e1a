/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Python frames (CPython 3.8 and newer): where the interpreter keeps its structures, the words of
 * Python frames in a stack, and the record that names a code object.
 */
#ifndef PKBPF_PYTHON_H
#define PKBPF_PYTHON_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#include <pkbpf/event.h>
#include <pkbpf/v8.h>

/* How the frames of a thread are linked, and what of them lies on the C stack. */
enum pkbpf_python_chain {
	PKBPF_PYTHON_NO_CHAIN = 0,
	/* 3.8, 3.9: frame objects; nothing lies on the C stack */
	PKBPF_PYTHON_OBJECTS = 1,
	/* 3.10: frame objects; each has its CFrame on the C stack */
	PKBPF_PYTHON_OBJECTS_CFRAME = 2,
	/* 3.11: a run of frames ends with is_entry, and has its CFrame on the C stack */
	PKBPF_PYTHON_CFRAME = 3,
	/* 3.12: the thread state leads to the first frame by a CFrame; a run ends with an entry
	 * frame, which lies on the C stack */
	PKBPF_PYTHON_CFRAME_SHIM = 4,
	/* 3.13 and newer: the same without a CFrame */
	PKBPF_PYTHON_SHIM = 5,
};

enum pkbpf_python_instruction {
	PKBPF_PYTHON_BYTES = 0,	  /* int, in bytes from the first instruction (3.8, 3.9) */
	PKBPF_PYTHON_UNITS = 1,	  /* int, in units of two bytes (3.10) */
	PKBPF_PYTHON_ADDRESS = 2, /* address of the instruction (3.11 and newer) */
};

/* Offsets in bytes. 0: this version does not have the field, unless 0 is its offset in all versions
 * that have it. */
struct pkbpf_python_layout {
	__u8 minor; /* of 3.minor; 0: unused */
	__u8 free_threaded;
	__u8 chain;	  /* enum pkbpf_python_chain */
	__u8 instruction; /* enum pkbpf_python_instruction */
	/* _PyRuntimeState */
	__u16 runtime_interpreters_head, runtime_tstate_current;
	/* PyInterpreterState */
	__u16 interpreter_next, interpreter_threads;
	__u16 interpreter_code_generation; /* 3.14 and newer: number of code objects that died */
	/* PyThreadState; frame: the frame, the CFrame (3.11, 3.12) */
	__u16 thread_next, thread_interpreter, thread_frame, thread_id;
	__u16 thread_cframe;	 /* 3.10 */
	__u16 thread_base_frame; /* 3.15: the sentinel that ends the chain */
	__u16 cframe_current, cframe_previous;
	/* frame */
	__u16 frame_previous, frame_code, frame_instruction, frame_owner, frame_is_entry;
	__u16 frame_tlbc; /* free-threaded 3.14 and newer */
	__u16 frame_size;
	/* PyCodeObject; first instruction: in the object (3.11 and newer), otherwise unused */
	__u16 code_size, code_first_instruction, code_first_line;
	__u16 code_version; /* 3.12 and newer */
	__u16 code_file, code_name;
	__u16 code_qualified_name; /* 3.11 and newer */
	__u16 code_lines;	   /* bytes object: lnotab (3.8, 3.9), line table */
	__u16 code_tlbc;	   /* free-threaded 3.14 and newer */
	/* str: state bits are kind (at string_kind_bit, 3 bits), compact, ASCII */
	__u16 string_length, string_state, string_hash, string_ascii_data, string_data;
	__u16 string_kind_bit;
	/* bytes */
	__u16 bytes_size, bytes_data;
	__u16 reserved[25];
};

_Static_assert(sizeof(struct pkbpf_python_layout) == 128, "layout size");

/*
 * A Python frame is one word of a user stack, behind the word of the native frame that runs it.
 * No address looks like it: bit 63 is set, bit 62 is not, and no kernel address is in a user
 * stack.
 */
#define PKBPF_PYTHON_WORD	       (2ULL << 62)
#define PKBPF_PYTHON_INSTRUCTION_SHIFT 44
#define PKBPF_PYTHON_NO_INSTRUCTION    0xffffU /* unknown, or beyond 16 bits */
#define PKBPF_PYTHON_KIND_SHIFT	       60
enum pkbpf_python_word_kind {
	PKBPF_PYTHON_FRAME = 0, /* instruction, in units of two bytes; address of code / 16 */
	/* the native part of the stack ends here; the Python frames behind it are its callers. As
	 * the last word of a raw record: there are more Python frames, and the lower bits say why
	 * they are missing (enum pkbpf_unwind_end) */
	PKBPF_PYTHON_CUT = 1,
	/* Not in stacks, but in raw records, where Python frames are not merged yet: where the next
	 * run of frames is anchored on the C stack, as an address; 0: nowhere. */
	PKBPF_PYTHON_ANCHOR = 2,
};

/* Of an anchor: the frames from here on are those of the thread in another interpreter. */
#define PKBPF_PYTHON_OTHER_CHAIN (1ULL << 59)

/* The fourth kind is that of pkbpf/hotspot.h; pkbpf/v8.h shares the second one. */
static inline int pkbpf_is_python(__u64 word)
{
	return word >> 62 == 2 && word >> PKBPF_PYTHON_KIND_SHIFT != 0xb && !pkbpf_is_v8(word);
}

static inline __u32 pkbpf_python_kind(__u64 word)
{
	return (word >> PKBPF_PYTHON_KIND_SHIFT) & 3;
}

static inline __u64 pkbpf_python_code_address(__u64 word)
{
	return (word & ((1ULL << PKBPF_PYTHON_INSTRUCTION_SHIFT) - 1)) << 4;
}

static inline __u32 pkbpf_python_instruction(__u64 word)
{
	return (word >> PKBPF_PYTHON_INSTRUCTION_SHIFT) & 0xffff;
}

static inline __u64 pkbpf_python_word(__u64 code, __u32 instruction)
{
	if (instruction > PKBPF_PYTHON_NO_INSTRUCTION)
		instruction = PKBPF_PYTHON_NO_INSTRUCTION;
	return PKBPF_PYTHON_WORD | (__u64)instruction << PKBPF_PYTHON_INSTRUCTION_SHIFT |
	       ((code >> 4) & ((1ULL << PKBPF_PYTHON_INSTRUCTION_SHIFT) - 1));
}

static inline __u64 pkbpf_python_anchor_word(__u64 address)
{
	return PKBPF_PYTHON_WORD | (__u64)PKBPF_PYTHON_ANCHOR << PKBPF_PYTHON_KIND_SHIFT |
	       (address & (PKBPF_PYTHON_OTHER_CHAIN - 1));
}

static inline __u64 pkbpf_python_anchor(__u64 word)
{
	return word & (PKBPF_PYTHON_OTHER_CHAIN - 1);
}

/* A frame that lies farther from an anchor does not enclose it: the stacks differ. */
#define PKBPF_PYTHON_REACH_BYTES (8ULL << 20)

/* Whether the native frame that ends at sp, or one below it, encloses the anchor. Frames cover a
 * stack without a gap, from the leaf's stack pointer on. */
static inline int pkbpf_python_encloses(__u64 sp, __u64 anchor)
{
	return sp - 1 - anchor < PKBPF_PYTHON_REACH_BYTES;
}

#define PKBPF_PYTHON_CUT_WORD                                                                      \
	(PKBPF_PYTHON_WORD | (__u64)PKBPF_PYTHON_CUT << PKBPF_PYTHON_KIND_SHIFT)

/* A reason that no cut has is the commonest one: the stack is truncated, whatever the word says. */
static inline __u32 pkbpf_python_cut_reason(__u64 word)
{
	__u32 reason = word & 0xff;

	return reason == PKBPF_END_FAULT_RA ? reason : PKBPF_END_MAX_DEPTH;
}

#define PKBPF_PYTHON_STRING_BYTES 256
/* Generated functions have long line tables. */
#define PKBPF_PYTHON_LINE_BYTES 65536
/* All but one in 250 of them fit. */
#define PKBPF_PYTHON_SHORT_LINE_BYTES 2048

/* A string of the target: length characters of width bytes (1: Latin-1, 2: UCS-2, 4: UCS-4). */
struct pkbpf_python_string {
	__u64 address; /* of the string object */
	__u32 length;  /* of the string, in characters */
	__u16 bytes;   /* in text[] */
	__u8 width;    /* 0: not read */
	__u8 reserved;
	char text[PKBPF_PYTHON_STRING_BYTES];
};

/*
 * PKBPF_EVENT_PYTHON_CODE: from now on, frames of this process with this code address are in this
 * function. It comes before the first stack that has such a frame.
 */
struct pkbpf_event_python_code {
	struct pkbpf_event_header header;
	__u32 pid;
	__u32 first_line;
	__u64 code; /* address of the code object, a multiple of 16 */
	/* changes when another code object takes the address (version, or pointers and hash) */
	__u64 fingerprint;
	__u8 minor; /* 3.minor: form of the line table */
	__u8 free_threaded;
	__u16 reserved;
	__u32 line_bytes;		 /* in lines[], at most PKBPF_PYTHON_LINE_BYTES */
	__u64 line_size;		 /* of the whole table */
	__u64 line_address;		 /* of the bytes object */
	struct pkbpf_python_string name; /* qualified (3.11 and newer); the first bytes */
	struct pkbpf_python_string file; /* co_filename; the last bytes */
	__u8 lines[];			 /* line_bytes, padded to a multiple of 8 */
};

_Static_assert(sizeof(struct pkbpf_python_string) == 16 + PKBPF_PYTHON_STRING_BYTES, "wire size");
_Static_assert(sizeof(struct pkbpf_event_python_code) == 16 + 56 - 8 + 2 * 272, "wire size");

#endif
