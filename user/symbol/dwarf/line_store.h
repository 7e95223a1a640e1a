/* SPDX-License-Identifier: BSD-2-Clause */
/* The lines of symbols, kept as long as the symbolizer lives. Most addresses share theirs with the
 * others of a function. */
#ifndef PKBPF_SYMBOL_DWARF_LINE_STORE_H
#define PKBPF_SYMBOL_DWARF_LINE_STORE_H

#include "symbol/symbolizer.h"

struct line_store;

struct line_store *line_store_new(void);
void line_store_free(struct line_store *store);
/*
 * A copy of these lines (count > 0) that never moves: the same one for the same lines, whose
 * strings are compared by their addresses and not copied. NULL: out of memory.
 */
const struct symbol_line *line_store_add(struct line_store *store, const struct symbol_line *lines,
					 size_t count);

#endif
