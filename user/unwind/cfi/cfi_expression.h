/* SPDX-License-Identifier: BSD-2-Clause */
/* Reduces DWARF expressions in call frame information to the few forms that an unwind rule can
 * hold. */
#ifndef PKBPF_UNWIND_CFI_CFI_EXPRESSION_H
#define PKBPF_UNWIND_CFI_CFI_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cfi_value_kind {
	CFI_VALUE_CONSTANT,
	CFI_VALUE_REGISTER, /* reg + offset */
	CFI_VALUE_DEREF,    /* *(reg + offset) + addend */
	CFI_VALUE_CFA,	    /* cfa + offset */
	CFI_VALUE_INDEXED,  /* *(sp + offset + 8 * reg) + addend */
	CFI_VALUE_PLT,	    /* sp + 8 + ((ip & 15) >= offset ? 8 : 0) */
};

struct cfi_value {
	enum cfi_value_kind kind;
	uint8_t reg;
	int64_t offset;
	int64_t addend;
};

/* Reduces an expression, in time linear in size; returns false for any other form. starts_with_cfa:
 * the CFA is on the stack at first, as in register rules. CFI_VALUE_PLT and CFI_VALUE_INDEXED are
 * meaningful on x86-64 only. */
bool cfi_expression_reduce(const uint8_t *data, size_t size, bool starts_with_cfa,
			   struct cfi_value *ret_value);

#endif
