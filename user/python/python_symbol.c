// SPDX-License-Identifier: BSD-2-Clause
/* Looks through exported symbols, or those of interpreters that are linked statically. */
#include "python/python_symbol.h"

#include <string.h>

/* Symbols that are looked at: more than any interpreter exports. */
#define MAX_SYMBOLS (1U << 20)

bool python_symbol_find(const struct elf_file *file, uint8_t type, const char *name,
			uint64_t min_size, struct elf_symbol *ret_symbol)
{
	struct elf_symbol_reader reader;
	struct elf_symbol symbol;
	bool found = false;

	if (elf_symbol_reader_open(file, SHT_DYNSYM, &reader) &&
	    elf_symbol_reader_open(file, SHT_SYMTAB, &reader))
		return false;
	for (uint32_t i = 0; i < MAX_SYMBOLS && !found && elf_symbol_reader_next(&reader, &symbol);
	     i++) {
		char text[32];

		/* Names are read of the few symbols that can be it. */
		found = symbol.type == type && symbol.section != SHN_UNDEF &&
			symbol.size >= min_size &&
			!elf_strings_read(&reader.strings, file, symbol.name, text, sizeof(text)) &&
			!strcmp(text, name);
	}
	elf_symbol_reader_close(&reader);
	if (found)
		*ret_symbol = symbol;
	return found;
}
