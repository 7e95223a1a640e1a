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
 * or the registers of arguments; 0 if there is none near. -1: the function begins with an
 * instruction that must not have a probe, and none is near that may. */
int probe_place_find(const uint8_t *code, size_t size);

#endif
