/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The registers with which the current task entered the kernel, and the reason for the entry. */
#ifndef PKBPF_TASK_REGS_BPF_H
#define PKBPF_TASK_REGS_BPF_H

#include "pt_regs.bpf.h"
#include "shared.bpf.h"
#include "stack.bpf.h"

#if defined(__TARGET_ARCH_x86)
#define NR_CLONE     56
#define NR_EXECVE    59
#define NR_EXECVEAT  322
#define THREAD_BYTES 16384 /* without KASAN; only kernels before 5.15 need it */
#else
#define NR_CLONE     220
#define NR_EXECVE    221
#define NR_EXECVEAT  281
#define THREAD_BYTES 16384 /* with 4 KiB pages */
#endif
#define NR_CLONE3 435

/* Returns the address of the registers with which the task entered the kernel, at the top of its
 * kernel stack. The helper that finds them exists since 5.15. */
static __always_inline __u64 task_regs_address(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	if (task_pt_regs_exists())
		return bpf_task_pt_regs(bpf_get_current_task_btf());
	return (__u64)BPF_CORE_READ(task, stack) + THREAD_BYTES -
	       bpf_core_type_size(struct pt_regs);
}

#if defined(__TARGET_ARCH_x86)
#define CODE_OF_SYSCALL	 0x050f
#define CODE_OF_INT_80	 0x80cd
#define CODE_OF_SYSENTER 0x340f

/*
 * Returns whether ip follows the instruction that entered the kernel. The system call number stays
 * in place when a signal handler or an executed program is about to begin; ip is then that code's
 * first instruction. SYSCALL leaves ip in rcx as well. (With FRED the registers do not show it, and
 * the code is read each time.)
 */
static __always_inline bool follows_syscall(const __u64 *words)
{
	__u16 code = 0;

	/* An interrupt or exception. The vsyscall page, which the kernel emulates, is excluded
	 * because its error codes look like system call numbers. */
	if (words[AT_ORIG_AX] == -1ULL || PKBPF_IS_VSYSCALL(words[AT_IP]))
		return false;
	if (words[AT_CX] == words[AT_IP])
		return true;
	if (bpf_probe_read_user(&code, sizeof(code), (void *)(words[AT_IP] - sizeof(code))))
		return words[AT_DI] ||
		       words[AT_SI]; /* a new program has no arguments yet, but execve had a path */
	return code == CODE_OF_SYSCALL || code == CODE_OF_INT_80 || code == CODE_OF_SYSENTER;
}
#else
static __always_inline bool follows_syscall(const __u64 *words)
{
	__s32 number = (__s32)words[AT_SYSCALL];

	/* Signals make the kernel clear the number. A program begun by execve has no arguments yet,
	 * but execve had a path. */
	return number != -1 &&
	       ((number != NR_EXECVE && number != NR_EXECVEAT) || words[0] || words[1]);
}
#endif

/* Returns 0, or the reason why there are no registers to start from. */
static __always_inline __u32 take_task_regs(struct unwind_scratch *unwind)
{
	__u64 *words = unwind->pt_regs;
	__u64 *regs = unwind->state.regs;
	__u64 address;

	/* Through memory it becomes a number: the verifier forbids arithmetic with the helper's
	 * typed pointer. */
	*(volatile __u64 *)&unwind->regs_address = task_regs_address();
	address = *(volatile __u64 *)&unwind->regs_address;

	/* The event interrupted the kernel's entry code while it was writing the registers. */
	if (unwind->kernel_sp > address && unwind->kernel_sp - address <= PT_REGS_WORDS * 8)
		return PKBPF_END_NO_REGS;
	if (!address || bpf_probe_read_kernel(words, PT_REGS_WORDS * 8, (void *)address))
		return PKBPF_END_NO_REGS;
#if defined(__TARGET_ARCH_x86)
	/* Kernel threads and the workers of io_uring and vhost were never in user mode. */
	if ((words[AT_CS] & 3) != 3 || !(words[AT_IP] | words[AT_SP]))
		return PKBPF_END_NONE;
	regs[0] = words[AT_R8];
	regs[1] = words[AT_R9];
	regs[2] = words[AT_R10];
	regs[3] = words[AT_R11];
	regs[4] = words[AT_R12];
	regs[5] = words[AT_R13];
	regs[6] = words[AT_R14];
	regs[7] = words[AT_R15];
	regs[8] = words[AT_DI];
	regs[9] = words[AT_SI];
	regs[10] = words[AT_BP];
	regs[11] = words[AT_BX];
	regs[12] = words[AT_DX];
	regs[13] = words[AT_AX];
	regs[14] = words[AT_CX];
	regs[15] = words[AT_SP];
	regs[16] = words[AT_IP];
	unwind->compat = words[AT_CS] == USER32_CS;
	unwind->in_exec = words[AT_ORIG_AX] == NR_EXECVE || words[AT_ORIG_AX] == NR_EXECVEAT;
	unwind->new_thread =
		(words[AT_ORIG_AX] == NR_CLONE || words[AT_ORIG_AX] == NR_CLONE3) && !words[AT_AX];
#else
	if ((words[AT_PSTATE] & 0xf) != 0)
		return PKBPF_END_NONE;
	for (int i = 0; i < PKBPF_SIGNAL_REGS; i++)
		regs[i] = words[i];
	unwind->compat = (words[AT_PSTATE] & 0x10) != 0;
	unwind->in_exec =
		(__s32)words[AT_SYSCALL] == NR_EXECVE || (__s32)words[AT_SYSCALL] == NR_EXECVEAT;
	unwind->new_thread =
		((__s32)words[AT_SYSCALL] == NR_CLONE || (__s32)words[AT_SYSCALL] == NR_CLONE3) &&
		!words[0];
#endif
	unwind->state.flags |=
		follows_syscall(words) ? PKBPF_UNWIND_REGS : PKBPF_UNWIND_REGS | PKBPF_UNWIND_EXACT;
	unwind->regs_ready = 1;
	return 0;
}

#endif
