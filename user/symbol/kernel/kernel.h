/* SPDX-License-Identifier: BSD-2-Clause */
/* Symbolizes kernel addresses: kernel, modules, BPF programs. */
#ifndef PKBPF_SYMBOL_KERNEL_KERNEL_H
#define PKBPF_SYMBOL_KERNEL_KERNEL_H

#include "base/string_pool.h"
#include "symbol/symbolizer.h"

/* Takes "symbol+0xoffset/0xsize [module]" apart, as kernel_namer gives it: *ret_name is the name
 * inside text, which is cut there; *ret_module NULL for the kernel image. false: no symbol. */
bool kernel_text_parse(char *text, const char **ret_name, const char **ret_module);

/* Where the symbol lies that such a text names at address. false: it does not say. */
bool kernel_text_range(const char *text, uint64_t address, uint64_t *ret_start, uint64_t *ret_size);

/* Names go to the pool; it outlives the symbolizer. The namer (NULL: none) is asked first; where it
 * cannot be asked, the file is read, at the first resolve that needs it. */
struct symbolizer *kernel_symbolizer_new(const char *kallsyms_path,
					 const struct kernel_namer *namer,
					 struct string_pool *strings);

#endif
