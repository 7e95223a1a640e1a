/* SPDX-License-Identifier: BSD-2-Clause */
/* Symbolizes kernel addresses through the kernel itself, by bpf/kernel_name.bpf.c (Linux 5.14). */
#ifndef PKBPF_CAPTURE_KERNEL_KERNEL_NAMER_H
#define PKBPF_CAPTURE_KERNEL_KERNEL_NAMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pkbpf_bpf;

/* Before the object is loaded: switches the program on where this kernel can run it. */
void kernel_namer_configure(struct pkbpf_bpf *skeleton, bool wanted);
/* After it is loaded: text as the kernel prints it, "symbol+0xoffset/0xsize [module]", or the bare
 * address where it knows no symbol. false: this kernel cannot tell. One caller at a time. */
bool kernel_namer_ask(struct pkbpf_bpf *skeleton, uint64_t address, char *text, size_t size);

#endif
