/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel does with instructions that have a probe (arch/x86/kernel/uprobes.c). */
#ifndef PKBPF_INSTRUCTION_X86_PROBE_H
#define PKBPF_INSTRUCTION_X86_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "instruction/x86_instruction.h"

/* The kernel emulates the instruction (since 3.19): it steps over all others, which takes several
 * times as long. code: its bytes. */
bool x86_probe_is_emulated(const uint8_t *code, const struct x86_instruction *instruction);
/* The kernel puts no probe on instructions with these prefixes: lock, and segments but fs and gs.
 * In a file that nobody has mapped yet it says nothing about that, and the probe never hits. */
bool x86_probe_is_refused(const uint8_t *code, size_t size);
/* The nop of five bytes, which 6.18 makes a call of: forked processes do not survive it. */
bool x86_probe_breaks_forks(const uint8_t *code, size_t size);

#endif
