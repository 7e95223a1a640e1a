/* SPDX-License-Identifier: BSD-2-Clause */
/* ELF files of nothing but named sections, for tests. */
#ifndef PKBPF_TEST_ELF_SECTIONS_H
#define PKBPF_TEST_ELF_SECTIONS_H

#include <elf.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct elf_section_bytes {
	const char *name;
	const void *bytes;
	size_t size;
};

#define ELF_SECTIONS_MAX 16

/* A descriptor of such a file in memory. */
static inline int elf_sections_open(const struct elf_section_bytes *sections, size_t count)
{
	int fd = memfd_create("sections", MFD_CLOEXEC);
	Elf64_Shdr headers[ELF_SECTIONS_MAX + 2] = {0};
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(header),
		.e_shentsize = sizeof(headers[0]),
		.e_shnum = (Elf64_Half)(count + 2),
		.e_shstrndx = (Elf64_Half)(count + 1),
	};
	uint64_t at = sizeof(header);
	char names[512] = "";
	size_t names_size = 1;

	assert_true(fd >= 0 && count <= ELF_SECTIONS_MAX);
	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(sections[i].name) + 1;

		headers[i + 1] = (Elf64_Shdr){.sh_name = (Elf64_Word)names_size,
					      .sh_type = SHT_PROGBITS,
					      .sh_offset = at,
					      .sh_size = sections[i].size,
					      .sh_addralign = 1};
		assert_true(names_size + length < sizeof(names) - sizeof(".shstrtab"));
		memcpy(names + names_size, sections[i].name, length);
		names_size += length;
		assert_int_equal(pwrite(fd, sections[i].bytes, sections[i].size, (off_t)at),
				 sections[i].size);
		at += sections[i].size;
	}
	memcpy(names + names_size, ".shstrtab", sizeof(".shstrtab"));
	headers[count + 1] = (Elf64_Shdr){.sh_name = (Elf64_Word)names_size,
					  .sh_type = SHT_STRTAB,
					  .sh_offset = at,
					  .sh_size = names_size + sizeof(".shstrtab"),
					  .sh_addralign = 1};
	assert_int_equal(pwrite(fd, names, sizeof(names), (off_t)at), sizeof(names));
	at = (at + sizeof(names) + 7) & ~7ULL;
	header.e_shoff = at;
	assert_int_equal(pwrite(fd, headers, (count + 2) * sizeof(headers[0]), (off_t)at),
			 (count + 2) * sizeof(headers[0]));
	assert_int_equal(pwrite(fd, &header, sizeof(header), 0), sizeof(header));
	return fd;
}

#endif
