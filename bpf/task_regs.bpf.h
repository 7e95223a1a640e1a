/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The registers with which the current task entered the kernel, and what it entered for. */
#ifndef PKBPF_TASK_REGS_BPF_H
#define PKBPF_TASK_REGS_BPF_H

#include "pt_regs.bpf.h"
#include "shared.bpf.h"
#include "stack.bpf.h"

#if defined(__TARGET_ARCH_x86)
#define NR_CLONE	 56
#define NR_EXECVE	 59
#define NR_EXECVEAT	 322
#define THREAD_BYTES	 16384 /* without KASAN; only kernels before 5.15 need it */
#else
#define NR_CLONE	 220
#define NR_EXECVE	 221
#define NR_EXECVEAT	 281
#define THREAD_BYTES	 16384 /* with 4 KiB pages */
#endif
#define NR_CLONE3	 435

/*
 * The registers with which the task entered the kernel. They lie at the top of its kernel stack; the helper that
 * knows where exists since 5.15.
 */
static __always_inline __u64 task_regs_address(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	if (task_pt_regs_exists())
		return bpf_task_pt_regs(bpf_get_current_task_btf());
	return (__u64)BPF_CORE_READ(task, stack) + THREAD_BYTES - bpf_core_type_size(struct pt_regs);
}

/* 0, or why there are no registers to start from. */
static __always_inline __u32 take_task_regs(struct unwind_scratch *unwind)
{
	__u64 *words = unwind->pt_regs;
	__u64 *regs = unwind->state.regs;
	__u64 address, first_arguments;
	bool in_syscall;

	/* Through memory it becomes a number: the verifier forbids arithmetic with the helper's typed pointer. */
	*(volatile __u64 *)&unwind->regs_address = task_regs_address();
	address = *(volatile __u64 *)&unwind->regs_address;

	/* Interrupted while the kernel's entry code was still writing them. */
	if (unwind->kernel_sp > address && unwind->kernel_sp - address <= PT_REGS_WORDS * 8)
		return PKBPF_END_NO_REGS;
	if (!address || bpf_probe_read_kernel(words, PT_REGS_WORDS * 8, (void *)address))
		return PKBPF_END_NO_REGS;
#if defined(__TARGET_ARCH_x86)
	/* Kernel threads and io workers never were in user mode. */
	if ((words[AT_CS] & 3) != 3)
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
	/* A system call number, or -1 for interrupts and exceptions. */
	in_syscall = words[AT_ORIG_AX] != -1ULL;
	unwind->in_exec = words[AT_ORIG_AX] == NR_EXECVE || words[AT_ORIG_AX] == NR_EXECVEAT;
	unwind->new_thread = (words[AT_ORIG_AX] == NR_CLONE || words[AT_ORIG_AX] == NR_CLONE3) && !words[AT_AX];
	first_arguments = words[AT_DI] | words[AT_SI];
#else
	if ((words[AT_PSTATE] & 0xf) != 0)
		return PKBPF_END_NONE;
	for (int i = 0; i < PKBPF_SIGNAL_REGS; i++)
		regs[i] = words[i];
	unwind->compat = (words[AT_PSTATE] & 0x10) != 0;
	in_syscall = (__s32)words[AT_SYSCALL] != -1;
	unwind->in_exec = (__s32)words[AT_SYSCALL] == NR_EXECVE || (__s32)words[AT_SYSCALL] == NR_EXECVEAT;
	unwind->new_thread = ((__s32)words[AT_SYSCALL] == NR_CLONE || (__s32)words[AT_SYSCALL] == NR_CLONE3) && !words[0];
	first_arguments = words[0] | words[1];
#endif
	/* The path is one of them, unless these are already the registers of the new program, at its first instruction. */
	if (unwind->in_exec && !first_arguments)
		in_syscall = false;
	unwind->state.flags |= in_syscall ? PKBPF_UNWIND_REGS : PKBPF_UNWIND_REGS | PKBPF_UNWIND_EXACT;
	unwind->regs_ready = 1;
	return 0;
}

#endif
