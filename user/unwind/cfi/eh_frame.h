/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The call frame information of an ELF file as a list of functions; eh_frame_run() turns each into
 * unwind rows.
 *
 * Sources, in order: section .eh_frame, else the target of PT_GNU_EH_FRAME. Functions that overlap
 * none of these come from the Go run-time's table, then from .debug_frame (hand-written assembly).
 *
 * Bounds on hostile files: the caps below; functions outside executable PT_LOADs are dropped; each
 * program is read once, so rows <= bytes of the sections + 1 per function. All work is linear,
 * except one binary search among CIEs per function.
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
/* Text is capped at this many times the file size, so that a small file cannot cause a large
 * table. */
#define EH_FRAME_MAX_TEXT_RATIO 16
/* Added to that cap: linker scripts place parts of a small program megabytes apart. */
#define EH_FRAME_MIN_TEXT_LIMIT (UINT64_C(16) << 20)

struct eh_frame;

/* -ENODATA: no executable segment, or a Go program with an unknown function table format; -EFBIG;
 * -ENOMEM. The list of functions may be empty. The file may be closed afterwards. */
int eh_frame_load(const struct elf_file *file, struct eh_frame **ret_frame, struct error *error);
void eh_frame_free(struct eh_frame *frame);

const struct cfi_machine *eh_frame_machine(const struct eh_frame *frame);
/* Function starts and row offsets count from this page-aligned ELF address. The size is the bytes
 * of text that follow it. */
uint64_t eh_frame_text_start(const struct eh_frame *frame);
uint64_t eh_frame_text_size(const struct eh_frame *frame);
/* Estimated number of rows, for the initial allocation. */
size_t eh_frame_expected_rows(const struct eh_frame *frame);
uint64_t eh_frame_dropped_count(const struct eh_frame *frame);

/* Functions are ordered and do not overlap. */
size_t eh_frame_count(const struct eh_frame *frame);
const struct fde *eh_frame_function(const struct eh_frame *frame, size_t index);
enum eh_frame_source { EH_FRAME_SECTION, EH_FRAME_DEBUG_SECTION, EH_FRAME_GO };
enum eh_frame_source eh_frame_source(const struct eh_frame *frame, size_t index);
/* The function is a signal trampoline. Its start is one byte before the code, where look-ups of
 * return addresses land. */
bool eh_frame_is_signal(const struct eh_frame *frame, size_t index);
/* Calls row for each row of a function; the first is at the function's start. */
void eh_frame_run(const struct eh_frame *frame, size_t index, cfi_row_fn row, void *context);

#endif
