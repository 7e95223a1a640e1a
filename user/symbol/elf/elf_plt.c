// SPDX-License-Identifier: BSD-2-Clause
/* Finds the function behind a procedure linkage table entry. */
#include "symbol/elf/elf_plt.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf/elf_relocation.h"
#include "elf/elf_symbol.h"
#include "instruction/x86_flow.h"

#define STUB_BYTES 16U
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

static int read_symbol_name(const struct elf_file *file, uint64_t number, char *name, size_t size)
{
	struct elf_symbol_reader reader;
	struct elf_symbol symbol;
	int err = elf_symbol_reader_open(file, SHT_DYNSYM, &reader);

	if (err)
		return err;
	reader.next = number;
	if (reader.count > number + 1)
		reader.count = number + 1;
	if (number == 0 || !elf_symbol_reader_next(&reader, &symbol) || symbol.name == 0)
		err = -ENOENT;
	else
		err = elf_strings_read(&reader.strings, file, symbol.name, name, size);
	elf_symbol_reader_close(&reader);
	return err;
}

int elf_plt_find(const struct elf_file *file, uint64_t address, char *name, size_t name_size)
{
	static const char suffix[] = "@plt";
	const struct elf_section *plt = NULL;
	uint8_t code[STUB_BYTES];
	uint64_t start, slot;
	Elf64_Rela relocation;
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
	/* Stubs nearly always jump through slots of .rela.plt, which is a hundredth of .rela.dyn.
	 */
	if (!slot ||
	    (!elf_relocation_find(file, ELF_RELOCATIONS_WITH_TARGET, slot, &relocation) &&
	     !elf_relocation_find(file, ELF_RELOCATIONS_WITHOUT_TARGET, slot, &relocation)) ||
	    read_symbol_name(file, ELF64_R_SYM(relocation.r_info), name,
			     name_size - sizeof(suffix) + 1))
		return -ENOENT;
	strcat(name, suffix);
	return 0;
}
