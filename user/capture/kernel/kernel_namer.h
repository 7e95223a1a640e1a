/* SPDX-License-Identifier: BSD-2-Clause */
/* Symbolizes kernel addresses with the kernel's own tables, by bpf/kernel_name.bpf.c (Linux
 * 5.14). */
#ifndef PKBPF_CAPTURE_KERNEL_KERNEL_NAMER_H
#define PKBPF_CAPTURE_KERNEL_KERNEL_NAMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pkbpf_bpf;

/* Enables the program where this kernel can run it. Only before load. */
void kernel_namer_configure(struct pkbpf_bpf *skeleton, bool wanted);
/* Gives the kernel's text for an address: "symbol+0xoffset/0xsize [module]", or the bare address
 * when it has no symbol. Only after load. false: not supported by this kernel. One caller at a
 * time. */
bool kernel_namer_ask(struct pkbpf_bpf *skeleton, uint64_t address, char *text, size_t size);
/* Where the kernel's image has the function of this name (Linux 5.16). Only after load. false: it
 * has none, or cannot be asked. One caller at a time. */
bool kernel_namer_find(struct pkbpf_bpf *skeleton, const char *function, uint64_t *ret_address);

#endif
