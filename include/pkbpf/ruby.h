/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ruby frames (CRuby): where the interpreter keeps its structures, and the record that names a
 * method. Their words in stacks are those of Python frames (pkbpf/python.h): a process has one
 * interpreter.
 */
#ifndef PKBPF_RUBY_H
#define PKBPF_RUBY_H

#include <pkbpf/python.h>

/* Offsets in bytes. In the kernel side's map it stands in the place of a Python layout: `chain` is
 * at the same offset, and has a value that no Python layout has. */
struct pkbpf_ruby_layout {
	__u8 minor; /* of 3.minor */
	__u8 reserved;
	__u8 chain; /* PKBPF_RUBY_CONTROL_FRAMES */
	__u8 reserved2;
	/* rb_control_frame_t: only its size differs */
	__u16 frame_size;
	/* struct rb_vm_tag; receiver: where a longjmp continues */
	__u16 tag_receiver, tag_previous;
	/* rb_iseq_t, struct rb_iseq_constant_body */
	__u16 iseq_body;
	__u16 body_path, body_label, body_first_line;
	__u16 body_lines, body_positions, body_line_count, body_index;
	/* rb_callable_method_entry_t, rb_method_definition_t */
	__u16 method_definition, method_owner, definition_id;
	/* struct RClass: rb_classext_t; there: a table of instance variables */
	__u16 class_extension, extension_variables;
	/* rb_vm_t, rb_thread_t */
	__u16 vm_main_thread, thread_context, thread_id;
	/* rb_symbols_t */
	__u16 symbols_ids;
	__u16 reserved3[42];
};

_Static_assert(sizeof(struct pkbpf_ruby_layout) == sizeof(struct pkbpf_python_layout),
	       "they share a map");
_Static_assert(__builtin_offsetof(struct pkbpf_ruby_layout, chain) ==
		       __builtin_offsetof(struct pkbpf_python_layout, chain),
	       "chain says which of them it is");

/* Code of frames that could not be identified, in their words. */
#define PKBPF_RUBY_UNKNOWN_CODE 16

/* enum pkbpf_python_chain goes up to 5. */
#define PKBPF_RUBY_CONTROL_FRAMES 6

/* rb_execution_context_t */
#define PKBPF_RUBY_CONTEXT_STACK 0
#define PKBPF_RUBY_CONTEXT_SIZE	 8 /* in words */
#define PKBPF_RUBY_CONTEXT_FRAME 16
#define PKBPF_RUBY_CONTEXT_TAG	 24
#define PKBPF_RUBY_MAX_STACK	 (1ULL << 27) /* words */

/* Words of a control frame. */
enum {
	PKBPF_RUBY_FRAME_PC = 0,
	PKBPF_RUBY_FRAME_ISEQ = 2,
	PKBPF_RUBY_FRAME_ENVIRONMENT = 4,
	PKBPF_RUBY_FRAME_WORDS = 5,
};

/* The last word of an environment: its flags; before it the block or the outer environment, and the
 * method. */
#define PKBPF_RUBY_ENVIRONMENT_BYTES  24
#define PKBPF_RUBY_IS_LOCAL	      2
#define PKBPF_RUBY_IS_FINISH	      0x20 /* an activation of the loop returns with this frame */
#define PKBPF_RUBY_IS_METHOD_OF_BLOCK 0x40
#define PKBPF_RUBY_MAGIC	      0x7fff0001
#define PKBPF_RUBY_C_FUNCTION	      0x55550001
#define PKBPF_RUBY_C_BLOCK	      0x66660001
#define PKBPF_RUBY_DUMMY	      0x79990001

/* Flags of objects, their first word. */
#define PKBPF_RUBY_TYPE(flags)	((flags)&31)
#define PKBPF_RUBY_CLASS	2
#define PKBPF_RUBY_MODULE	3
#define PKBPF_RUBY_STRING	5
#define PKBPF_RUBY_ARRAY	7
#define PKBPF_RUBY_INTERNAL	0x1a
#define PKBPF_RUBY_KIND(flags)	((flags) >> 12 & 15) /* of an internal object */
#define PKBPF_RUBY_VARIABLES	2		     /* svar: the method is behind the flags */
#define PKBPF_RUBY_METHOD	6
#define PKBPF_RUBY_ISEQ		7
#define PKBPF_RUBY_IS_SINGLETON (1U << 12) /* of a class */
/* Strings have their text inside, or are behind a pointer; arrays likewise. */
#define PKBPF_RUBY_STRING_IS_FAR	(1U << 13)
#define PKBPF_RUBY_STRING_LENGTH(flags) ((flags) >> 14 & 31)
#define PKBPF_RUBY_STRING_TEXT		16
#define PKBPF_RUBY_FAR_LENGTH		16
#define PKBPF_RUBY_STRING_FAR		24
#define PKBPF_RUBY_ARRAY_IS_NEAR	(1U << 13)
#define PKBPF_RUBY_ARRAY_NEAR		16
#define PKBPF_RUBY_ARRAY_FAR		32

/* Names of methods by number. */
#define PKBPF_RUBY_LAST_OPERATOR 169
#define PKBPF_RUBY_SCOPE_BITS	 4
#define PKBPF_RUBY_NAMES_A_PAGE	 512
#define PKBPF_RUBY_NAME_WORDS	 2
/* Types of method definitions. */
#define PKBPF_RUBY_DEFINITION(word) ((word)&15)
#define PKBPF_RUBY_DEFINED_BY_CODE  0
#define PKBPF_RUBY_DEFINED_BY_BLOCK 4

/* struct st_table */
#define PKBPF_RUBY_TABLE_START	 32
#define PKBPF_RUBY_TABLE_BOUND	 40
#define PKBPF_RUBY_TABLE_ENTRIES 48
#define PKBPF_RUBY_ENTRY_WORDS	 3 /* hash, key, value */

/*
 * From an instruction to its line: the index says how many entries begin up to a position. It has
 * 9 numbers of 7 bits in each word for the first 54 positions, then blocks of 512 positions: the
 * number of entries before the block, 7 numbers of 9 bits for its parts of 64, and a bit for each
 * position. An entry begins with its line.
 */
#define PKBPF_RUBY_NEAR_POSITIONS  54U
#define PKBPF_RUBY_NEAR_WORDS	   6U
#define PKBPF_RUBY_BLOCK_POSITIONS 512U
#define PKBPF_RUBY_BLOCK_BYTES	   80U
#define PKBPF_RUBY_ENTRY_BYTES	   12U
#define PKBPF_RUBY_INDEX_BYTES(blocks)                                                             \
	(8 * PKBPF_RUBY_NEAR_WORDS + PKBPF_RUBY_BLOCK_BYTES * (blocks))
#define PKBPF_RUBY_SHORT_INDEX	 PKBPF_RUBY_INDEX_BYTES(2)
#define PKBPF_RUBY_SHORT_ENTRIES 127  /* one less than a power of two, for the verifier */
#define PKBPF_RUBY_SHORT_LINES	 1528 /* bytes, a multiple of 8 */
#define PKBPF_RUBY_LONG_INDEX	 PKBPF_RUBY_INDEX_BYTES(128) /* beyond it, words have no line */
#define PKBPF_RUBY_LONG_ENTRIES	 8191
#define PKBPF_RUBY_LONG_LINES	 98296

/* Bytes of the index of so many positions. */
static inline __u32 pkbpf_ruby_index_bytes(__u32 positions)
{
	__u32 blocks;

	if (positions < PKBPF_RUBY_NEAR_POSITIONS)
		return (positions + 8) / 9 * 8;
	blocks = (positions - PKBPF_RUBY_NEAR_POSITIONS + PKBPF_RUBY_BLOCK_POSITIONS - 1) /
		 PKBPF_RUBY_BLOCK_POSITIONS;
	return PKBPF_RUBY_INDEX_BYTES(blocks);
}

/* A string of the target: bytes of its own encoding, mostly UTF-8. */
struct pkbpf_ruby_string {
	__u64 address; /* of the object */
	__u32 length;  /* of the string */
	__u16 bytes;   /* in text[] */
	__u8 is_read;
	__u8 reserved;
	char text[PKBPF_PYTHON_STRING_BYTES];
};

/* What a frame runs. */
enum pkbpf_ruby_kind {
	PKBPF_RUBY_PLAIN = 0,	  /* no method, or one whose class has no name: the label says it */
	PKBPF_RUBY_IN_METHOD = 1, /* a method, or a block in one: the label ends with its name */
	PKBPF_RUBY_BY_BLOCK = 2,  /* made by define_method: label is the method's name */
	PKBPF_RUBY_BY_C = 3,	  /* in C: label is the method's name, and there is no file */
};

/*
 * PKBPF_EVENT_RUBY_CODE: frames of this process with this code are in this method. It comes before
 * the first stack that has such a frame. The code is a hash of all that identifies the method, so
 * another one has another.
 */
struct pkbpf_event_ruby_code {
	struct pkbpf_event_header header;
	__u32 pid;
	__u32 first_line;
	__u64 code;	   /* a multiple of 16 */
	__u8 kind;	   /* enum pkbpf_ruby_kind */
	__u8 is_singleton; /* a method of the class itself */
	__u8 minor;
	__u8 reserved;
	__u32 positions;		/* words of the method's code */
	__u32 index_bytes;		/* in lines[], 0: not read */
	__u32 line_bytes;		/* behind them */
	struct pkbpf_ruby_string owner; /* the class or module */
	struct pkbpf_ruby_string label;
	struct pkbpf_ruby_string path; /* the last bytes */
	__u8 lines[];		       /* index, entries, padding to a multiple of 8 */
};

_Static_assert(sizeof(struct pkbpf_event_ruby_code) == 16 + 32 + 3 * 272, "wire size");

#endif
