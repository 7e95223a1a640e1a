/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads kernel memory in place, without a helper and without the kernel's types. */
#ifndef PKBPF_KERNEL_WORD_BPF_H
#define PKBPF_KERNEL_WORD_BPF_H

#include "shared.bpf.h"

/*
 * Since 6.2 a program may use any address as a pointer of a known type; a load from an invalid
 * address gives 0. User space passes the type and whether this works. A test here would make every
 * start search for the function, because references to functions outside of programs are always
 * relocated.
 */
static __always_inline const __u64 *call_rdonly_cast(const void *address, __u32 type)
{
	const __u64 *word;

	/* BPF_JMP | BPF_CALL, source register BPF_PSEUDO_KFUNC_CALL, number 0:
	 * user/capture/tracing_program.c inserts the kernel's number. */
	asm volatile("r1 = %[address]\n\tr2 = %[type]\n\t.8byte 0x2085\n\t%[word] = r0"
		     : [word] "=r"(word)
		     : [address] "r"(address), [type] "r"((__u64)type)
		     : "r0", "r1", "r2", "r3", "r4", "r5", "memory");
	return word;
}

/* Reads a word of the kernel. Valid only if config.word_type is not 0. */
static __always_inline __u64 kernel_word(const void *address)
{
	return *call_rdonly_cast(address, config.word_type);
}

/* Reads the lower half of a word. */
static __always_inline __u32 kernel_half(const void *address)
{
	return *(const __u32 *)call_rdonly_cast(address, config.word_type);
}

/* Reads a pointer field as a number. For a pointer reached from a program's argument, the verifier
 * of 6.4 and later searches all of the kernel's types: 1.2 ms for each path that leads to the
 * load. */
#define kernel_pointer(base, field)                                                                \
	(config.word_type                                                                          \
		 ? kernel_word((const char *)(base) + bpf_core_field_offset((base)->field))        \
		 : (__u64)(base)->field)

#endif
