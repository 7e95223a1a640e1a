/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The call frame information of an ELF file as a list of functions, each of which can be turned
 * into rows.
 *
 * Sources, in order: section .eh_frame, else what PT_GNU_EH_FRAME points to; then, for functions
 * that touch none of the former, the table of the Go run-time, and .debug_frame (hand-written
 * assembly).
 *
 * Bounds on hostile files: the caps below; functions outside executable PT_LOADs are dropped; every
 * program is read once, so rows <= bytes of the sections + 1 per function; nothing here is worse
 * than linear but for one binary search among CIEs per function.
 */
#ifndef PKBPF_UNWIND_CFI_EH_FRAME_H
#define PKBPF_UNWIND_CFI_EH_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "unwind/cfi/cfi_program.h"
#include "elf/elf_file.h"
#include "unwind/cfi/fde_list.h"

#define EH_FRAME_MAX_SECTION_BYTES (256U << 20)
#define EH_FRAME_MAX_FUNCTIONS	   (4U << 20)
#define EH_FRAME_MAX_CIES	   (1U << 17)
#define EH_FRAME_MAX_TEXT_BYTES	   (UINT64_C(1) << 32)
/* And text at most this many times as large as the file, so that a small file cannot make a large
 * table. */
#define EH_FRAME_MAX_TEXT_RATIO 16
/* Beside this: linker scripts put pieces of a small program megabytes apart. */
#define EH_FRAME_MIN_TEXT_LIMIT (UINT64_C(16) << 20)

struct eh_frame;

/* -ENODATA: no executable segment, or a Go program whose functions are not understood; -EFBIG;
 * -ENOMEM. There may be no function at all. The file may go afterwards. */
int eh_frame_load(const struct elf_file *file, struct eh_frame **ret_frame, struct error *error);
void eh_frame_free(struct eh_frame *frame);

const struct cfi_machine *eh_frame_machine(const struct eh_frame *frame);
/* ELF address that function starts and row offsets count from, page-aligned; and the bytes after
 * it. */
uint64_t eh_frame_text_start(const struct eh_frame *frame);
uint64_t eh_frame_text_size(const struct eh_frame *frame);
/* Not fewer rows than this make a good first guess of memory. */
size_t eh_frame_expected_rows(const struct eh_frame *frame);
uint64_t eh_frame_dropped_count(const struct eh_frame *frame);

/* Ordered, without overlap. */
size_t eh_frame_count(const struct eh_frame *frame);
const struct fde *eh_frame_function(const struct eh_frame *frame, size_t index);
enum eh_frame_source { EH_FRAME_SECTION, EH_FRAME_DEBUG_SECTION, EH_FRAME_GO };
enum eh_frame_source eh_frame_source(const struct eh_frame *frame, size_t index);
/* A signal trampoline; its start is one byte before the code, where look-ups of return addresses
 * land. */
bool eh_frame_is_signal(const struct eh_frame *frame, size_t index);
/* Calls row for each row of a function, the first one at its start. */
void eh_frame_run(const struct eh_frame *frame, size_t index, cfi_row_fn row, void *context);

#endif
