// SPDX-License-Identifier: BSD-2-Clause
/* Chooses how the rows of a piece of HotSpot's code are made. */
#include "unwind/hotspot/hotspot_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/hotspot/hotspot_rows_private.h"

struct hotspot_rows *hotspot_rows_new(void)
{
	struct hotspot_rows *rows = calloc(1, sizeof(*rows));

	if (!rows)
		return NULL;
	rows->undescribed = undescribed_code_new();
	if (!rows->undescribed) {
		free(rows);
		return NULL;
	}
	return rows;
}

void hotspot_rows_free(struct hotspot_rows *rows)
{
	if (!rows)
		return;
	code_walk_free(&rows->walk);
	undescribed_code_free(rows->undescribed);
	array_free(&rows->starts);
	free(rows->bytes);
	free(rows);
}

struct hotspot_rows_counts hotspot_rows_counts(const struct hotspot_rows *rows)
{
	return rows->counts;
}

struct pkbpf_unwind_rule hotspot_rule_leaf(void)
{
	return (struct pkbpf_unwind_rule){.cfa = PKBPF_CFA_SP, .cfa_offset = 8, .ra_offset = -8};
}

struct pkbpf_unwind_rule hotspot_rule_frame_pointer(void)
{
	return (struct pkbpf_unwind_rule){
		.cfa = PKBPF_CFA_FP,
		.cfa_offset = 16,
		.fp = PKBPF_FP_CFA,
		.fp_offset = -16,
		.ra_offset = -8,
		.saved = PKBPF_ALL_SAVED_UNKNOWN,
	};
}

struct pkbpf_unwind_rule hotspot_rule_unknown(void)
{
	return (struct pkbpf_unwind_rule){.cfa = PKBPF_CFA_UNSUPPORTED};
}

struct pkbpf_unwind_rule hotspot_rule_jump(uint8_t stack_pointer, uint8_t address)
{
	return (struct pkbpf_unwind_rule){
		.cfa = PKBPF_CFA_JUMP,
		.aux = x86_dwarf_register(stack_pointer),
		.fp_offset = x86_dwarf_register(X86_RBP),
		.ra_offset = x86_dwarf_register(address),
	};
}

struct pkbpf_unwind_rule hotspot_rule_sender(uint8_t stack_pointer)
{
	return (struct pkbpf_unwind_rule){
		.cfa = PKBPF_CFA_REGISTER,
		.aux = x86_dwarf_register(stack_pointer),
		.ra = PKBPF_RA_AT_REGISTER,
		.ra_offset = PKBPF_RA_AT(x86_dwarf_register(X86_RSP), 0),
	};
}

void hotspot_rows_give(struct hotspot_rows *rows, size_t at, const struct pkbpf_unwind_rule *rule)
{
	uint64_t header = rows->blob->code_begin - rows->blob->start;

	/* Instructions may overlap in code that is none. */
	if (rows->gave && (at < rows->last_at || memcmp(&rows->last, rule, sizeof(*rule)) == 0))
		return;
	/* Nothing executes in the header. */
	rows->row(rows->context, rows->gave && at ? (uint32_t)(header + at) : 0, rule);
	rows->gave = true;
	rows->last_at = at;
	rows->last = *rule;
}

static void give_one(struct hotspot_rows *rows, struct pkbpf_unwind_rule rule)
{
	hotspot_rows_give(rows, 0, &rule);
}

static int make_with_code(struct hotspot_rows *rows)
{
	switch (rows->blob->kind) {
	case HOTSPOT_NMETHOD:
	case HOTSPOT_NATIVE_WRAPPER:
		return hotspot_rows_of_compiled(rows);
	case HOTSPOT_ADAPTER:
		hotspot_rows_of_adapter(rows);
		return 0;
	case HOTSPOT_STUB_ROUTINES:
		return hotspot_rows_of_stubs(rows);
	default:
		return rows->blob->frame_words ? hotspot_rows_of_framed(rows)
					       : hotspot_rows_of_stubs(rows);
	}
}

int hotspot_rows_make(struct hotspot_rows *rows, const struct hotspot_blob *blob,
		      const struct hotspot_rows_hints *hints, cfi_row_fn row, void *context)
{
	rows->blob = blob;
	rows->hints = hints;
	rows->code = blob->code;
	rows->size = blob->code_end - blob->code_begin;
	rows->row = row;
	rows->context = context;
	rows->gave = false;
	if (blob->kind == HOTSPOT_INTERPRETER)
		hotspot_rows_of_interpreter(rows);
	else if (blob->kind == HOTSPOT_VTABLE || blob->kind == HOTSPOT_SIGNATURE_HANDLERS)
		give_one(rows, hotspot_rule_leaf());
	else if (blob->kind == HOTSPOT_METHOD_HANDLES)
		give_one(rows, hotspot_rule_sender(13));
	else if (rows->code && rows->size)
		return make_with_code(rows);
	else
		give_one(rows, hotspot_rule_unknown());
	return 0;
}
