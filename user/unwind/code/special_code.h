/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code whose unwind rule follows from its bytes or symbol because its call frame information is
 * missing or wrong: signal trampolines, entry points, starts of threads and contexts, and PLTs
 * without CFI.
 */
#ifndef PKBPF_UNWIND_CODE_SPECIAL_CODE_H
#define PKBPF_UNWIND_CODE_SPECIAL_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "pkbpf/unwind.h"
#include "unwind/cfi/eh_frame.h"
#include "elf/elf_file.h"

struct special_code {
	uint32_t start; /* offset from the text's start */
	uint32_t size;
	struct pkbpf_unwind_rule rule;
};

struct special_code_list {
	struct special_code *items; /* ordered, without overlap */
	size_t count;
	size_t capacity;
};

/* Special code beyond this number is ignored. */
#define SPECIAL_CODE_MAX_COUNT 64
/* Cap on the bytes outside functions that are searched; 16 MiB take about 3 ms. */
#define SPECIAL_CODE_MAX_SEARCH_BYTES (16U << 20)

/* Unreadable code is not special; there is no failure. The caller frees items. */
void special_code_find(const struct elf_file *file, const struct eh_frame *frame,
		       struct special_code_list *ret_list);

#endif
