/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Words of the kernel's struct pt_regs, for code that reads it as memory. */
#ifndef PKBPF_PT_REGS_BPF_H
#define PKBPF_PT_REGS_BPF_H

#if defined(__TARGET_ARCH_x86)
#define PT_REGS_WORDS 21
enum {
	AT_R15,
	AT_R14,
	AT_R13,
	AT_R12,
	AT_BP,
	AT_BX,
	AT_R11,
	AT_R10,
	AT_R9,
	AT_R8,
	AT_AX,
	AT_CX,
	AT_DX,
	AT_SI,
	AT_DI,
	AT_ORIG_AX,
	AT_IP,
	AT_CS,
	AT_FLAGS,
	AT_SP,
	AT_SS
};
#else
#define PT_REGS_WORDS 36
enum { AT_SP = 31, AT_IP = 32, AT_PSTATE = 33, AT_SYSCALL = 35 };
#endif

#endif
