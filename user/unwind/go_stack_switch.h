/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unwind rows of the functions of Go's run-time that leave one stack for another, from their
 * instructions: where the thread keeps its goroutine, and where that keeps its stack pointer,
 * differs by version and by how the program was linked.
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
	GO_SWITCH_OTHER, /* vDSO callers and what is not known: a frame, or nothing */
	GO_SWITCH_SYSTEMSTACK,
	GO_SWITCH_MORESTACK,
	GO_SWITCH_ASMCGOCALL,
	GO_SWITCH_CGOCALLBACK,
	GO_SWITCH_MCALL, /* never comes back: nothing belongs to the goroutine from then on */
	GO_SWITCH_KINDS,
};

#define GO_SWITCH_MAX_ROWS 8
#define GO_SWITCH_MAX_CODE 1024

/* Where the run-time's structures have what leads from a thread to its goroutine's stack. */
struct go_layout {
	/* Of the thread's g from its thread pointer, or the address of a word that says so. */
	int32_t thread_g;
	bool thread_g_is_address;
	uint8_t g_m;		    /* in words */
	int16_t m_curg, g_sched_sp; /* bytes */
	bool is_known;
};

/* From offset in the function to the next row's. */
struct go_switch_row {
	uint32_t offset;
	bool is_plain; /* the function's own table is right here */
	struct pkbpf_unwind_rule rule;
};

struct go_switch_rows {
	struct go_switch_row items[GO_SWITCH_MAX_ROWS];
	size_t count; /* 0: it never writes its stack pointer */
};

/* address: of the code, as linked. From the code of runtime.systemstack; is_known says whether it
 * was understood. */
struct go_layout go_layout_read(const uint8_t *code, size_t size, uint64_t address);

/* The distance of the stack pointer from the return address at an offset of the function, by its
 * table; negative: it does not say. */
typedef int64_t (*go_distance_fn)(void *context, uint32_t offset);

struct go_switch_code {
	const uint8_t *code;
	size_t size;
	go_distance_fn distance;
	void *context;
};

/* The first row is at offset 0 if there is any. */
void go_switch_read(enum go_switch_kind kind, const struct go_switch_code *code,
		    const struct go_layout *layout, struct go_switch_rows *ret_rows);

#endif
