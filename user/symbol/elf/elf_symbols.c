// SPDX-License-Identifier: BSD-2-Clause
/* Reads an ELF symbol table piece by piece and keeps what names code. */
#include "symbol/elf/elf_symbols.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* Executable sections whose ends bound symbols without a size; more belong to no linked program. */
#define MAX_RANGES 64U
/* Aliases compared for the best name. */
#define MAX_ALIASES 64U

static bool is_code_section(const struct elf_file *file, uint16_t section)
{
	return section < file->section_count && (file->sections[section].flags & SHF_EXECINSTR);
}

/*
 * ARM's linkers mark where code ($x, $a, $t) and data ($d) begin within a section, perhaps followed
 * by a dot and anything (ELF for the Arm 64-bit Architecture, "Mapping symbols"): names of nothing.
 */
static bool is_mapping_symbol(const struct elf_file *file, const struct elf_strings *names,
			      const struct elf_symbol *symbol)
{
	char name[4];

	if ((file->machine != EM_AARCH64 && file->machine != EM_ARM) ||
	    symbol->binding != STB_LOCAL ||
	    elf_strings_read(names, file, symbol->name, name, sizeof(name)))
		return false;
	return name[0] == '$' && name[1] && strchr("xatd", name[1]) && (!name[2] || name[2] == '.');
}

static int add_symbol(const struct elf_file *file, const struct elf_symbol *symbol,
		      const struct elf_strings *names, struct symbol_table *table)
{
	enum symbol_rank rank = SYMBOL_RANK_LABEL;
	uint64_t address = symbol->address;

	if (symbol->section == SHN_UNDEF || symbol->name == 0 || symbol->name >= names->size)
		return 0;
	if (symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC)
		rank = symbol->binding == STB_LOCAL ? SYMBOL_RANK_LOCAL : SYMBOL_RANK_EXPORTED;
	else if (symbol->type != STT_NOTYPE || !is_code_section(file, symbol->section) ||
		 is_mapping_symbol(file, names, symbol))
		return 0;
	/* The lowest bit of an ARM function says Thumb. */
	if (file->machine == EM_ARM && rank != SYMBOL_RANK_LABEL)
		address &= ~1ULL;
	return symbol_table_add(table, address, symbol->size, symbol->name, rank);
}

static size_t collect_code_ranges(const struct elf_file *file, struct symbol_range *ranges)
{
	size_t count = 0;

	for (size_t i = 0; i < file->section_count && count < MAX_RANGES; i++) {
		const struct elf_section *section = &file->sections[i];

		if ((section->flags & SHF_EXECINSTR) &&
		    section->address + section->size > section->address)
			ranges[count++] = (struct symbol_range){section->address,
								section->address + section->size};
	}
	for (size_t i = 0; i < file->segments.count && file->section_count == 0; i++) {
		const struct elf_segment *segment = &file->segments.items[i];

		if (elf_segment_is_code(segment) && count < MAX_RANGES)
			ranges[count++] = (struct symbol_range){
				segment->address, segment->address + segment->file_size};
	}
	return count;
}

/* Variables; those without a size cover nothing. */
static int add_data(const struct elf_file *file, const struct elf_symbol *symbol,
		    const struct elf_strings *names, struct symbol_table *table)
{
	(void)file;
	if (symbol->type != STT_OBJECT || symbol->section == SHN_UNDEF || !symbol->size ||
	    symbol->name == 0 || symbol->name >= names->size)
		return 0;
	return symbol_table_add(table, symbol->address, symbol->size, symbol->name,
				symbol->binding == STB_LOCAL ? SYMBOL_RANK_LOCAL
							     : SYMBOL_RANK_EXPORTED);
}

typedef int add_symbol_fn(const struct elf_file *file, const struct elf_symbol *symbol,
			  const struct elf_strings *names, struct symbol_table *table);

static int read_symbols(const struct elf_file *file, uint32_t type, add_symbol_fn *add,
			struct elf_symbols *ret_symbols)
{
	struct symbol_range ranges[MAX_RANGES];
	struct elf_symbols symbols = {0};
	struct elf_symbol_reader reader;
	struct elf_symbol symbol;
	int err = elf_symbol_reader_open(file, type, &reader);

	if (err)
		return err;
	symbols.is_cut = reader.count > SYMBOL_TABLE_MAX_ENTRIES;
	if (symbols.is_cut)
		reader.count = SYMBOL_TABLE_MAX_ENTRIES;
	while (!err && elf_symbol_reader_next(&reader, &symbol))
		err = add(file, &symbol, &reader.strings, &symbols.table);
	if (!err)
		err = reader.err;
	symbols.names = reader.strings;
	reader.strings.unpacked = NULL;
	elf_symbol_reader_close(&reader);
	if (!err)
		err = symbol_table_finish(&symbols.table, ranges,
					  collect_code_ranges(file, ranges));
	if (!err && symbols.table.count == 0)
		err = -ENOENT;
	if (err)
		elf_symbols_done(&symbols);
	else
		*ret_symbols = symbols;
	return err;
}

int elf_symbols_read(const struct elf_file *file, uint32_t type, struct elf_symbols *ret_symbols)
{
	return read_symbols(file, type, add_symbol, ret_symbols);
}

int elf_symbols_read_data(const struct elf_file *file, uint32_t type,
			  struct elf_symbols *ret_symbols)
{
	return read_symbols(file, type, add_data, ret_symbols);
}

void elf_symbols_done(struct elf_symbols *symbols)
{
	symbol_table_done(&symbols->table);
	free(symbols->names.unpacked);
}

static int read_name(const struct elf_symbols *symbols, const struct elf_file *file,
		     const struct symbol_entry *entry, char *name, size_t size)
{
	char *at;
	int err = elf_strings_read(&symbols->names, file, entry->name, name, size);

	if (err)
		return err;
	at = strchr(name, '@');
	if (at && at != name)
		*at = '\0';
	return 0;
}

int elf_symbols_find(const struct elf_symbols *symbols, const struct elf_file *file,
		     uint64_t address, char *name, size_t name_size, uint64_t *ret_start)
{
	size_t aliases = 0;
	const struct symbol_entry *entry = symbol_table_find(&symbols->table, address, &aliases);
	_cleanup_free_ char *other = NULL;
	int err;

	if (!entry)
		return -ENOENT;
	err = read_name(symbols, file, entry, name, name_size);
	if (err)
		return err;
	if (aliases > 1)
		other = malloc(name_size);
	for (size_t i = 1; i < aliases && i < MAX_ALIASES && other; i++)
		if (!read_name(symbols, file, &entry[i], other, name_size) &&
		    symbol_name_better(other, name))
			memcpy(name, other, name_size);
	*ret_start = entry->address;
	return 0;
}
