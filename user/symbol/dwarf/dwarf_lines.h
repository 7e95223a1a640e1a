/* SPDX-License-Identifier: BSD-2-Clause */
/* Source lines and inlined functions of an address, from DWARF through libdw. */
#ifndef PKBPF_SYMBOL_DWARF_DWARF_LINES_H
#define PKBPF_SYMBOL_DWARF_DWARF_LINES_H

#include "base/string_pool.h"
#include "symbol/elf/debug_file.h"
#include "symbol/dwarf/dwarf_budget.h"
#include "symbol/symbolizer.h"

/* Functions inlined into each other at one address; the innermost are kept. */
#define DWARF_LINES_MAX_DEPTH 64

struct dwarf_lines;

/*
 * fd: an ELF file with .debug_info; duplicated, and closed after the first find, before which
 * nothing is read. search finds the file that dwz has moved shared parts to, and those of split
 * units. with_lines: queries may ask for lines, whose section is large. budget: of all files,
 * outlives this one. NULL: out of memory or descriptors.
 */
struct dwarf_lines *dwarf_lines_open(int fd, const struct debug_file_search *search,
				     bool with_lines, struct dwarf_budget *budget);
void dwarf_lines_free(struct dwarf_lines *lines);

/* Why something was not found that is not in the file, or not as it should be: "damaged"; until the
 * next call. NULL: nothing was missing so far. */
const char *dwarf_lines_missing(struct dwarf_lines *lines);

struct dwarf_query {
	uint64_t address; /* as linked */
	bool inlines;
	bool lines;	      /* only where opened with lines */
	const char *function; /* what the symbol table says; NULL: take the DWARF name */
};

/*
 * Fills ret_lines (room for DWARF_LINES_MAX_DEPTH), innermost first, the real function last, and
 * returns how many. 0: no DWARF for this address. Strings go to the pool.
 */
size_t dwarf_lines_find(struct dwarf_lines *lines, const struct dwarf_query *query,
			struct string_pool *strings, struct symbol_line *ret_lines);

#endif
