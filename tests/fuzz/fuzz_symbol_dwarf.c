// SPDX-License-Identifier: BSD-2-Clause
/* Feeds ELF files with damaged DWARF to the readers of lines and inlined functions: at addresses,
 * and of all copies of functions. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf/elf_program.h"
#include "symbol/dwarf/dwarf_lines.h"
#include "symbol/dwarf/inlined_copies.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool mean_all(void *context, const char *name, char *ret_name)
{
	(void)context;
	snprintf(ret_name, INLINED_NAME_BYTES, "%s", name);
	return true;
}

static void find_copies(int fd)
{
	struct dwarf_budget budget = DWARF_BUDGET_FULL;
	struct inlined_functions functions = {0};
	struct elf_file *file;

	if (elf_program_open(fd, &file))
		return;
	inlined_copies_find(file, &budget, mean_all, NULL, &functions);
	array_foreach(&functions.items, function)
		if (!function->copies || !memchr(function->name, '\0', INLINED_NAME_BYTES))
			abort();
	array_free(&functions.items);
	elf_program_free(file);
}

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
	find_copies(fd);
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
