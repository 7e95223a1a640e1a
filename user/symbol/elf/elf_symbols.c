// SPDX-License-Identifier: BSD-2-Clause
/* Reads an ELF symbol table piece by piece and keeps what names code. */
#include "symbol/elf/elf_symbols.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define READ_ENTRIES 8192U
/* Executable sections whose ends bound symbols without a size; more belong to no linked program. */
#define MAX_RANGES 64U
/* Aliases compared for the best name. */
#define MAX_ALIASES 64U

struct raw_symbol {
	uint32_t name;
	uint8_t type, binding;
	uint16_t section;
	uint64_t address, size;
};

static void decode_symbol(const struct elf_file *file, const void *entry, struct raw_symbol *ret)
{
	if (file->is_64) {
		Elf64_Sym symbol;

		memcpy(&symbol, entry, sizeof(symbol));
		*ret = (struct raw_symbol){
			.name = symbol.st_name,
			.type = ELF64_ST_TYPE(symbol.st_info),
			.binding = ELF64_ST_BIND(symbol.st_info),
			.section = symbol.st_shndx,
			.address = symbol.st_value,
			.size = symbol.st_size,
		};
	} else {
		Elf32_Sym symbol;

		memcpy(&symbol, entry, sizeof(symbol));
		*ret = (struct raw_symbol){
			.name = symbol.st_name,
			.type = ELF32_ST_TYPE(symbol.st_info),
			.binding = ELF32_ST_BIND(symbol.st_info),
			.section = symbol.st_shndx,
			.address = symbol.st_value,
			.size = symbol.st_size,
		};
	}
}

static bool is_code_section(const struct elf_file *file, uint16_t section)
{
	return section < file->section_count && (file->sections[section].flags & SHF_EXECINSTR);
}

/*
 * ARM's linkers mark where code ($x, $a, $t) and data ($d) begin within a section, perhaps followed
 * by a dot and anything (ELF for the Arm 64-bit Architecture, "Mapping symbols"): names of nothing.
 */
static bool is_mapping_symbol(const struct elf_file *file, const struct elf_section *strings,
			      const struct raw_symbol *raw)
{
	char name[3] = "";

	if ((file->machine != EM_AARCH64 && file->machine != EM_ARM) || raw->binding != STB_LOCAL ||
	    strings->size - raw->name < sizeof(name) ||
	    elf_file_read(file, strings->offset + raw->name, name, sizeof(name)) < 0)
		return false;
	return name[0] == '$' && name[1] && strchr("xatd", name[1]) && (!name[2] || name[2] == '.');
}

static int add_symbol(const struct elf_file *file, const struct raw_symbol *raw,
		      const struct elf_section *strings, struct symbol_table *table)
{
	enum symbol_rank rank = SYMBOL_RANK_LABEL;
	uint64_t address = raw->address;

	if (raw->section == SHN_UNDEF || raw->name == 0 || raw->name >= strings->size)
		return 0;
	if (raw->type == STT_FUNC || raw->type == STT_GNU_IFUNC)
		rank = raw->binding == STB_LOCAL ? SYMBOL_RANK_LOCAL : SYMBOL_RANK_EXPORTED;
	else if (raw->type != STT_NOTYPE || !is_code_section(file, raw->section) ||
		 is_mapping_symbol(file, strings, raw))
		return 0;
	/* The lowest bit of an ARM function says Thumb. */
	if (file->machine == EM_ARM && rank != SYMBOL_RANK_LABEL)
		address &= ~1ULL;
	return symbol_table_add(table, address, raw->size, raw->name, rank);
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
	return count;
}

static int read_entries(const struct elf_file *file, const struct elf_section *section,
			const struct elf_section *strings, struct symbol_table *table)
{
	size_t entry_size = file->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	uint64_t count = section->size / entry_size;
	_cleanup_free_ char *buffer = NULL;

	if (count > SYMBOL_TABLE_MAX_ENTRIES)
		count = SYMBOL_TABLE_MAX_ENTRIES;
	buffer = malloc((count < READ_ENTRIES ? count : READ_ENTRIES) * entry_size + 1);
	if (!buffer)
		return -ENOMEM;
	for (uint64_t done = 0; done < count;) {
		size_t step = count - done < READ_ENTRIES ? (size_t)(count - done) : READ_ENTRIES;
		int err = elf_file_read(file, section->offset + done * entry_size, buffer,
					step * entry_size);

		for (size_t i = 0; i < step && !err; i++) {
			struct raw_symbol raw;

			decode_symbol(file, buffer + i * entry_size, &raw);
			err = add_symbol(file, &raw, strings, table);
		}
		if (err)
			return err;
		done += step;
	}
	return 0;
}

int elf_symbols_read(const struct elf_file *file, uint32_t type, struct elf_symbols *ret_symbols)
{
	const struct elf_section *section = elf_file_find_section_type(file, type);
	struct symbol_range ranges[MAX_RANGES];
	struct elf_symbols symbols = {0};
	const struct elf_section *strings;
	int err;

	if (!section)
		return -ENOENT;
	if (section->link >= file->section_count)
		return -ENOEXEC;
	strings = &file->sections[section->link];
	if (strings->type != SHT_STRTAB || strings->size > SYMBOL_TABLE_MAX_NAME_BYTES)
		return -ENOEXEC;
	symbols.string_offset = strings->offset;
	symbols.string_size = strings->size;
	err = read_entries(file, section, strings, &symbols.table);
	if (!err)
		err = symbol_table_finish(&symbols.table, ranges,
					  collect_code_ranges(file, ranges));
	if (!err && symbols.table.count == 0)
		err = -ENOENT;
	if (err) {
		elf_symbols_done(&symbols);
		return err;
	}
	*ret_symbols = symbols;
	return 0;
}

void elf_symbols_done(struct elf_symbols *symbols)
{
	symbol_table_done(&symbols->table);
}

static int read_name(const struct elf_symbols *symbols, const struct elf_file *file,
		     const struct symbol_entry *entry, char *name, size_t size)
{
	char *at;
	int err = elf_file_read_string(file, symbols->string_offset, symbols->string_size,
				       entry->name, name, size);

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
