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
	bool (*take)(void *context, const Elf64_Rela *relocation);
	void *context;
	uint64_t left; /* relocations that may still be read */
};

static bool search_table(struct search *search, uint64_t offset, uint64_t size)
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
		for (size_t i = 0; i < step; i++)
			if (search->take(search->context, &buffer[i]))
				return true;
		done += step;
	}
	return false;
}

void elf_relocation_each(const struct elf_file *file, enum elf_relocation_tables tables,
			 bool (*take)(void *context, const Elf64_Rela *relocation), void *context)
{
	struct search search = {file, take, context, MAX_RELOCATIONS};
	struct elf_dynamic dynamic;
	uint64_t offset, available;

	for (size_t i = 0; i < file->section_count && search.left; i++) {
		const struct elf_section *section = &file->sections[i];

		if (section->type == SHT_RELA &&
		    (section->info != 0) == (tables == ELF_RELOCATIONS_WITH_TARGET) &&
		    search_table(&search, section->offset, section->size))
			return;
	}
	if (file->section_count || tables == ELF_RELOCATIONS_WITH_TARGET ||
	    !elf_dynamic_read(file, &dynamic) ||
	    !elf_segments_offset(&file->segments, dynamic.values[DT_RELA], &offset, &available))
		return;
	if (available > dynamic.values[DT_RELASZ])
		available = dynamic.values[DT_RELASZ];
	search_table(&search, offset, available);
}

struct wanted {
	uint64_t address;
	Elf64_Rela *relocation;
	bool found;
};

static bool take_wanted(void *context, const Elf64_Rela *relocation)
{
	struct wanted *wanted = context;

	if (relocation->r_offset != wanted->address)
		return false;
	*wanted->relocation = *relocation;
	return wanted->found = true;
}

bool elf_relocation_find(const struct elf_file *file, enum elf_relocation_tables tables,
			 uint64_t address, Elf64_Rela *ret_relocation)
{
	struct wanted wanted = {address, ret_relocation, false};

	elf_relocation_each(file, tables, take_wanted, &wanted);
	return wanted.found;
}
