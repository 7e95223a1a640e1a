/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* JavaScript frames (V8, Node): the words of a stack that say which function a frame runs. */
#ifndef PKBPF_V8_H
#define PKBPF_V8_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#include <pkbpf/event.h>

/* What the kernel side reads of V8's objects. Offsets in bytes from an object's first word; types
 * are values of Map.instance_type. */
struct pkbpf_v8_process {
	__u8 is_known;	      /* 0: the process has no V8 whose layout is known */
	__u8 function_shared; /* in a JSFunction: its SharedFunctionInfo */
	__u8 shared_script;   /* in that: its Script */
	__u8 shared_literal;  /* function literal id (u32), and the unique id (u32) behind it */
	__u8 shared_name;     /* its ScopeInfo, or its name */
	__u8 has_unique;      /* SharedFunctionInfos have unique ids (V8 12) */
	__u8 script_id;	      /* in a Script: its id (Smi) */
	__u8 first_bytecode;  /* in a BytecodeArray: its first instruction */
	__u8 scope_first;     /* in a ScopeInfo: the word of the first local variable */
	/* ScopeInfos begin with their flags as a number, and have positions before the names */
	__u8 scope_is_raw;
	/* the type of scopes that have a word before the names; PKBPF_V8_NO_SCOPE: none */
	__u8 scope_module;
	__u8 reserved;
	__u16 shared_type, scope_type, script_type;
	__u16 reserved2[3];
};

#define PKBPF_V8_NO_SCOPE 0xff

/* The same in all versions with 64-bit references. */
#define PKBPF_V8_MAP_TYPE      12
#define PKBPF_V8_SCRIPT_SOURCE 8
#define PKBPF_V8_SCRIPT_NAME   16
/* Words of a ScopeInfo behind its map, the bits of its flags, and how many locals have words. */
#define PKBPF_V8_SCOPE_LOCALS		   2
#define PKBPF_V8_SCOPE_POSITIONS	   3 /* scope_is_raw */
#define PKBPF_V8_SCOPE_AT(index)	   (8 + 8ULL * (index))
#define PKBPF_V8_SCOPE_TYPE(flags)	   ((flags)&15)
#define PKBPF_V8_SCOPE_HAS_CLASS(flags)	   ((flags) >> 10 & 1)
#define PKBPF_V8_SCOPE_HAS_FUNCTION(flags) ((flags) >> 12 & 3)
#define PKBPF_V8_SCOPE_HAS_INFERRED(flags) ((flags) >> 14 & 1)
#define PKBPF_V8_MOST_INLINED_LOCALS	   74 /* more are in a table, which is one word */
#define PKBPF_V8_MOST_LOCALS		   65536

/* Strings: their length and characters, and bits of their types. Types from
 * PKBPF_V8_FIRST_NO_STRING on are of other objects. */
#define PKBPF_V8_STRING_LENGTH	 12
#define PKBPF_V8_STRING_DATA	 16 /* or the actual string of a thin one */
#define PKBPF_V8_STRING_KIND	 7
#define PKBPF_V8_STRING_ONE_BYTE 8
#define PKBPF_V8_FLAT		 0
#define PKBPF_V8_THIN		 5
#define PKBPF_V8_FIRST_NO_STRING 128

/* Where a frame has them, from its frame pointer (src/execution/frame-constants.h). A context is
 * tagged, and thus odd; frames of stubs have their type there, times 2. */
#define PKBPF_V8_CONTEXT_AT  (-8)
#define PKBPF_V8_FUNCTION_AT (-16)
#define PKBPF_V8_BYTECODE_AT (-40)
#define PKBPF_V8_FRAME_TYPES 64

/*
 * Two words of a user stack, behind the word of the frame's code: the SharedFunctionInfo's address,
 * and its identity. V8 moves these objects, so a reader has to find the identity there again. They
 * are a kind of their own among the words of Python frames (pkbpf/python.h): no PKBPF_PYTHON_CUT
 * has bit 59.
 *
 * Bits of both: 63 to 59 are 10011; 58: 0 the first word, 1 the second. First: 14 lower bits of the
 * bytecode's offset, then 44 of the address / 8. Second: 8 upper bits of the offset, then 50 of
 * the identity.
 */
#define PKBPF_V8_KIND	       0x13U
#define PKBPF_V8_KIND_SHIFT    59
#define PKBPF_V8_SECOND	       (1ULL << 58)
#define PKBPF_V8_SHARED_BITS   44
#define PKBPF_V8_LOW_BITS      14
#define PKBPF_V8_IDENTITY_BITS 50
#define PKBPF_V8_OFFSET_BITS   22
#define PKBPF_V8_NO_OFFSET     ((1U << PKBPF_V8_OFFSET_BITS) - 1)
#define PKBPF_V8_LITERAL_BITS  24
#define PKBPF_V8_MAX_SCRIPT    ((1U << (PKBPF_V8_IDENTITY_BITS - PKBPF_V8_LITERAL_BITS)) - 1)

static inline int pkbpf_is_v8(__u64 word)
{
	return word >> PKBPF_V8_KIND_SHIFT == PKBPF_V8_KIND;
}

/* A first word, with the second one behind it. */
static inline int pkbpf_is_v8_pair(__u64 first, __u64 second)
{
	return pkbpf_is_v8(first) && !(first & PKBPF_V8_SECOND) && pkbpf_is_v8(second) &&
	       second & PKBPF_V8_SECOND;
}

/* Of scripts and literals before V8 12; 0: they do not fit. */
static inline __u64 pkbpf_v8_identity(__u32 script, __u32 literal)
{
	if (script > PKBPF_V8_MAX_SCRIPT || literal >> PKBPF_V8_LITERAL_BITS)
		return 0;
	return (__u64)script << PKBPF_V8_LITERAL_BITS | literal;
}

/* shared: the untagged address, a multiple of 8. offset: PKBPF_V8_NO_OFFSET: none. */
static inline __u64 pkbpf_v8_first_word(__u64 shared, __u32 offset)
{
	return (__u64)PKBPF_V8_KIND << PKBPF_V8_KIND_SHIFT |
	       (__u64)(offset & ((1U << PKBPF_V8_LOW_BITS) - 1)) << PKBPF_V8_SHARED_BITS |
	       ((shared >> 3) & ((1ULL << PKBPF_V8_SHARED_BITS) - 1));
}

static inline __u64 pkbpf_v8_second_word(__u64 identity, __u32 offset)
{
	return (__u64)PKBPF_V8_KIND << PKBPF_V8_KIND_SHIFT | PKBPF_V8_SECOND |
	       (__u64)(offset >> PKBPF_V8_LOW_BITS & 0xff) << PKBPF_V8_IDENTITY_BITS |
	       (identity & ((1ULL << PKBPF_V8_IDENTITY_BITS) - 1));
}

static inline __u64 pkbpf_v8_shared(__u64 first)
{
	return (first & ((1ULL << PKBPF_V8_SHARED_BITS) - 1)) << 3;
}

static inline __u64 pkbpf_v8_identity_of(__u64 second)
{
	return second & ((1ULL << PKBPF_V8_IDENTITY_BITS) - 1);
}

static inline __u32 pkbpf_v8_offset(__u64 first, __u64 second)
{
	return (__u32)(first >> PKBPF_V8_SHARED_BITS & ((1U << PKBPF_V8_LOW_BITS) - 1)) |
	       (__u32)(second >> PKBPF_V8_IDENTITY_BITS & 0xff) << PKBPF_V8_LOW_BITS;
}

/* The word of a ScopeInfo behind its local variables. */
static inline __u32 pkbpf_v8_scope_names(const struct pkbpf_v8_process *v8, __u32 flags,
					 __u32 locals)
{
	return v8->scope_first + locals + (locals > PKBPF_V8_MOST_INLINED_LOCALS ? 1 : locals) +
	       PKBPF_V8_SCOPE_HAS_CLASS(flags) + (PKBPF_V8_SCOPE_TYPE(flags) == v8->scope_module);
}

#define PKBPF_V8_STRING_BYTES 256

/* A string of the target: length characters of width bytes (1: Latin-1, 2: UTF-16). */
struct pkbpf_v8_string {
	__u64 reference;
	__u32 length; /* of the string, in characters */
	__u16 bytes;  /* in text[] */
	__u8 width;   /* 0: not read: it is none, or made of others */
	__u8 reserved;
	char text[PKBPF_V8_STRING_BYTES];
};

/*
 * PKBPF_EVENT_V8_FUNCTION: from now on, pairs of words of this process with this address and this
 * identity are this function. It comes before the first stack that has them: V8 may collect the
 * function right after, and give its memory to another one.
 */
struct pkbpf_event_v8_function {
	struct pkbpf_event_header header;
	__u32 pid;
	__s32 script_id;
	__u64 shared;	     /* address, as in the first word */
	__u64 identity;	     /* as in the second word */
	__u64 script;	     /* reference to the Script */
	__s32 start, end;    /* in its source, in characters; -1: not known */
	__u32 source_length; /* of that */
	__u32 reserved;
	struct pkbpf_v8_string name; /* the first bytes */
	struct pkbpf_v8_string path; /* the last bytes */
};

_Static_assert(sizeof(struct pkbpf_v8_process) == 24, "layout size");
_Static_assert(sizeof(struct pkbpf_event_v8_function) == 16 + 48 + 2 * 272, "wire size");

#endif
