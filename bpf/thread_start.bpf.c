// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Recognizes a thread that is still in the function that created it: the C library's clone() or
 * clone3(). The unwind info there is that of the parent, which returns from the function; the
 * child's new stack may hold anything. */
#include "shared.bpf.h"

#if PKBPF_UNWIND_ARM64
__attribute__((noinline)) int unwind_is_thread_start(__u32 slot)
{
	return 0;
}
#else
#define SIGNAL_AX   13
#define CODE_BYTES  17
#define BEFORE_CALL 5 /* mov $number,%eax */
#define AFTER_CALL  2 /* syscall */
#define AFTER_TEST  5 /* test %rax,%rax; musl: %eax, a byte less */
#define AFTER_ERROR 7 /* jl; musl: jne */

/* The instructions of clone() and clone3() that load the system call number, make the call, and
 * tell the parent from the child. fork() makes the same call, and its child has the parent's stack;
 * but its instructions differ. */
static __always_inline bool makes_thread(const __u8 *code)
{
	if (code[0] != 0xb8 || code[3] || code[4] || code[5] != 0x0f || code[6] != 0x05)
		return false;
	if (!(code[1] == 0x38 && code[2] == 0) && !(code[1] == 0xb3 && code[2] == 1))
		return false;
	return code[7] == 0x48 && code[8] == 0x85 && code[9] == 0xc0 && code[10] == 0x7c;
}

/* The same for musl's clone(), from the system call on: the child pops its argument from its stack
 * and calls the function. */
static __always_inline bool makes_musl_thread(const __u8 *code)
{
	return code[0] == 0x0f && code[1] == 0x05 && code[2] == 0x85 && code[3] == 0xc0 &&
	       code[4] == 0x75 && code[6] == 0x31 && code[7] == 0xed && code[8] == 0x5f &&
	       code[9] == 0x41 && code[10] == 0xff && code[11] == 0xd1;
}

/* Compares the code with the system call `bytes` bytes before the leaf. */
static __always_inline bool makes_thread_before(__u64 ip, __u32 bytes)
{
	__u8 code[CODE_BYTES];

	if (bpf_probe_read_user(code, sizeof(code), (void *)(ip - bytes - BEFORE_CALL)))
		return false;
	return makes_thread(code) || makes_musl_thread(code + BEFORE_CALL);
}

/* Returns 1 if the leaf is in the child's part of the function, before the test for the child. */
__attribute__((noinline)) int unwind_is_thread_start(__u32 slot)
{
	struct sample_scratch *scratch = scratch_get(slot);
	__u64 ip;

	if (!scratch || scratch->unwind.first_regs[SIGNAL_AX])
		return 0;
	ip = scratch->unwind.first_regs[PKBPF_SIGNAL_IP];
	return makes_thread_before(ip, AFTER_CALL) || makes_thread_before(ip, AFTER_TEST) ||
	       makes_thread_before(ip, AFTER_TEST - 1) || makes_thread_before(ip, AFTER_ERROR) ||
	       makes_thread_before(ip, AFTER_ERROR - 1);
}
#endif
