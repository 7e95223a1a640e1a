// SPDX-License-Identifier: BSD-2-Clause
/* Lays out small ELF executables. */
#include "elf_recipe.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define SECTION_COUNT 8
#define HEADER_SIZE   16

static const char section_names[] =
	"\0.text\0.eh_frame\0.debug_frame\0.shstrtab\0.plt\0.eh_frame_hdr\0.symtab\0.dynsym\0";

static uint32_t name_offset(const char *name)
{
	size_t at = 1;

	while (strcmp(section_names + at, name) != 0)
		at += strlen(section_names + at) + 1;
	return (uint32_t)at;
}

static void put_segments(uint8_t *file, const struct elf_recipe *recipe, uint64_t eh_offset)
{
	Elf64_Phdr segments[3] = {
		{.p_type = PT_LOAD,
		 .p_flags = PF_R | PF_X,
		 .p_offset = ELF_RECIPE_TEXT_OFFSET,
		 .p_vaddr = ELF_RECIPE_TEXT_ADDRESS,
		 .p_filesz = recipe->text_size,
		 .p_memsz = recipe->text_size},
		{.p_type = PT_LOAD,
		 .p_flags = PF_R,
		 .p_offset = eh_offset,
		 .p_vaddr = ELF_RECIPE_EH_FRAME_ADDRESS - HEADER_SIZE,
		 .p_filesz = HEADER_SIZE + recipe->eh_frame_size,
		 .p_memsz = HEADER_SIZE + recipe->eh_frame_size},
		{.p_type = recipe->eh_frame ? PT_GNU_EH_FRAME : PT_NULL,
		 .p_flags = PF_R,
		 .p_offset = eh_offset,
		 .p_vaddr = ELF_RECIPE_EH_FRAME_ADDRESS - HEADER_SIZE,
		 .p_filesz = HEADER_SIZE,
		 .p_memsz = HEADER_SIZE},
	};

	memcpy(file + sizeof(Elf64_Ehdr), segments, sizeof(segments));
}

static void put_sections(uint8_t *file, const struct elf_recipe *recipe, uint64_t eh_offset,
			 uint64_t debug_offset, uint64_t extra_offset, uint64_t symbols_offset,
			 uint64_t names_offset, uint64_t headers_offset)
{
	size_t names_size = sizeof(section_names);
	Elf64_Shdr sections[SECTION_COUNT] = {
		{.sh_type = SHT_NULL},
		{.sh_name = name_offset(".text"),
		 .sh_type = SHT_PROGBITS,
		 .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		 .sh_addr = ELF_RECIPE_TEXT_ADDRESS,
		 .sh_offset = ELF_RECIPE_TEXT_OFFSET,
		 .sh_size = recipe->text_size},
		{.sh_name = name_offset(".eh_frame"),
		 .sh_type = recipe->eh_frame ? SHT_PROGBITS : SHT_NULL,
		 .sh_flags = SHF_ALLOC,
		 .sh_addr = ELF_RECIPE_EH_FRAME_ADDRESS,
		 .sh_offset = eh_offset + HEADER_SIZE,
		 .sh_size = recipe->eh_frame_size},
		{.sh_name = name_offset(".debug_frame"),
		 .sh_type = recipe->debug_frame ? SHT_PROGBITS : SHT_NULL,
		 .sh_flags = recipe->debug_frame_is_compressed ? SHF_COMPRESSED : 0,
		 .sh_offset = debug_offset,
		 .sh_size = recipe->debug_frame_size},
		{.sh_name = name_offset(".shstrtab"),
		 .sh_type = SHT_STRTAB,
		 .sh_offset = names_offset,
		 .sh_size = names_size + 32},
		{.sh_name = name_offset(".plt"),
		 .sh_type = recipe->plt_size ? SHT_PROGBITS : SHT_NULL,
		 .sh_addr = ELF_RECIPE_TEXT_ADDRESS,
		 .sh_offset = ELF_RECIPE_TEXT_OFFSET,
		 .sh_size = recipe->plt_size},
		{.sh_name = (uint32_t)names_size,
		 .sh_type = recipe->extra_section ? SHT_PROGBITS : SHT_NULL,
		 .sh_offset = extra_offset,
		 .sh_size = recipe->extra_size},
		{.sh_name = name_offset(recipe->symbols_are_dynamic ? ".dynsym" : ".symtab"),
		 .sh_type = !recipe->symbols		  ? SHT_NULL
			    : recipe->symbols_are_dynamic ? SHT_DYNSYM
							  : SHT_SYMTAB,
		 .sh_offset = symbols_offset,
		 .sh_size = recipe->symbols_size,
		 .sh_entsize = sizeof(Elf64_Sym)},
	};

	memcpy(file + names_offset, section_names, names_size);
	if (recipe->extra_section)
		strncpy((char *)file + names_offset + names_size, recipe->extra_section, 31);
	memcpy(file + headers_offset, sections, sizeof(sections));
}

uint8_t *elf_recipe_make(const struct elf_recipe *recipe, size_t *ret_size)
{
	uint64_t eh_offset = (ELF_RECIPE_TEXT_OFFSET + recipe->text_size + 15) & ~UINT64_C(15);
	uint64_t debug_offset = eh_offset + HEADER_SIZE + recipe->eh_frame_size;
	uint64_t extra_offset = (debug_offset + recipe->debug_frame_size + 7) & ~UINT64_C(7);
	uint64_t symbols_offset = (extra_offset + recipe->extra_size + 7) & ~UINT64_C(7);
	uint64_t names_offset = symbols_offset + recipe->symbols_size;
	uint64_t headers_offset = (names_offset + sizeof(section_names) + 32 + 15) & ~UINT64_C(15);
	uint64_t size = headers_offset + SECTION_COUNT * sizeof(Elf64_Shdr);
	uint8_t *file = calloc(1, size);
	uint64_t eh_address = ELF_RECIPE_EH_FRAME_ADDRESS;
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_EXEC,
		.e_machine = recipe->machine ? recipe->machine : EM_X86_64,
		.e_version = EV_CURRENT,
		.e_entry = recipe->entry,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 3,
		.e_shentsize = sizeof(Elf64_Shdr),
	};

	if (!file)
		return NULL;
	if (!recipe->has_no_sections) {
		header.e_shoff = headers_offset;
		header.e_shnum = SECTION_COUNT;
		header.e_shstrndx = 4;
	}
	memcpy(file, &header, sizeof(header));
	put_segments(file, recipe, eh_offset);
	if (recipe->text)
		memcpy(file + ELF_RECIPE_TEXT_OFFSET, recipe->text, recipe->text_size);
	else
		memset(file + ELF_RECIPE_TEXT_OFFSET, 0xcc, recipe->text_size);
	/* .eh_frame_hdr: version 1, eh_frame_ptr as an absolute address, no table. */
	memcpy(file + eh_offset, "\x01\x04\xff\xff", 4);
	memcpy(file + eh_offset + 4, &eh_address, sizeof(eh_address));
	if (recipe->eh_frame)
		memcpy(file + eh_offset + HEADER_SIZE, recipe->eh_frame, recipe->eh_frame_size);
	if (recipe->debug_frame)
		memcpy(file + debug_offset, recipe->debug_frame, recipe->debug_frame_size);
	if (recipe->extra)
		memcpy(file + extra_offset, recipe->extra, recipe->extra_size);
	if (recipe->symbols)
		memcpy(file + symbols_offset, recipe->symbols, recipe->symbols_size);
	if (!recipe->has_no_sections)
		put_sections(file, recipe, eh_offset, debug_offset, extra_offset, symbols_offset,
			     names_offset, headers_offset);
	*ret_size = size;
	return file;
}
