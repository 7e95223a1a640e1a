/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwind rows of the functions of Go's run-time that switch stacks, from their instructions. The
 * place of the goroutine in the thread, and of its saved stack pointer in the goroutine, depend on
 * the version and on how the program was linked.
 *
 * Source: src/runtime/asm_amd64.s of Go 1.5 to 1.25.
 */
#ifndef PKBPF_UNWIND_GO_STACK_SWITCH_H
#define PKBPF_UNWIND_GO_STACK_SWITCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pkbpf/unwind.h>

enum go_switch_kind {
	GO_SWITCH_OTHER, /* vDSO callers, unknown functions: rows need a frame pointer */
	GO_SWITCH_SYSTEMSTACK,
	GO_SWITCH_MORESTACK,
	GO_SWITCH_ASMCGOCALL,
	GO_SWITCH_CGOCALLBACK,
	GO_SWITCH_MCALL, /* never returns; no frame belongs to the goroutine from then on */
	GO_SWITCH_KINDS,
};

#define GO_SWITCH_MAX_ROWS 8
#define GO_SWITCH_MAX_CODE 1024

/* Offsets in the run-time's structures that lead from a thread to its goroutine's stack. */
struct go_layout {
	/* Offset of the thread's g from its thread pointer, or the address of a word that holds the
	 * offset. */
	int32_t thread_g;
	bool thread_g_is_address;
	uint8_t g_m;		    /* in words */
	int16_t m_curg, g_sched_sp; /* bytes */
	bool is_known;
};

/* Holds from an offset in the function up to the next row. */
struct go_switch_row {
	uint32_t offset;
	bool is_plain; /* the function's own table is right here */
	struct pkbpf_unwind_rule rule;
};

struct go_switch_rows {
	struct go_switch_row items[GO_SWITCH_MAX_ROWS];
	size_t count; /* 0: the function never writes its stack pointer */
};

/* Reads the layout from the code of runtime.systemstack; address: of the code, as linked. is_known
 * tells whether the code was understood. */
struct go_layout go_layout_read(const uint8_t *code, size_t size, uint64_t address);

/* Returns the distance of the stack pointer from the return address at an offset of the function,
 * by its table; negative: unknown. */
typedef int64_t (*go_distance_fn)(void *context, uint32_t offset);

struct go_switch_code {
	const uint8_t *code;
	size_t size;
	go_distance_fn distance;
	void *context;
};

/* The first row, if there is any, is at offset 0. */
void go_switch_read(enum go_switch_kind kind, const struct go_switch_code *code,
		    const struct go_layout *layout, struct go_switch_rows *ret_rows);

#endif
