/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where to put a probe near the beginning of a function: the kernel carries out some instructions
 * itself (push, jumps, nops), and lets others run step by step, which costs ten times as much, on
 * virtual machines more.
 */
#ifndef PKBPF_SOURCE_ALLOC_PROBE_PLACE_H
#define PKBPF_SOURCE_ALLOC_PROBE_PLACE_H

#include <stddef.h>
#include <stdint.h>

/* Offset of the first cheap instruction before which nothing has changed the stack pointer, memory
 * or the registers of arguments; 0: there is none near. Nops of five bytes are no place: the kernel
 * (6.18) puts calls there that forked processes do not survive. */
size_t probe_place_find(const uint8_t *code, size_t size);

#endif
