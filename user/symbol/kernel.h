/* SPDX-License-Identifier: BSD-2-Clause */
/* Kernel addresses to names through /proc/kallsyms: the kernel, its modules and BPF programs. */
#ifndef PKBPF_SYMBOL_KERNEL_H
#define PKBPF_SYMBOL_KERNEL_H

#include "base/string_pool.h"
#include "symbol/symbol_table.h"
#include "symbol/symbolizer.h"

/* Names of 512 bytes are the kernel's own limit (KSYM_NAME_LEN). */
#define KERNEL_MAX_NAME_BYTES 512
#define KERNEL_MAX_MODULES    65535

struct kernel_symbols {
	struct symbol_table table;
	char *names;
	size_t names_size, names_capacity;
	char **modules; /* [0] is the kernel image itself */
	size_t module_count, module_capacity;
	size_t lines; /* lines with an address that is not zero */
	/* Edges of the kernel's text, 0 while unknown. */
	uint64_t text_start, text_end;
	uint64_t init_start, init_end;
	uint64_t lowest_module, highest_module;
	/* What the padding symbol just read announces: the function itself is next. */
	bool after_padding;
};

/* Whole lines of kallsyms text; lines that do not parse are passed over. -ENOMEM, -ENOSPC. */
int kernel_symbols_parse(struct kernel_symbols *symbols, const char *text, size_t size);
/* Once, after the last line. */
int kernel_symbols_finish(struct kernel_symbols *symbols);
/* NULL: no symbol covers the address. *ret_module is NULL for the kernel image. Strings live as
 * long as symbols. */
const char *kernel_symbols_find(const struct kernel_symbols *symbols, uint64_t address,
				const char **ret_module);
void kernel_symbols_done(struct kernel_symbols *symbols);

/* Takes "symbol+0xoffset/0xsize [module]" apart, as kernel_namer gives it: *ret_name is the name inside text, which is
 * cut there; *ret_module NULL for the kernel image. false: no symbol. */
bool kernel_text_parse(char *text, const char **ret_name, const char **ret_module);

/* Names go to the pool; it outlives the symbolizer. The namer (NULL: none) is asked first; where it cannot be asked,
 * the file is read, at the first resolve that needs it. */
struct symbolizer *kernel_symbolizer_new(const char *kallsyms_path, const struct kernel_namer *namer,
					 struct string_pool *strings);

#endif
