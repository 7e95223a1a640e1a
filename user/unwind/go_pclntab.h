/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwind rows of Go functions from the run-time's own table (.gopclntab), which every Go program
 * carries, stripped or not. For each instruction the table has the distance of the stack pointer
 * from the top of the frame.
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

/* A function that switches stacks. */
struct go_switch {
	uint32_t start; /* as in the function list */
	struct go_switch_rows rows;
};

struct go_pclntab {
	struct go_table table;
	ARRAY_OF(struct go_switch) switches;
};

/*
 * Fills an ordered list with the functions of the table; their starts count from text_start and
 * their cie is cie_mark. Functions outside [0, text_size) are left out. -ENODATA: not a Go program,
 * or an unknown table format; -ENOMEM. The caller frees the table with go_pclntab_done() in every
 * case.
 */
int go_pclntab_load(const struct elf_file *file, uint64_t text_start, uint64_t text_size,
		    uint32_t cie_mark, struct go_pclntab *ret_table,
		    struct fde_list *ret_functions);
void go_pclntab_done(struct go_pclntab *go);
/* Like cfi_program_run(). Rows <= bytes of the function's entry in the table, and <= its bytes of
 * code. */
void go_pclntab_run(const struct go_pclntab *go, const struct fde *function, cfi_row_fn row,
		    void *context);

#endif
