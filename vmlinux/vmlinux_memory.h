/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The memory management's types our BPF programs use, by hand; see README.md in this folder. */
#ifndef PKBPF_VMLINUX_MEMORY_H
#define PKBPF_VMLINUX_MEMORY_H

#include "vmlinux.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct file;

struct vm_area_struct {
	unsigned long vm_start, vm_end;
	unsigned long vm_flags;
	struct mm_struct *vm_mm;
	struct file *vm_file;
};

struct vm_unmapped_area_info {
	unsigned long flags;
	unsigned long length;
};

typedef struct refcount_struct {
	struct {
		int counter;
	} refs;
} refcount_t;

/* Whether a mapping is one of its process's: 0 is none, since 6.15. */
struct vm_area_struct___since_6_15 {
	refcount_t vm_refcnt;
};

struct vm_area_struct___since_6_4 {
	bool detached;
};

#pragma clang attribute pop

#endif
