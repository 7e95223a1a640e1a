// SPDX-License-Identifier: BSD-2-Clause
/* Makes symbols of the function table of a Go program. */
#include "symbol/elf/go_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/go_table.h"

/* Of the table at functions_offset, which ends with a start alone; offsets count from the table and
 * from the text. */
struct function {
	uint32_t start;
	uint32_t record;
};

/* The beginning of a record (_func). */
struct record {
	uint32_t start;
	int32_t name;
};

static bool is_header(const struct go_table_header *header, uint64_t size)
{
	return go_table_is_header(header, size) &&
	       (header->instruction_size == 1 || header->instruction_size == 4) &&
	       header->names_offset < header->units_offset && header->units_offset <= size;
}

/* Position-independent programs have 0 there until they are relocated; then it is where the section
 * begins, unless a C linker has put its own start-up code first. */
static bool find_text(const struct elf_file *file, uint64_t text_start, uint64_t *ret_address)
{
	const struct elf_section *text = elf_file_find_section(file, ".text");

	*ret_address = text_start ? text_start : text ? text->address : 0;
	return text_start || (text && !elf_file_find_section(file, ".init"));
}

static int add_functions(struct symbol_table *table, const struct go_table_header *header,
			 const uint8_t *data, size_t size, uint64_t text)
{
	uint64_t names_size = header->units_offset - header->names_offset;
	int err = 0;

	for (uint64_t i = 0; i < header->function_count && !err; i++) {
		struct function function, next;
		struct record record;

		memcpy(&function, data + i * sizeof(function), sizeof(function));
		memcpy(&next, data + (i + 1) * sizeof(function), sizeof(next.start));
		if (next.start <= function.start || function.record > size ||
		    size - function.record < sizeof(record))
			continue;
		memcpy(&record, data + function.record, sizeof(record));
		if (record.name > 0 && (uint64_t)record.name < names_size)
			err = symbol_table_add(table, text + function.start,
					       next.start - function.start, (uint32_t)record.name,
					       SYMBOL_RANK_LOCAL);
	}
	return err;
}

int go_symbols_read(const struct elf_file *file, struct elf_symbols *ret_symbols)
{
	const struct elf_section *section = elf_file_find_section(file, ".gopclntab");
	struct elf_symbols symbols = {0};
	_cleanup_free_ uint8_t *data = NULL;
	struct go_table_header header;
	uint64_t text;
	size_t size;
	int err;

	if (!section)
		section = elf_file_find_section(file, ".data.rel.ro.gopclntab");
	if (!section || section->size < sizeof(header) || section->size > GO_SYMBOLS_MAX_BYTES ||
	    !file->is_64 || elf_file_read(file, section->offset, &header, sizeof(header)) ||
	    !is_header(&header, section->size) || !find_text(file, header.text_start, &text))
		return -ENOENT;
	size = section->size - header.functions_offset;
	data = malloc(size);
	if (!data)
		return -ENOMEM;
	err = elf_file_read(file, section->offset + header.functions_offset, data, size);
	if (!err)
		err = add_functions(&symbols.table, &header, data, size, text);
	if (!err)
		err = symbol_table_finish(&symbols.table, NULL, 0);
	if (!err && symbols.table.count == 0)
		err = -ENOENT;
	if (err) {
		elf_symbols_done(&symbols);
		return err;
	}
	symbols.string_offset = section->offset + header.names_offset;
	symbols.string_size = header.units_offset - header.names_offset;
	*ret_symbols = symbols;
	return 0;
}
