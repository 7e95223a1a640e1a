// SPDX-License-Identifier: BSD-2-Clause
/* Feeds ELF files with damaged DWARF to the reader of lines and inlined functions. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/dwarf/dwarf_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct debug_file_search search = {.root = "", .debug_dir = "", .path = ""};
	struct symbol_line found[DWARF_LINES_MAX_DEPTH];
	struct dwarf_budget budget = DWARF_BUDGET_FULL;
	static int fd = -1;
	struct string_pool *strings;
	struct dwarf_lines *lines;

	if (fd < 0)
		fd = memfd_create("dwarf", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	lines = dwarf_lines_open(fd, &search, true, &budget);
	if (!lines)
		return 0;
	strings = string_pool_new();
	for (uint64_t address = 0; address < 0x400; address += 3) {
		struct dwarf_query query = {.address = address, .inlines = true, .lines = true};
		size_t count = dwarf_lines_find(lines, &query, strings, found);

		if (count > DWARF_LINES_MAX_DEPTH)
			abort();
		for (size_t i = 0; i < count; i++)
			if (!found[i].function)
				abort();
	}
	string_pool_free(strings);
	dwarf_lines_free(lines);
	return 0;
}
