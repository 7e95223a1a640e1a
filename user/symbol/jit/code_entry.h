/* SPDX-License-Identifier: BSD-2-Clause */
/* One piece of generated code as a run-time describes it in a perf map or a jitdump. */
#ifndef PKBPF_SYMBOL_JIT_CODE_ENTRY_H
#define PKBPF_SYMBOL_JIT_CODE_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Names are cut here: HotSpot prints whole signatures. */
#define CODE_MAX_NAME_BYTES 1024

struct code_entry {
	uint64_t start;
	uint32_t size;
	const char *name; /* not NUL-terminated; NULL: that of an earlier entry, by its index */
	size_t name_size; /* 0: it has a name, which is not known */
	bool is_plain;	  /* its name is demangled */
	uint64_t time_ns; /* CLOCK_MONOTONIC, when it was generated; 0: not known */
	uint64_t index;
};

#endif
