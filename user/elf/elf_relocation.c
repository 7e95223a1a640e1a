// SPDX-License-Identifier: BSD-2-Clause
/* Reads relocation tables piece by piece. */
#include "elf/elf_relocation.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "elf/elf_dynamic.h"

#define READ_RELOCATIONS 4096U
/* Searched in all tables of a file, of which there may be thousands; .rela.dyn of a big C++ library
 * has half a million entries. */
#define MAX_RELOCATIONS (4U << 20)

struct search {
	const struct elf_file *file;
	uint64_t address;
	uint64_t left; /* relocations that may still be read */
};

static bool find_in_table(struct search *search, uint64_t offset, uint64_t size,
			  Elf64_Rela *ret_relocation)
{
	_cleanup_free_ Elf64_Rela *buffer = malloc(READ_RELOCATIONS * sizeof(*buffer));
	uint64_t count = size / sizeof(*buffer);

	if (count > search->left)
		count = search->left;
	search->left -= count;
	for (uint64_t done = 0; buffer && done < count;) {
		size_t step =
			count - done < READ_RELOCATIONS ? (size_t)(count - done) : READ_RELOCATIONS;

		if (elf_file_read(search->file, offset + done * sizeof(*buffer), buffer,
				  step * sizeof(*buffer)))
			return false;
		for (size_t i = 0; i < step; i++) {
			if (buffer[i].r_offset == search->address) {
				*ret_relocation = buffer[i];
				return true;
			}
		}
		done += step;
	}
	return false;
}

bool elf_relocation_find(const struct elf_file *file, enum elf_relocation_tables tables,
			 uint64_t address, Elf64_Rela *ret_relocation)
{
	struct search search = {file, address, MAX_RELOCATIONS};
	struct elf_dynamic dynamic;
	uint64_t offset, available;

	for (size_t i = 0; i < file->section_count && search.left; i++) {
		const struct elf_section *section = &file->sections[i];

		if (section->type == SHT_RELA &&
		    (section->info != 0) == (tables == ELF_RELOCATIONS_WITH_TARGET) &&
		    find_in_table(&search, section->offset, section->size, ret_relocation))
			return true;
	}
	if (file->section_count || tables == ELF_RELOCATIONS_WITH_TARGET ||
	    !elf_dynamic_read(file, &dynamic) ||
	    !elf_segments_offset(&file->segments, dynamic.values[DT_RELA], &offset, &available))
		return false;
	if (available > dynamic.values[DT_RELASZ])
		available = dynamic.values[DT_RELASZ];
	return find_in_table(&search, offset, available, ret_relocation);
}
