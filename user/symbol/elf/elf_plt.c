// SPDX-License-Identifier: BSD-2-Clause
/* Finds the function behind a procedure linkage table entry. */
#include "symbol/elf/elf_plt.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "elf/elf_symbol.h"
#include "instruction/x86_flow.h"

#define STUB_BYTES	 16U
#define READ_RELOCATIONS 4096U
/* Largest relocation table searched; .rela.dyn of a big C++ library has half a million entries. */
#define MAX_RELOCATIONS (4U << 20)

/* Address of the slot that the stub at `address` jumps through; 0: no such jump. */
static uint64_t decode_slot(const uint8_t *code, size_t size, uint64_t address)
{
	/* [endbr64] [bnd] jmp *displacement(%rip) */
	size_t at = x86_endbr64_size(code, size);
	int32_t displacement;

	if (at < size && code[at] == 0xf2)
		at++;
	if (at + 6 > size || code[at] != 0xff || code[at + 1] != 0x25)
		return 0;
	memcpy(&displacement, code + at + 2, sizeof(displacement));
	return address + at + 6 + (uint64_t)(int64_t)displacement;
}

/* Symbol number of the relocation that fills slot; 0: none. */
static uint32_t find_relocation(const struct elf_file *file, const struct elf_section *section,
				uint64_t slot)
{
	uint64_t count = section->size / sizeof(Elf64_Rela);
	_cleanup_free_ Elf64_Rela *buffer = malloc(READ_RELOCATIONS * sizeof(*buffer));

	if (count > MAX_RELOCATIONS)
		count = MAX_RELOCATIONS;
	for (uint64_t done = 0; buffer && done < count;) {
		size_t step =
			count - done < READ_RELOCATIONS ? (size_t)(count - done) : READ_RELOCATIONS;

		if (elf_file_read(file, section->offset + done * sizeof(*buffer), buffer,
				  step * sizeof(*buffer)))
			return 0;
		for (size_t i = 0; i < step; i++)
			if (buffer[i].r_offset == slot)
				return (uint32_t)ELF64_R_SYM(buffer[i].r_info);
		done += step;
	}
	return 0;
}

static int read_symbol_name(const struct elf_file *file, uint32_t number, char *name, size_t size)
{
	struct elf_symbol_reader reader;
	struct elf_symbol symbol;
	int err = elf_symbol_reader_open(file, SHT_DYNSYM, &reader);

	if (err)
		return err;
	reader.next = number;
	if (reader.count > (uint64_t)number + 1)
		reader.count = (uint64_t)number + 1;
	if (!elf_symbol_reader_next(&reader, &symbol))
		err = reader.err ? reader.err : -ENOENT;
	else if (symbol.name == 0)
		err = -ENOENT;
	else
		err = elf_strings_read(&reader.strings, file, symbol.name, name, size);
	elf_symbol_reader_close(&reader);
	return err;
}

/* The name of the symbol that fills the slot, from relocation tables with or without a target
 * section. */
static int find_in_tables(const struct elf_file *file, bool with_target, uint64_t slot, char *name,
			  size_t size)
{
	for (size_t i = 0; i < file->section_count; i++) {
		const struct elf_section *section = &file->sections[i];
		uint32_t number;

		if (section->type != SHT_RELA || (section->info != 0) != with_target)
			continue;
		number = find_relocation(file, section, slot);
		if (number)
			return read_symbol_name(file, number, name, size);
	}
	return -ENOENT;
}

int elf_plt_find(const struct elf_file *file, uint64_t address, char *name, size_t name_size)
{
	static const char suffix[] = "@plt";
	const struct elf_section *plt = NULL;
	uint8_t code[STUB_BYTES];
	uint64_t start, slot;
	size_t stub, size;

	if (file->machine != EM_X86_64 || !file->is_64 || name_size <= sizeof(suffix))
		return -ENOENT;
	for (size_t i = 0; i < file->section_count && !plt; i++) {
		const struct elf_section *section = &file->sections[i];

		if (section->type == SHT_PROGBITS && strncmp(section->name, ".plt", 4) == 0 &&
		    address >= section->address && address - section->address < section->size)
			plt = section;
	}
	if (!plt)
		return -ENOENT;
	stub = plt->entry_size == 8 ? 8 : STUB_BYTES;
	start = plt->address + (address - plt->address) / stub * stub;
	size = plt->address + plt->size - start < stub ? plt->address + plt->size - start : stub;
	if (elf_file_read(file, plt->offset + (start - plt->address), code, size))
		return -ENOENT;
	slot = decode_slot(code, size, start);
	/* Stubs nearly always jump through slots of .rela.plt, the table that names its target
	 * section and is a hundredth of .rela.dyn. */
	if (!slot || (find_in_tables(file, true, slot, name, name_size - sizeof(suffix) + 1) &&
		      find_in_tables(file, false, slot, name, name_size - sizeof(suffix) + 1)))
		return -ENOENT;
	strcat(name, suffix);
	return 0;
}
