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
	struct file *vm_file;
};

#pragma clang attribute pop

#endif
