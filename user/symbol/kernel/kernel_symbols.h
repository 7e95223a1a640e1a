/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's list of its symbols, /proc/kallsyms, as a table of functions. */
#ifndef PKBPF_SYMBOL_KERNEL_KERNEL_SYMBOLS_H
#define PKBPF_SYMBOL_KERNEL_KERNEL_SYMBOLS_H

#include "symbol/symbol_table.h"

/* Names of 512 bytes are the kernel's own limit (KSYM_NAME_LEN). */
#define KERNEL_MAX_NAME_BYTES 512
#define KERNEL_MAX_MODULES    65535

/* Kernels built with padding in front of functions list it as a symbol of its own. */
#define KERNEL_PADDING_PREFIX	   "__pfx_"
#define KERNEL_PADDING_PREFIX_SIZE (sizeof(KERNEL_PADDING_PREFIX) - 1)

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
/* The whole file, finished; a negative errno leaves symbols empty. */
int kernel_symbols_read(struct kernel_symbols *symbols, const char *path);
void kernel_symbols_done(struct kernel_symbols *symbols);

#endif
