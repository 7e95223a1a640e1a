// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Recognises a thread that has not left the function that made it. What runs there is the C library's clone() or clone3(), and its
 * unwind information is that of the parent, who returns from it; the new stack may hold anything.
 */
#include "shared.bpf.h"

#if PKBPF_UNWIND_ARM64
__attribute__((noinline)) int unwind_is_thread_start(__u32 slot)
{
	return 0;
}
#else
#define SIGNAL_AX   13
#define CODE_BYTES  14
#define AFTER_CALL  7  /* mov $number,%eax; syscall */
#define AFTER_TEST  10 /* test %rax,%rax */
#define AFTER_ERROR 12 /* jl */

/* code: of clone() or clone3() from the instruction on that loads the number. */
static __always_inline bool makes_thread(const __u8 *code, __u32 length)
{
	if (code[0] != 0xb8 || code[3] || code[4] || code[5] != 0x0f || code[6] != 0x05)
		return false;
	if (!(code[1] == 0x38 && code[2] == 0) && !(code[1] == 0xb3 && code[2] == 1))
		return false;
	return length == AFTER_CALL ||
	       (code[7] == 0x48 && code[8] == 0x85 && code[9] == 0xc0 && (length == AFTER_TEST || code[10] == 0x7c));
}

static __always_inline bool follows_call(__u64 ip, __u32 length)
{
	__u8 code[CODE_BYTES] = {};

	return !bpf_probe_read_user(code, length, (void *)(ip - length)) && makes_thread(code, length);
}

/* 1: the leaf is the child's part of it, before it knows that it is the child. */
__attribute__((noinline)) int unwind_is_thread_start(__u32 slot)
{
	struct sample_scratch *scratch = scratch_get(slot);
	__u64 ip;

	if (!scratch || scratch->unwind.first_regs[SIGNAL_AX])
		return 0;
	ip = scratch->unwind.first_regs[PKBPF_SIGNAL_IP];
	return follows_call(ip, AFTER_CALL) || follows_call(ip, AFTER_TEST) || follows_call(ip, AFTER_ERROR);
}
#endif
