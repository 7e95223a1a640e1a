/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Watches the allocators of running processes in windows of 20 ms, about once a second: however
 * much a probe costs them, they are slower for two percent of the time at most. A thread of its
 * own.
 */
#ifndef PKBPF_SOURCE_ALLOC_ALLOC_WINDOWS_H
#define PKBPF_SOURCE_ALLOC_ALLOC_WINDOWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct log;
struct pkbpf_bpf;
struct kernel_types;
struct alloc_windows;

/* Before the programs are loaded. interval_bytes: mean distance of samples; 0: the default. */
int alloc_windows_new(struct pkbpf_bpf *skeleton, const struct kernel_types *types,
		      uint64_t interval_bytes, struct alloc_windows **ret_windows);
/* The allocators in the files that a process has mapped, and those that it maps later, which are
 * looked for before each window; warns of files beyond the limit. Returns the number of allocators,
 * or a negative errno with the sentence. */
int alloc_windows_add(struct alloc_windows *windows, uint32_t pid, const struct log *log,
		      struct error *error);
/* The programs are loaded. */
int alloc_windows_start(struct alloc_windows *windows, const struct log *log, struct error *error);
/* Ends the last window. Returns how many there were. */
uint64_t alloc_windows_stop(struct alloc_windows *windows);
void alloc_windows_free(struct alloc_windows *windows);

#endif
