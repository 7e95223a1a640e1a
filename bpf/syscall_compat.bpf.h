/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether the system call of the current thread is one of a 32-bit program. */
#ifndef PKBPF_SYSCALL_COMPAT_BPF_H
#define PKBPF_SYSCALL_COMPAT_BPF_H

#include "shared.bpf.h"

#define TS_COMPAT 2

struct thread_info___status {
	__u32 status;
} __attribute__((preserve_access_index));

struct task_struct___info {
	struct thread_info___status thread_info;
} __attribute__((preserve_access_index));

/* Numbers of 32-bit programs mean other calls. */
static __always_inline bool is_compat(void)
{
#if defined(__TARGET_ARCH_x86)
	struct task_struct___info *task = (void *)bpf_get_current_task();

	return bpf_core_field_exists(task->thread_info.status) &&
	       BPF_CORE_READ(task, thread_info.status) & TS_COMPAT;
#else
	return false;
#endif
}

#endif
