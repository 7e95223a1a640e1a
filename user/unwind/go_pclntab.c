// SPDX-License-Identifier: BSD-2-Clause
/* Reads the function and stack pointer tables of Go programs. */
#include "unwind/go_pclntab.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "elf/cfi_reader.h"

#define MAX_LOOKS 65536

/* What a function says besides its stack pointer; kept in the program_size of its entry in the
 * list. */
enum {
	FUNCTION_TOP = 1, /* nothing called it: goexit, mstart, rt0_go; or mcall */
	/* puts something else into the stack pointer: systemstack, asmcgocall */
	FUNCTION_SP_WRITE = 2,
	FUNCTION_ASSEMBLY = 4,
	FUNCTION_SIGNAL = 256, /* rt_sigreturn; ours */
};

/* mov $15,%rax; syscall */
static bool returns_from_signal(const struct elf_file *file, uint64_t address)
{
	static const uint8_t expected[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
	uint8_t code[sizeof(expected)];

	return elf_file_read_address(file, address, code, sizeof(code)) == 0 &&
	       memcmp(code, expected, sizeof(expected)) == 0;
}

/* Before Go 1.17 only the run-time itself knew, by name; what is 0 then in records is flags
 * of 1.17. */
static uint32_t flags_by_name(const struct elf_file *file, const struct go_table *table,
			      const struct go_function *function)
{
	static const struct {
		const char *name;
		uint32_t flags;
	} known[] = {
		{"runtime.goexit", FUNCTION_TOP},
		{"runtime.mstart", FUNCTION_TOP},
		{"runtime.rt0_go", FUNCTION_TOP},
		{"runtime.mcall", FUNCTION_SP_WRITE | FUNCTION_ASSEMBLY},
		{"runtime.morestack", FUNCTION_SP_WRITE},
		{"runtime.systemstack", FUNCTION_SP_WRITE},
		{"runtime.asmcgocall", FUNCTION_SP_WRITE},
		{"runtime.sigreturn", FUNCTION_ASSEMBLY},
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (go_table_name_begins(table, file, function, known[i].name,
					 strlen(known[i].name) + 1))
			return known[i].flags;
	return 0;
}

/* Each look costs a read; the run-time and its assembly have some thousand such functions. */
static uint32_t classify(const struct elf_file *file, const struct go_table *table,
			 const struct go_function *function, uint32_t *looks)
{
	uint32_t flags =
		function->flags | (table->has_flags ? 0 : flags_by_name(file, table, function));

	flags &= FUNCTION_TOP | FUNCTION_SP_WRITE | FUNCTION_ASSEMBLY;
	if (!(flags & (FUNCTION_TOP | FUNCTION_ASSEMBLY)) || (*looks)++ >= MAX_LOOKS)
		return flags;
	/* sigtramp ends Go's own tracebacks, but the kernel put a signal frame above it. */
	if ((flags & FUNCTION_TOP) &&
	    go_table_name_begins(table, file, function, "runtime.sigtramp",
				 sizeof("runtime.sigtramp") - 1))
		flags &= ~(uint32_t)FUNCTION_TOP;
	/* mcall never comes back: what the thread does then is for no goroutine. The one that
	 * called it may have exited, or run on another thread by now, and its stack holds other
	 * frames. */
	if ((flags & FUNCTION_SP_WRITE) &&
	    go_table_name_begins(table, file, function, "runtime.mcall", sizeof("runtime.mcall")))
		flags |= FUNCTION_TOP;
	if ((flags & FUNCTION_ASSEMBLY) && function->size <= 64 &&
	    returns_from_signal(file, function->start))
		flags |= FUNCTION_SIGNAL;
	return flags;
}

static int list_functions(const struct elf_file *file, const struct go_table *table,
			  uint64_t text_start, uint64_t text_size, uint32_t cie_mark,
			  struct fde_list *list)
{
	uint32_t looks = 0;

	if (!array_reserve(list, table->function_count))
		return -ENOMEM;
	for (uint64_t i = 0; i < table->function_count; i++) {
		struct go_function function = go_table_function(table, i);
		uint64_t start = function.start - text_start;
		uint32_t flags, before;

		if (function.size == 0 || start >= text_size || function.size > text_size - start)
			continue;
		flags = classify(file, table, &function, &looks);
		/* Look-ups of its address as a return address. */
		before = (flags & FUNCTION_SIGNAL) && start > 0;
		list->items[list->count++] = (struct fde){
			.start = (uint32_t)start - before,
			.size = (uint32_t)function.size + before,
			.program = function.values,
			.program_size = flags,
			.cie = cie_mark,
		};
	}
	return fde_list_sort(list) ? 0 : -ENOMEM;
}

int go_pclntab_load(const struct elf_file *file, uint64_t text_start, uint64_t text_size,
		    uint32_t cie_mark, struct go_table *ret_table, struct fde_list *ret_functions)
{
	int err;

	if (file->machine != EM_X86_64 || go_table_find(file, ret_table) ||
	    ret_table->function_count > GO_PCLNTAB_MAX_FUNCTIONS)
		return -ENODATA;
	err = go_table_load(ret_table, file,
			    ret_table->has_flags ? ret_table->values_offset
						 : ret_table->names_offset,
			    GO_PCLNTAB_MAX_BYTES);
	if (err)
		return err == -ENOMEM ? err : -ENODATA;
	return list_functions(file, ret_table, text_start, text_size, cie_mark, ret_functions);
}

static void emit_distance(uint32_t offset, int64_t distance, cfi_row_fn row, void *context)
{
	struct pkbpf_unwind_rule rule = {.cfa = PKBPF_CFA_SP, .ra_offset = -8};

	if (distance < 0 || distance > INT32_MAX - 8) {
		rule = (struct pkbpf_unwind_rule){.cfa = PKBPF_CFA_UNSUPPORTED};
	} else {
		rule.cfa_offset = (int32_t)distance + 8;
		/* Functions with a frame save the caller's frame pointer at its top before anything
		 * else. */
		if (distance >= 8) {
			rule.fp = PKBPF_FP_CFA;
			rule.fp_offset = -16;
		}
	}
	row(context, offset, &rule);
}

/* Pairs of a change of value and the bytes of code it holds for; a change by 0 ends them. */
static void run_values(const struct go_table *table, const struct fde *function, cfi_row_fn row,
		       void *context)
{
	struct cfi_reader reader = go_table_values(table);
	uint64_t end = (uint64_t)function->start + function->size;
	uint64_t at = function->start;
	int64_t value = -1;
	bool is_first = true;

	cfi_skip(&reader, function->program);
	while (at < end) {
		uint64_t change = cfi_read_uleb128(&reader);
		uint64_t bytes;

		if ((change == 0 && !is_first) || reader.failed)
			break;
		change = change & 1 ? ~(change >> 1) : change >> 1;
		value = (int64_t)((uint64_t)value + change);
		bytes = cfi_read_uleb128(&reader);
		/* Never 0 in real tables; refused so that no function reads more than its bytes of
		 * code. */
		if (reader.failed || bytes == 0)
			break;
		emit_distance((uint32_t)at, value, row, context);
		is_first = false;
		if (bytes > end - at)
			return;
		at += bytes;
	}
	/* Nothing is known of the rest: validated frame pointers. */
	if (at < end)
		row(context, (uint32_t)at, &(struct pkbpf_unwind_rule){.cfa = PKBPF_CFA_NONE});
}

void go_pclntab_run(const struct go_table *table, const struct fde *function, cfi_row_fn row,
		    void *context)
{
	static const struct pkbpf_unwind_rule signal_rule = {.cfa = PKBPF_CFA_SIGNAL};
	static const struct pkbpf_unwind_rule end_rule = {.cfa = PKBPF_CFA_END};
	static const struct pkbpf_unwind_rule none_rule = {.cfa = PKBPF_CFA_NONE};
	/* From the system's stack to that of the goroutine, whose frame pointer is still there. The
	 * function that switched is lost, its callers are not. */
	static const struct pkbpf_unwind_rule switch_rule = {
		.cfa = PKBPF_CFA_OTHER_STACK,
		.cfa_offset = 16,
		.fp = PKBPF_FP_FP,
		.ra_offset = -8,
	};
	uint32_t flags = function->program_size;

	if (flags & FUNCTION_SIGNAL)
		row(context, function->start, &signal_rule);
	else if (flags & FUNCTION_TOP)
		row(context, function->start, &end_rule);
	else if (flags & FUNCTION_SP_WRITE)
		row(context, function->start, &switch_rule);
	else if (function->program == 0 || function->program >= table->values_size)
		row(context, function->start, &none_rule);
	else
		run_values(table, function, row, context);
}
