/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frames of the interpreter of HotSpot (Java): the word of a stack that says which method runs. */
#ifndef PKBPF_HOTSPOT_H
#define PKBPF_HOTSPOT_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/*
 * One word of a user stack, behind the word of the interpreter's code. It is a kind of its own
 * among the words of Python frames (pkbpf/python.h). Frames with such a word have a rule with
 * PKBPF_CFA_FP_DEREF and PKBPF_RA_FP.
 *
 * Bits: 63 to 60 are 1011, then 16 of the address of the bytecode, then 44 of the Method* / 8.
 */
#define PKBPF_HOTSPOT_WORD	     (0xbULL << 60)
#define PKBPF_HOTSPOT_BYTECODE_SHIFT 44
#define PKBPF_HOTSPOT_METHOD_MASK    ((1ULL << PKBPF_HOTSPOT_BYTECODE_SHIFT) - 1)

/* Where the frame has them, from its frame pointer (src/hotspot/cpu/x86/frame_x86.hpp). In the leaf
 * the address of the bytecode is in r13. */
#define PKBPF_HOTSPOT_METHOD_AT	    (-24)
#define PKBPF_HOTSPOT_BYTECODE_AT   (-64) /* JDK 8: -56 */
#define PKBPF_HOTSPOT_LEAF_BYTECODE 13	  /* DWARF register number */

static inline int pkbpf_is_hotspot(__u64 word)
{
	return word >> 60 == 0xb;
}

/* 0: no address of a Method. */
static inline __u64 pkbpf_hotspot_word(__u64 method, __u64 bytecode)
{
	if (!method || method & 7 || method >> (PKBPF_HOTSPOT_BYTECODE_SHIFT + 3))
		return 0;
	return PKBPF_HOTSPOT_WORD | (bytecode & 0xffff) << PKBPF_HOTSPOT_BYTECODE_SHIFT |
	       method >> 3;
}

static inline __u64 pkbpf_hotspot_method(__u64 word)
{
	return (word & PKBPF_HOTSPOT_METHOD_MASK) << 3;
}

static inline __u32 pkbpf_hotspot_bytecode(__u64 word)
{
	return (__u32)(word >> PKBPF_HOTSPOT_BYTECODE_SHIFT) & 0xffff;
}

#endif
