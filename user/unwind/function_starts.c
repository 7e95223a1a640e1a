// SPDX-License-Identifier: BSD-2-Clause
/* Reads symbol tables for the places at which functions begin. */
#include "unwind/function_starts.h"

#include <elf.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"

static void add_symbols(const Elf64_Sym *symbols, size_t count, uint64_t text_start, uint64_t text_size,
			struct function_starts *starts)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t offset = symbols[i].st_value - text_start;
		uint32_t *start;

		if (ELF64_ST_TYPE(symbols[i].st_info) != STT_FUNC || symbols[i].st_shndx == SHN_UNDEF ||
		    offset >= text_size || offset > UINT32_MAX)
			continue;
		start = array_add(starts);
		if (!start)
			return;
		*start = (uint32_t)offset;
	}
}

static void read_table(const struct elf_image *image, uint32_t type, uint64_t text_start, uint64_t text_size,
		       struct function_starts *starts)
{
	_cleanup_free_ uint8_t *data = NULL;
	size_t size;

	for (size_t i = 0; i < elf_image_section_count(image); i++) {
		struct elf_section section;

		if (!elf_image_section_at(image, i, &section) || section.type != type)
			continue;
		if (section.size > FUNCTION_STARTS_MAX_TABLE_BYTES)
			section.size = FUNCTION_STARTS_MAX_TABLE_BYTES;
		if (elf_image_load_section(image, &section, FUNCTION_STARTS_MAX_TABLE_BYTES, &data, &size) == 0)
			add_symbols((const Elf64_Sym *)data, size / sizeof(Elf64_Sym), text_start, text_size, starts);
		return;
	}
}

static int compare_starts(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

void function_starts_read(const struct elf_image *image, uint64_t text_start, uint64_t text_size,
			  struct function_starts *ret_starts)
{
	struct function_starts starts = {0};
	size_t count = 0;

	read_table(image, SHT_DYNSYM, text_start, text_size, &starts);
	read_table(image, SHT_SYMTAB, text_start, text_size, &starts);
	if (starts.count)
		qsort(starts.items, starts.count, sizeof(*starts.items), compare_starts);
	for (size_t i = 0; i < starts.count; i++) {
		if (count == 0 || starts.items[i] != starts.items[count - 1])
			starts.items[count++] = starts.items[i];
	}
	starts.count = count;
	*ret_starts = starts;
}
