/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Judges the rules of Go functions that leave their stack for another one. The program's
 * .debug_frame counts from the stack pointer all the same, so it cannot judge them: the
 * instructions before a row do.
 */
#ifndef PKBPF_TESTS_GO_SWITCH_CHECK_H
#define PKBPF_TESTS_GO_SWITCH_CHECK_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#include "elf/elf_file.h"
#include "pkbpf/unwind.h"

/* Kinds that no other row of a Go function has. */
bool is_go_switch(const struct pkbpf_unwind_rule *rule);
/* NULL: right. For the row at an address of a function at another one, in a file with a
 * .debug_frame. */
const char *go_switch_check(const struct elf_file *image, Dwarf_CFI *debug_frame, uint64_t function,
			    uint64_t address, const struct pkbpf_unwind_rule *rule);

#endif
