/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwind rows of Go functions from the run-time's own table (.gopclntab), which every Go program
 * carries, stripped or not: the distance of the stack pointer from the frame's top for each
 * instruction.
 *
 * Format: src/runtime/symtab.go (pcvalue) of Go, x86-64.
 */
#ifndef PKBPF_UNWIND_GO_PCLNTAB_H
#define PKBPF_UNWIND_GO_PCLNTAB_H

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "elf/go_table.h"
#include "unwind/cfi/cfi_program.h"
#include "unwind/cfi/fde_list.h"
#include "unwind/go_stack_switch.h"

#define GO_PCLNTAB_MAX_BYTES	 (512U << 20)
#define GO_PCLNTAB_MAX_FUNCTIONS (4U << 20)

/* One function that changes stacks. */
struct go_switch {
	uint32_t start; /* as in the list of functions */
	struct go_switch_rows rows;
};

struct go_pclntab {
	struct go_table table;
	ARRAY_OF(struct go_switch) switches;
};

/* -ENODATA: no Go program, or a table of another format; -ENOMEM. Fills an ordered list with its
 * functions, whose starts count from text_start and whose cie is cie_mark; those outside [0,
 * text_size) are left out. The caller frees the table with go_pclntab_done(), whatever is
 * returned. */
int go_pclntab_load(const struct elf_file *file, uint64_t text_start, uint64_t text_size,
		    uint32_t cie_mark, struct go_pclntab *ret_table,
		    struct fde_list *ret_functions);
void go_pclntab_done(struct go_pclntab *go);
/* As cfi_program_run(); rows <= bytes of the function's entry in the table, and no more than its
 * bytes of code. */
void go_pclntab_run(const struct go_pclntab *go, const struct fde *function, cfi_row_fn row,
		    void *context);

#endif
