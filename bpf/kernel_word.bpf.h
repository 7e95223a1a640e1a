/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads the kernel's memory in place, without a helper and without its types. */
#ifndef PKBPF_KERNEL_WORD_BPF_H
#define PKBPF_KERNEL_WORD_BPF_H

#include "shared.bpf.h"

/*
 * Since 6.2 a program may follow any address as if it were that of a known type; a load from
 * nowhere gives 0. User space says which type, and whether it works: to ask here would make every
 * start look for them, as functions outside of programs are always relocated.
 */
static __always_inline const __u64 *call_rdonly_cast(const void *address, __u32 type)
{
	const __u64 *word;

	/* BPF_JMP | BPF_CALL, source register BPF_PSEUDO_KFUNC_CALL, number 0:
	 * user/capture/tracing_program.c puts the kernel's in. */
	asm volatile("r1 = %[address]\n\tr2 = %[type]\n\t.8byte 0x2085\n\t%[word] = r0"
		     : [word] "=r"(word)
		     : [address] "r"(address), [type] "r"((__u64)type)
		     : "r0", "r1", "r2", "r3", "r4", "r5", "memory");
	return word;
}

/* A word of the kernel; only where config.word_type is one. */
static __always_inline __u64 kernel_word(const void *address)
{
	return *call_rdonly_cast(address, config.word_type);
}

/* The lower half of one. */
static __always_inline __u32 kernel_half(const void *address)
{
	return *(const __u32 *)call_rdonly_cast(address, config.word_type);
}

/*
 * A field that is a pointer, as a number: for a pointer out of what a program was given the
 * verifier of 6.4 and later searches all of the kernel's types, 1.2 ms on each way that leads to
 * the load.
 */
#define kernel_pointer(base, field)                                                                \
	(config.word_type                                                                          \
		 ? kernel_word((const char *)(base) + bpf_core_field_offset((base)->field))        \
		 : (__u64)(base)->field)

#endif
