/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files that make rows of HotSpot's code. Offsets are from the begin of the code. */
#ifndef PKBPF_UNWIND_HOTSPOT_HOTSPOT_ROWS_PRIVATE_H
#define PKBPF_UNWIND_HOTSPOT_HOTSPOT_ROWS_PRIVATE_H

#include <stdbool.h>

#include "instruction/x86_instruction.h"
#include "unwind/code/code_walk.h"
#include "unwind/code/undescribed_code.h"
#include "unwind/hotspot/hotspot_rows.h"

struct hotspot_rows {
	struct code_walk walk;
	struct undescribed_code *undescribed;
	struct hotspot_rows_counts counts;
	ARRAY_OF(uint32_t) starts; /* of stub routines in the blob */
	uint8_t *bytes;		   /* copy of a method whose first instruction is put back */
	size_t capacity;
	/* of the blob in progress */
	const struct hotspot_blob *blob;
	const struct hotspot_rows_hints *hints;
	const uint8_t *code;
	size_t size;
	cfi_row_fn row;
	void *context;
	struct pkbpf_unwind_rule last; /* given */
	size_t last_at;
	bool gave;
	struct x86_frame frame; /* before the next instruction */
	size_t frame_known_to;	/* of stub routines: has_frame holds at this offset */
	bool has_frame;
	int16_t thread_return; /* where in its thread a return address is */
};

/* A rule holds from an offset on; one before the last offset is ignored. */
void hotspot_rows_give(struct hotspot_rows *rows, size_t at, const struct pkbpf_unwind_rule *rule);

/* Compiled methods, native wrappers, and blobs with a frame size. Return 0 or -ENOMEM. */
int hotspot_rows_of_compiled(struct hotspot_rows *rows);
int hotspot_rows_of_framed(struct hotspot_rows *rows);
int hotspot_rows_of_stubs(struct hotspot_rows *rows);
void hotspot_rows_of_interpreter(struct hotspot_rows *rows);
void hotspot_rows_of_adapter(struct hotspot_rows *rows);

/* sp + bytes, with the caller's frame pointer in its register: a leaf. */
struct pkbpf_unwind_rule hotspot_rule_leaf(void);
/* As if a frame pointer were set up. */
struct pkbpf_unwind_rule hotspot_rule_frame_pointer(void);
struct pkbpf_unwind_rule hotspot_rule_unknown(void);
/* On the way to the caller: stack pointer and address in registers (as in instructions), frame
 * pointer in its own. */
struct pkbpf_unwind_rule hotspot_rule_jump(uint8_t stack_pointer, uint8_t address);
/* The caller's stack pointer is in a register, the return address at the top of the stack. */
struct pkbpf_unwind_rule hotspot_rule_sender(uint8_t stack_pointer);

#endif
