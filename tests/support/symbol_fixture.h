/* SPDX-License-Identifier: BSD-2-Clause */
/* Where things are in the ELF fixtures, according to libelf: an opinion independent of the code
 * under test. */
#ifndef PKBPF_TEST_SYMBOL_FIXTURE_H
#define PKBPF_TEST_SYMBOL_FIXTURE_H

#include <fcntl.h>
#include <gelf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct place {
	uint64_t address; /* as linked */
	uint64_t offset;  /* in the file */
	uint64_t size;
};

static inline uint64_t offset_of(Elf *elf, uint64_t address)
{
	size_t count = 0;

	elf_getphdrnum(elf, &count);
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;

		if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_LOAD &&
		    address >= header.p_vaddr && address - header.p_vaddr < header.p_filesz)
			return address - header.p_vaddr + header.p_offset;
	}
	abort();
}

/* Aborts the test program when the symbol is missing. */
static inline struct place find_place(const char *path, const char *name)
{
	int fd = open(path, O_RDONLY);
	struct place place = {0};
	Elf_Scn *section = NULL;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	while (elf && !place.address && (section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		Elf_Data *data;
		GElf_Sym symbol;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB)
			continue;
		data = elf_getdata(section, NULL);
		for (int i = 0; gelf_getsym(data, i, &symbol) && !place.address; i++) {
			const char *found = elf_strptr(elf, header.sh_link, symbol.st_name);

			if (found && strcmp(found, name) == 0 && symbol.st_shndx != SHN_UNDEF)
				place = (struct place){symbol.st_value,
						       offset_of(elf, symbol.st_value),
						       symbol.st_size};
		}
	}
	if (!place.address)
		abort();
	elf_end(elf);
	close(fd);
	return place;
}

#endif
