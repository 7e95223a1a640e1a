// SPDX-License-Identifier: BSD-2-Clause
/* Reads the entries of the dynamic section that elf_dynamic.c, with one value a tag, leaves out. */
#include "elf/elf_needed.h"

#include <limits.h>

#include "elf/elf_dynamic.h"

#define MAX_ENTRIES 4096

static bool read_string(const struct elf_file *file, const struct elf_dynamic *dynamic,
			uint64_t offset, char *ret_text, size_t size)
{
	uint64_t address = dynamic->values[DT_STRTAB] + offset, at, rest;

	return offset < dynamic->values[DT_STRSZ] &&
	       elf_segments_offset(&file->segments, address, &at, &rest) &&
	       elf_file_read_string(file, at, rest, 0, ret_text, size) == 0;
}

void elf_needed(const struct elf_file *file, char *ret_run_path, size_t size, elf_needed_fn *take,
		void *context)
{
	const struct elf_segment *segment = elf_segments_find(&file->segments, PT_DYNAMIC);
	struct elf_dynamic dynamic;
	size_t count, taken = 0;
	char name[NAME_MAX + 1];

	*ret_run_path = '\0';
	if (!file->is_64 || !segment || !elf_dynamic_read(file, &dynamic))
		return;
	count = segment->file_size / sizeof(Elf64_Dyn);
	for (size_t i = 0; i < count && i < MAX_ENTRIES && taken < ELF_NEEDED_MAX; i++) {
		Elf64_Dyn entry;

		if (elf_file_read(file, segment->offset + i * sizeof(entry), &entry,
				  sizeof(entry)) ||
		    entry.d_tag == DT_NULL)
			return;
		if (entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH)
			read_string(file, &dynamic, entry.d_un.d_val, ret_run_path, size);
		if (entry.d_tag == DT_NEEDED &&
		    read_string(file, &dynamic, entry.d_un.d_val, name, sizeof(name))) {
			taken++;
			take(context, name);
		}
	}
}
