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

#define MAX_LOOKS    65536
#define MAX_SWITCHES 1024
#define PREFIX	     "runtime."

/* Properties of a function besides its stack pointer; kept in the program_size of its list
 * entry. */
enum {
	FUNCTION_TOP = 1, /* has no caller: goexit, mstart, rt0_go; or mcall */
	/* loads another stack pointer: systemstack, asmcgocall */
	FUNCTION_SP_WRITE = 2,
	FUNCTION_ASSEMBLY = 4,
	FUNCTION_FLAGS = 7,
	FUNCTION_SIGNAL = 256,	    /* rt_sigreturn; not a flag of Go */
	FUNCTION_INTERRUPTED = 512, /* caller was interrupted: return address is exact */
	FUNCTION_KIND = 1024,	    /* times enum go_switch_kind */
};

/* Functions known by name. Before Go 1.17 the records had no flags, so old_flags holds the flags
 * that 1.17 gives. */
struct known_function {
	const char *name;
	uint32_t old_flags;
	uint32_t flags;
};

#define SWITCH(kind) (FUNCTION_KIND * (kind))

static const struct known_function known_functions[] = {
	{"goexit", FUNCTION_TOP, 0},
	{"mstart", FUNCTION_TOP, 0},
	{"rt0_go", FUNCTION_TOP, 0},
	{"mcall", FUNCTION_SP_WRITE, SWITCH(GO_SWITCH_MCALL)},
	{"morestack", FUNCTION_SP_WRITE, SWITCH(GO_SWITCH_MORESTACK)},
	{"systemstack", FUNCTION_SP_WRITE, SWITCH(GO_SWITCH_SYSTEMSTACK)},
	{"asmcgocall", FUNCTION_SP_WRITE, SWITCH(GO_SWITCH_ASMCGOCALL)},
	{"cgocallback", FUNCTION_SP_WRITE, SWITCH(GO_SWITCH_CGOCALLBACK)},
	{"cgocallback_gofunc", FUNCTION_SP_WRITE, SWITCH(GO_SWITCH_CGOCALLBACK)},
	{"gogo", FUNCTION_SP_WRITE, 0},
	{"nanotime", FUNCTION_SP_WRITE, 0},
	{"nanotime1", FUNCTION_SP_WRITE, 0},
	{"walltime", FUNCTION_SP_WRITE, 0},
	{"walltime1", FUNCTION_SP_WRITE, 0},
	{"sigreturn", FUNCTION_ASSEMBLY, 0},
	{"sigpanic", 0, FUNCTION_INTERRUPTED},
	{"asyncPreempt", 0, FUNCTION_INTERRUPTED},
	{"debugCallV1", 0, FUNCTION_INTERRUPTED},
	{"debugCallV2", 0, FUNCTION_INTERRUPTED},
};

/* mov $15,%rax; syscall */
static bool returns_from_signal(const struct elf_file *file, uint64_t address)
{
	static const uint8_t expected[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
	uint8_t code[sizeof(expected)];

	return elf_file_read_address(file, address, code, sizeof(code)) == 0 &&
	       memcmp(code, expected, sizeof(expected)) == 0;
}

/* NULL: not a known function. */
static const struct known_function *find_known(const struct go_table *table,
					       const struct go_function *function)
{
	struct go_function rest = *function;

	if (!go_table_name_begins(table, function, PREFIX, sizeof(PREFIX) - 1))
		return NULL;
	rest.name += (int32_t)sizeof(PREFIX) - 1;
	for (size_t i = 0; i < ARRAY_SIZE(known_functions); i++) {
		const char *name = known_functions[i].name;

		if (go_table_name_begins(table, &rest, name, strlen(name) + 1))
			return &known_functions[i];
	}
	return NULL;
}

/* looks caps the number of file reads; the run-time and its assembly have some thousand functions
 * that need one. */
static uint32_t classify(const struct elf_file *file, const struct go_table *table,
			 const struct go_function *function, uint32_t *looks)
{
	static const char trampoline[] = PREFIX "sigtramp";
	const struct known_function *known = find_known(table, function);
	uint32_t flags = function->flags & FUNCTION_FLAGS;

	if (known)
		flags |= known->flags | (table->has_flags ? 0 : known->old_flags);
	/* Go's own tracebacks end at sigtramp, but the kernel's signal frame is above it. */
	if ((flags & FUNCTION_TOP) &&
	    go_table_name_begins(table, function, trampoline, sizeof(trampoline) - 1))
		flags &= ~(uint32_t)FUNCTION_TOP;
	if ((flags & FUNCTION_ASSEMBLY) && function->size <= 64 && (*looks)++ < MAX_LOOKS &&
	    returns_from_signal(file, function->start))
		flags |= FUNCTION_SIGNAL;
	return flags;
}

/* Pairs of a change of value and the bytes of code it holds for; a change by 0 ends them. */
struct value_run {
	struct cfi_reader reader;
	int64_t value;
	uint64_t bytes;
	bool is_started;
};

static struct value_run value_run_start(const struct go_table *table, uint32_t values)
{
	struct value_run run = {.reader = go_table_values(table), .value = -1};

	cfi_skip(&run.reader, values);
	return run;
}

static bool value_run_next(struct value_run *run)
{
	uint64_t change = cfi_read_uleb128(&run->reader);

	if ((change == 0 && run->is_started) || run->reader.failed)
		return false;
	run->is_started = true;
	change = change & 1 ? ~(change >> 1) : change >> 1;
	run->value = (int64_t)((uint64_t)run->value + change);
	run->bytes = cfi_read_uleb128(&run->reader);
	/* Never 0 in real tables. Refused, so that no function has more pairs than bytes of
	 * code. */
	return !run->reader.failed && run->bytes > 0;
}

static bool has_values(const struct go_table *table, uint32_t values)
{
	return values > 0 && values < table->values_size;
}

struct place {
	const struct go_table *table;
	uint32_t values;
};

static int64_t distance_at(void *context, uint32_t offset)
{
	const struct place *place = context;
	struct value_run run = value_run_start(place->table, place->values);
	uint64_t at = 0;

	if (!has_values(place->table, place->values))
		return -1;
	while (value_run_next(&run) && at <= offset) {
		if (offset - at < run.bytes)
			return run.value;
		at += run.bytes;
	}
	return -1;
}

static size_t read_code(const struct elf_file *file, const struct go_function *function,
			uint8_t code[GO_SWITCH_MAX_CODE])
{
	size_t size =
		function->size < GO_SWITCH_MAX_CODE ? (size_t)function->size : GO_SWITCH_MAX_CODE;

	return elf_file_read_address(file, function->start, code, size) ? 0 : size;
}

/* Tries every function of that name: all but one only call the one that switches stacks. */
static struct go_layout find_layout(const struct elf_file *file, const struct go_table *table)
{
	uint8_t code[GO_SWITCH_MAX_CODE];
	struct go_layout layout = {0};
	size_t tries = 0;

	/* A hostile file may give all its functions that name. */
	for (uint64_t i = 0; i < table->function_count && !layout.is_known && tries < MAX_SWITCHES;
	     i++) {
		struct go_function function = go_table_function(table, i);
		const struct known_function *known = find_known(table, &function);

		if (!known || known->flags != SWITCH(GO_SWITCH_SYSTEMSTACK))
			continue;
		layout = go_layout_read(code, read_code(file, &function, code), function.start);
		tries++;
	}
	return layout;
}

static int add_switch(const struct elf_file *file, struct go_pclntab *go,
		      const struct go_layout *layout, const struct go_function *function,
		      const struct fde *fde)
{
	struct place place = {&go->table, function->values};
	uint8_t bytes[GO_SWITCH_MAX_CODE];
	struct go_switch_code code = {.code = bytes, .distance = distance_at, .context = &place};
	struct go_switch *added;

	/* Each takes about a page of the run-time's assembly. */
	if (go->switches.count >= MAX_SWITCHES)
		return 0;
	added = array_add(&go->switches);
	if (!added)
		return -ENOMEM;
	added->start = fde->start;
	code.size = read_code(file, function, bytes);
	go_switch_read((enum go_switch_kind)(fde->program_size / FUNCTION_KIND), &code, layout,
		       &added->rows);
	return 0;
}

static int list_functions(const struct elf_file *file, struct go_pclntab *go, uint64_t text_start,
			  uint64_t text_size, uint32_t cie_mark, struct fde_list *list)
{
	const struct go_table *table = &go->table;
	struct go_layout layout = find_layout(file, table);
	uint32_t looks = 0;

	if (!array_reserve(list, table->function_count))
		return -ENOMEM;
	for (uint64_t i = 0; i < table->function_count; i++) {
		struct go_function function = go_table_function(table, i);
		uint64_t start = function.start - text_start;
		struct fde *fde = &list->items[list->count];
		uint32_t flags, before;

		if (function.size == 0 || start >= text_size || function.size > text_size - start)
			continue;
		flags = classify(file, table, &function, &looks);
		/* Look-ups of its address as a return address land one byte before it. */
		before = (flags & FUNCTION_SIGNAL) && start > 0;
		*fde = (struct fde){
			.start = (uint32_t)start - before,
			.size = (uint32_t)function.size + before,
			.program = function.values,
			.program_size = flags,
			.cie = cie_mark,
		};
		list->count++;
		if ((flags & FUNCTION_SP_WRITE) && !(flags & (FUNCTION_TOP | FUNCTION_SIGNAL)) &&
		    add_switch(file, go, &layout, &function, fde))
			return -ENOMEM;
	}
	return fde_list_sort(list) ? 0 : -ENOMEM;
}

int go_pclntab_load(const struct elf_file *file, uint64_t text_start, uint64_t text_size,
		    uint32_t cie_mark, struct go_pclntab *ret_go, struct fde_list *ret_functions)
{
	struct go_table *table = &ret_go->table;
	int err;

	if (file->machine != EM_X86_64 || go_table_find(file, table) ||
	    table->function_count > GO_PCLNTAB_MAX_FUNCTIONS)
		return -ENODATA;
	err = go_table_load(table, file, table->names_offset, GO_PCLNTAB_MAX_BYTES);
	if (err)
		return err == -ENOMEM ? err : -ENODATA;
	return list_functions(file, ret_go, text_start, text_size, cie_mark, ret_functions);
}

void go_pclntab_done(struct go_pclntab *go)
{
	go_table_done(&go->table);
	array_free(&go->switches);
}

static void emit_distance(uint32_t offset, int64_t distance, bool interrupts, cfi_row_fn row,
			  void *context)
{
	/* Go functions have no callee-saved registers. */
	struct pkbpf_unwind_rule rule = {.cfa = interrupts ? PKBPF_CFA_SP_INTERRUPTED
							   : PKBPF_CFA_SP,
					 .ra_offset = -8,
					 .saved = PKBPF_ALL_SAVED_UNKNOWN};

	if (distance < 0 || distance > INT32_MAX - 8) {
		rule = (struct pkbpf_unwind_rule){.cfa = PKBPF_CFA_UNSUPPORTED};
	} else {
		rule.cfa_offset = (int32_t)distance + 8;
		/* Functions with a frame first save the caller's frame pointer at the top of the
		 * frame. */
		if (distance >= 8) {
			rule.fp = PKBPF_FP_CFA;
			rule.fp_offset = -16;
		}
	}
	row(context, offset, &rule);
}

/* Emits rows from one address to another from the function's stack pointer table. */
static void run_values(const struct go_table *table, const struct fde *function, uint64_t from,
		       uint64_t to, cfi_row_fn row, void *context)
{
	struct value_run run = value_run_start(table, function->program);
	uint64_t at = function->start;

	while (at < to && value_run_next(&run)) {
		uint64_t next = run.bytes > to - at ? to : at + run.bytes;

		if (next > from)
			emit_distance((uint32_t)(at < from ? from : at), run.value,
				      function->program_size & FUNCTION_INTERRUPTED, row, context);
		at = next;
	}
	/* The table ends early: verified frame pointers unwind the rest. */
	if (at < to)
		row(context, (uint32_t)(at < from ? from : at),
		    &(struct pkbpf_unwind_rule){.cfa = PKBPF_CFA_NONE});
}

static const struct go_switch_rows *find_switch(const struct go_pclntab *go,
						const struct fde *function)
{
	if (!(function->program_size & FUNCTION_SP_WRITE))
		return NULL;
	for (size_t i = 0; i < go->switches.count; i++)
		if (go->switches.items[i].start == function->start &&
		    go->switches.items[i].rows.count > 0)
			return &go->switches.items[i].rows;
	return NULL;
}

static void run_switch(const struct go_pclntab *go, const struct fde *function,
		       const struct go_switch_rows *rows, cfi_row_fn row, void *context)
{
	uint64_t end = (uint64_t)function->start + function->size;

	for (size_t i = 0; i < rows->count; i++) {
		uint64_t from = function->start + (uint64_t)rows->items[i].offset;
		uint64_t to = i + 1 < rows->count
				      ? function->start + (uint64_t)rows->items[i + 1].offset
				      : end;

		if (from >= end)
			return;
		if (rows->items[i].is_plain)
			run_values(&go->table, function, from, to < end ? to : end, row, context);
		else
			row(context, (uint32_t)from, &rows->items[i].rule);
	}
}

void go_pclntab_run(const struct go_pclntab *go, const struct fde *function, cfi_row_fn row,
		    void *context)
{
	static const struct pkbpf_unwind_rule signal_rule = {.cfa = PKBPF_CFA_SIGNAL};
	static const struct pkbpf_unwind_rule end_rule = {.cfa = PKBPF_CFA_END};
	static const struct pkbpf_unwind_rule none_rule = {.cfa = PKBPF_CFA_NONE};
	const struct go_switch_rows *rows = find_switch(go, function);
	uint32_t flags = function->program_size;

	if (flags & FUNCTION_SIGNAL)
		row(context, function->start, &signal_rule);
	else if (flags & FUNCTION_TOP)
		row(context, function->start, &end_rule);
	else if (!has_values(&go->table, function->program))
		row(context, function->start, &none_rule);
	else if (rows)
		run_switch(go, function, rows, row, context);
	else
		run_values(&go->table, function, function->start,
			   (uint64_t)function->start + function->size, row, context);
}
