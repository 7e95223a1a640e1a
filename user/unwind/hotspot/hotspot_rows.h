/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwind rows for the code of a HotSpot JVM: of compiled methods from their instructions, their
 * debug information and their frame size; of the interpreter and the glue between both from the
 * frames that HotSpot's assembler gives them (src/hotspot/cpu/x86: templateTable, sharedRuntime,
 * stubGenerator).
 *
 * x86-64 only. Bounds on hostile blobs: time and memory are linear in the bytes of their code, at
 * most HOTSPOT_MAX_CODE_BYTES. One thread at a time.
 */
#ifndef PKBPF_UNWIND_HOTSPOT_HOTSPOT_ROWS_H
#define PKBPF_UNWIND_HOTSPOT_HOTSPOT_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "hotspot/hotspot_process.h"
#include "unwind/cfi/cfi_program.h"

struct hotspot_rows;

struct hotspot_rows_counts {
	uint64_t calls;		 /* of compiled code, that have debug information */
	uint64_t contradictions; /* of them: the instructions lead to another frame size */
};

/* What is known of a process besides its blobs; borrowed. */
struct hotspot_rows_hints {
	const struct hotspot_codelet *codelets; /* ascending */
	size_t codelet_count;
	const uint64_t *stubs; /* entry points of stub routines, ascending */
	size_t stub_count;
};

/* NULL: out of memory. */
struct hotspot_rows *hotspot_rows_new(void);
void hotspot_rows_free(struct hotspot_rows *rows);
/* Calls row for each change of the rule in the block, first with offset 0: offsets are from
 * blob->start, and never descend; at equal offsets the last rule counts. Code without a known frame
 * gets PKBPF_CFA_UNSUPPORTED, never a frame pointer. -ENOMEM. */
int hotspot_rows_make(struct hotspot_rows *rows, const struct hotspot_blob *blob,
		      const struct hotspot_rows_hints *hints, cfi_row_fn row, void *context);
struct hotspot_rows_counts hotspot_rows_counts(const struct hotspot_rows *rows);

#endif
