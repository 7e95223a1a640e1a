/* SPDX-License-Identifier: BSD-2-Clause */
/* A symbolizer on paper: ranges of addresses with their names, given as a table. */
#ifndef PKBPF_TEST_FAKE_SYMBOLS_H
#define PKBPF_TEST_FAKE_SYMBOLS_H

#include "symbol/symbolizer.h"

#define FAKE_SYMBOL_LINES 3

struct fake_symbol {
	enum frame_space space;
	const char *path; /* FRAME_FILE: of the mapped file; else unused */
	uint64_t start, end;
	enum symbol_result result;
	uint32_t flags;
	struct symbol_line lines[FAKE_SYMBOL_LINES]; /* up to the first without function */
};

/* A row of a function in a mapped file. */
#define FAKE_FUNCTION(file, from, to, name)                                                        \
	{                                                                                          \
		.space = FRAME_FILE, .path = (file), .start = (from), .end = (to), .lines = {      \
			{.function = (name)}                                                       \
		}                                                                                  \
	}

/*
 * symbols outlives the symbolizer. What no row covers is SYMBOL_NOT_IN_TABLE in a file (module:
 * last part of its path), SYMBOL_NO_PERF_MAP in anonymous memory, SYMBOL_NO_KALLSYMS in the kernel,
 * SYMBOL_UNMAPPED elsewhere. Aborts the test program when out of memory.
 */
struct symbolizer *fake_symbols_new(const struct fake_symbol *symbols, size_t count,
				    struct process_table *processes);
/* How often it was asked. */
size_t fake_symbols_asked(const struct symbolizer *symbolizer);

#endif
