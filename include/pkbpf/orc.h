/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's own unwind tables on x86-64 (ORC, arch/x86/include/asm/orc_types.h), and the form in
 * which the CPU program caches rules found in them.
 *
 * ORC is not a stable kernel interface. Users of these tables must verify their results against the
 * kernel's own unwinder.
 */
#ifndef PKBPF_ORC_H
#define PKBPF_ORC_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/* The kernel divides its text into blocks of this many bytes and has a table with the number of the
 * first entry of each block. */
#define PKBPF_ORC_BLOCK_SHIFT 8
#define PKBPF_ORC_ENTRY_BYTES 6

/* Base register of a value: the numbers in the kernel's entries. */
enum pkbpf_orc_register {
	PKBPF_ORC_UNDEFINED = 0, /* for bp: unchanged */
	PKBPF_ORC_PREVIOUS_SP = 1,
	PKBPF_ORC_BP = 4,
	PKBPF_ORC_SP = 5,
	PKBPF_ORC_BP_INDIRECT = 8,
	PKBPF_ORC_SP_INDIRECT = 9,
};

/* Numbers as in 6.4 and later. */
enum pkbpf_orc_type {
	PKBPF_ORC_NO_TYPE = 0,
	PKBPF_ORC_END_OF_STACK = 1,
	PKBPF_ORC_CALL = 2, /* a return address lies below the previous sp */
	PKBPF_ORC_REGS = 3, /* struct pt_regs lies there */
	/* the part of struct pt_regs that the processor pushes for an interrupt lies there */
	PKBPF_ORC_REGS_PARTIAL = 4,
};

/* Layout of an entry's last 12 bits: 4 bits each for the sp and bp register, then fields that
 * differ by kernel. */
enum pkbpf_orc_format {
	PKBPF_ORC_UNKNOWN = 0,
	PKBPF_ORC_BEFORE_6_3 = 1, /* type:2 end:1 */
	PKBPF_ORC_BEFORE_6_4 = 2, /* type:2 signal:1 end:1 */
	PKBPF_ORC_SINCE_6_4 = 3,  /* type:3 signal:1 */
	PKBPF_ORC_RENUMBERED = 4, /* the same layout with other register numbers, as in 7.2 */
};

/* A rule in one word: offsets in units of 8 bytes, then registers, type and signal as in 6.4 and
 * later. The bits above say which part of the text the rule is for, see pkbpf_orc_place(). 0: no
 * rule. */
#define PKBPF_ORC_OFFSET_BITS 13
#define PKBPF_ORC_RULE_BITS   38
#define PKBPF_ORC_INDEX_BITS  11
/* in the 12 bits of pkbpf_orc_flags(): the next ip is not a return address */
#define PKBPF_ORC_SIGNAL (1U << 11)

/* One nibble per register number as in 7.2 and later; 15: a register not supported here. */
#define PKBPF_ORC_RENUMBERED_SP	       0xfffff89ffff45fffULL
#define PKBPF_ORC_RENUMBERED_SP_NUMBER 3
#define PKBPF_ORC_RENUMBERED_BP	       0xfffffff1fff4fff0ULL

/* Converts the flags of an entry of any format to the 6.4 format. */
static inline __u32 pkbpf_orc_flags(__u32 flags, __u32 format)
{
	__u32 registers = flags & 0xff, type = flags >> 8 & 3;
	__u32 signal, end;

	if (format == PKBPF_ORC_SINCE_6_4)
		return flags & 0xfff;
	if (format == PKBPF_ORC_RENUMBERED)
		return (flags & 0xf00) | (PKBPF_ORC_RENUMBERED_SP >> 4 * (flags & 15) & 15) |
		       (PKBPF_ORC_RENUMBERED_BP >> 4 * (flags >> 4 & 15) & 15) << 4;
	if (format == PKBPF_ORC_BEFORE_6_4) {
		signal = flags >> 10 & 1;
		end = flags >> 11 & 1;
	} else {
		signal = type != 0;
		end = flags >> 10 & 1;
	}
	if (end)
		type = PKBPF_ORC_END_OF_STACK;
	else
		type = registers & 15 ? type + PKBPF_ORC_CALL : PKBPF_ORC_NO_TYPE;
	return registers | type << 8 | (signal ? PKBPF_ORC_SIGNAL : 0);
}

/* Converts an entry as it lies in memory (6 bytes) to a rule. 0: the code has no rule, or the rule
 * does not fit. */
static inline __u64 pkbpf_orc_rule(__u64 entry, __u32 format)
{
	__s16 sp_offset = (__s16)entry, bp_offset = (__s16)(entry >> 16);
	__u32 flags = (__u32)(entry >> 32) & 0xffff;
	__u64 mask = (1U << PKBPF_ORC_OFFSET_BITS) - 1;

	flags = pkbpf_orc_flags(flags, format);
	if (!(flags >> 8 & 7) || (sp_offset & 7) || (bp_offset & 7))
		return 0;
	return ((__u64)sp_offset >> 3 & mask) |
	       ((__u64)bp_offset >> 3 & mask) << PKBPF_ORC_OFFSET_BITS |
	       (__u64)flags << (2 * PKBPF_ORC_OFFSET_BITS);
}

static inline __s64 pkbpf_orc_sp_offset(__u64 rule)
{
	return (__s64)(rule << (64 - PKBPF_ORC_OFFSET_BITS)) >> (64 - PKBPF_ORC_OFFSET_BITS - 3);
}

static inline __s64 pkbpf_orc_bp_offset(__u64 rule)
{
	return ((__s64)(rule << (64 - 2 * PKBPF_ORC_OFFSET_BITS)) >> (64 - PKBPF_ORC_OFFSET_BITS)) *
	       8;
}

static inline __u32 pkbpf_orc_rule_flags(__u64 rule)
{
	return rule >> (2 * PKBPF_ORC_OFFSET_BITS) & 0xfff;
}

/* The place of an offset in the kernel's text. Multiplication by an odd number is reversible: the
 * upper bits index the cached rules, and the lower bits verify that the rule is for this offset. */
static inline __u32 pkbpf_orc_place(__u32 offset)
{
	return offset * 0x9e3779b1U;
}

static inline __u32 pkbpf_orc_index(__u32 place)
{
	return place >> (32 - PKBPF_ORC_INDEX_BITS);
}

static inline __u64 pkbpf_orc_tag(__u32 place)
{
	return (__u64)(place & ((1U << (32 - PKBPF_ORC_INDEX_BITS)) - 1)) << PKBPF_ORC_RULE_BITS;
}

#define PKBPF_ORC_TAG_MASK (((1ULL << (32 - PKBPF_ORC_INDEX_BITS)) - 1) << PKBPF_ORC_RULE_BITS)

_Static_assert(PKBPF_ORC_RULE_BITS == 2 * PKBPF_ORC_OFFSET_BITS + 12, "parts of a rule");
_Static_assert(PKBPF_ORC_RULE_BITS + 32 - PKBPF_ORC_INDEX_BITS <= 64,
	       "a rule and its place in one word");

#endif
